/** What is alive at the cursor by the framework's scopes and operations, as boxes to look into. */

import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getPlanTree, type PlanNode, type Target } from "../../api";
import { Segmented } from "../../components/Segmented";
import { target } from "../../flow/questions";
import { bytes, counted, exactBytes, share } from "../../format";
import { type PointedRow, pointAt } from "../../state/pointed";
import { resource } from "../../state/resource";
import { cursor, selection } from "../../state/view";
import { Colours } from "../../theme/palette";
import { dark } from "../../theme/theme";
import { inkOn } from "../../weighing/colours";
import { type Box, icicle, LEVELS, nodeAt, treemap } from "./boxes";

const HEIGHT = 320;
const HEAD = 18;
/** Pixels that a box needs to be drawn, across or in all, and to be written on. */
const NARROW = 3;
const SMALL = 40;
const WRITTEN = 44;

type Form = "treemap" | "flame";
const form = signal<Form>("treemap");
const way = signal<readonly string[]>([]);

interface Query extends Target {
  at: number | "peak";
}

export function Tree() {
  const asked = useMemo(
    () =>
      resource<Query, PlanNode>(
        () => (target.value ? { ...target.value, at: cursor.value ?? "peak" } : null),
        getPlanTree,
      ),
    [],
  );
  useEffect(() => asked.dispose, [asked]);
  const { data, error } = asked.answer.value;
  if (error !== null) return <p class="danger">{error}</p>;
  if (!data) return <p class="quiet">Loading …</p>;
  if (data.count === 0) return <p class="quiet">Nothing is alive at the cursor.</p>;
  const [root, led] = nodeAt(data, way.value);
  return (
    <section class="plan-tree" aria-label="Buffers by framework op">
      <div class="plan-tools">
        <Way led={led} root={root} whole={data} />
        <Segmented
          label="Form"
          value={form.value}
          choose={(next: Form) => (form.value = next)}
          options={[
            { key: "treemap", label: "tree map", reason: null },
            { key: "flame", label: "flame", reason: null },
          ]}
        />
      </div>
      <Boxes root={root} led={led} />
    </section>
  );
}

function Way({ led, root, whole }: { led: string[]; root: PlanNode; whole: PlanNode }) {
  return (
    <p class="way">
      {["all", ...led].map((name, level) =>
        level < led.length ? (
          <span key={level}>
            <button type="button" class="link" onClick={() => (way.value = led.slice(0, level))}>
              {name}
            </button>
            {" › "}
          </span>
        ) : (
          <strong key={level}>{name}</strong>
        ),
      )}{" "}
      <span class="quiet" title={exactBytes(root.bytes)}>
        {bytes(root.bytes)} in {counted(root.count, "buffer")}
        {root !== whole && `, ${share(root.bytes, whole.bytes)} of all`}
      </span>
    </p>
  );
}

function Boxes({ root, led }: { root: PlanNode; led: string[] }) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const theme = dark.value ? "dark" : "light";
  const colours = useMemo(() => new Colours(theme), [theme]);
  const boxes = useMemo(() => {
    if (width === 0) return [];
    if (form.value === "flame") return icicle(root, NARROW / width);
    return treemap(root, width / HEIGHT, SMALL / (width * HEIGHT), HEAD / HEIGHT);
  }, [root, width, form.value]);
  useEffect(() => () => pointAt(undefined), []);
  return (
    <div
      class="boxes"
      ref={frame}
      style={{ height: `${HEIGHT}px` }}
      data-testid="plan-boxes"
      onPointerLeave={() => pointAt(undefined)}
    >
      {boxes.map((box) => (
        <One
          key={box.way.join("\u0000")}
          box={box}
          led={led}
          width={width}
          colour={colours.of({ key: box.way.slice(0, 2).join("/") })}
        />
      ))}
    </div>
  );
}

interface OneProperties {
  box: Box;
  led: string[];
  width: number;
  colour: string;
}

/** The buffer that a box stands for, where all of it is a single one. */
function bufferOf(node: PlanNode): PointedRow | undefined {
  const [only] = node.children;
  if (node.count === 1 && only) return bufferOf(only);
  const { id, birth, death, bytes: size } = node;
  return id === null ? undefined : { id, birth, death, size };
}

/** A click looks into it; a single buffer is selected. */
function One({ box, led, width, colour }: OneProperties) {
  const { node } = box;
  const padding = node.padding > 0 ? `, of it ${bytes(node.padding)} padding` : "";
  const words = `${node.name}: ${exactBytes(node.bytes)} in ${counted(node.count, "buffer")}${padding}`;
  const choose = (): void => {
    if (node.children.length > 0) way.value = [...led, ...box.way];
    if (node.id !== null) selection.value = { kind: "allocation", id: node.id };
  };
  const isWritten = box.width * width > WRITTEN && box.height * HEIGHT >= 14;
  const pixels = (part: number, whole: number): string => `${(part * whole).toFixed(2)}px`;
  return (
    <button
      type="button"
      class="box"
      title={words}
      aria-label={words}
      data-name={node.name}
      style={{
        left: pixels(box.x, width),
        top: pixels(box.y, HEIGHT),
        width: pixels(box.width, width),
        height: pixels(box.height, HEIGHT),
        background: colour,
        color: inkOn(colour),
        opacity: form.value === "flame" ? 1 - (box.level / LEVELS) * 0.4 : 1,
      }}
      onClick={choose}
      onPointerEnter={() => pointAt(bufferOf(node))}
    >
      {isWritten && (
        <span class="clip">
          {node.name} {bytes(node.bytes)}
        </span>
      )}
    </button>
  );
}
