/** Keys and words, in a dialog. */

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export const help = signal(false);

const KEYS: readonly (readonly [string, string])[] = [
  ["W, S", "zoom in, zoom out"],
  ["A, D or ←, →", "move left, move right"],
  ["←, →", "on the chart: move the cursor"],
  ["←, →", "in the chart: the cursor to the previous, the next instant"],
  ["←, →, Enter", "on steps and annotations: the previous, the next; zoom to it and explain it"],
  ["←, →, +, −", "on the map: move and zoom the window"],
  ["+, −, ↑, ↓", "on the allocations: zoom and move in bytes"],
  ["0, M", "on the allocations: show everything, measure"],
  ["←, →, ↑, ↓", "on the bars of buffers: from buffer to buffer, to another order; Enter explains"],
  [
    "←, →, ↑, ↓, Enter",
    "on threads and streams: to the previous and the next span, out and in; zoom to it",
  ],
  ["/", "go to the filter"],
  ["Enter", "in the table: explain the row"],
  ["←, →", "in the table: fold, unfold the group"],
  ["↑, ↓", "in the lists of hosts and devices: the previous, the next"],
  ["↑, ↓", "in Segments: the previous, the next event"],
  ["Space", "in Segments: play along the axis, pause"],
  ["↑, ↓, ←, →", "in the flame graph: to what is called, back, to the neighbours"],
  ["Enter", "in the flame graph: look into the frame; Esc looks out again"],
  ["Esc", "close, deselect, then show everything"],
  ["?", "this help"],
];

const WORDS: readonly (readonly [string, string])[] = [
  ["allocated", "bytes alive at that moment, in the basis of the recording"],
  ["basis", "requested: what the program asked for; size: what the allocator gave, rounded"],
  ["reserved", "bytes the allocator holds from the driver"],
  ["fragmentation", "1 − allocated ÷ reserved: held, but not in use"],
  ["before the window", "alive before the first recorded event: size known, stack maybe not"],
  ["oldest", "when the oldest member that is still alive was born"],
];

const FILTER: readonly (readonly [string, string])[] = [
  ["attention", "a word in a stack frame, op, name or module; several must all be there"],
  ["size>10MiB", "a size in the basis of the recording; likewise step:3"],
  [
    "category:gradient",
    "likewise op, name, module, region, dtype, shape, annotation, stack, pool, stream",
  ],
  ["address:0x7f00", "the allocation that holds an address"],
  ["action:alloc", "in the list of events: what an event did"],
  ["-word", "turned around; quotes hold words together, /…/ is a regular expression"],
];

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (help.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [help.value]);
  const onClick = (event: MouseEvent): void => {
    if (event.target === dialog.current) help.value = false;
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the dialog closes on Esc by itself
    <dialog
      ref={dialog}
      class="help"
      aria-labelledby="help-title"
      onClose={() => (help.value = false)}
      onClick={onClick}
    >
      <div class="sheet">
        <h2 id="help-title">Keys</h2>
        <Pairs pairs={KEYS} keys />
        <h2>Words</h2>
        <Pairs pairs={WORDS} />
        <h2>Filter</h2>
        <Pairs pairs={FILTER} code />
        <button type="button" class="button" onClick={() => (help.value = false)}>
          Close
        </button>
      </div>
    </dialog>
  );
}

interface PairsProperties {
  pairs: readonly (readonly [string, string])[];
  keys?: boolean;
  code?: boolean;
}

function Pairs({ pairs, keys = false, code = false }: PairsProperties) {
  return (
    <dl class="pairs">
      {pairs.map(([name, meaning]) => (
        <div key={name + meaning}>
          <dt>{keys ? <kbd>{name}</kbd> : code ? <code>{name}</code> : name}</dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  );
}
