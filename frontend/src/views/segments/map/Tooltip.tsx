/** What is under the pointer in the map, to the byte. */

import { bytes, counted, exactBytes } from "../../../format";
import { Tip } from "../../../timeline/Tip";
import type { Model } from "../model";
import { pointedThing } from "./Map";

export function MapTooltip({ model }: { model: Model }) {
  const pointed = model.pointed.value;
  const thing = pointedThing(model);
  if (pointed === null || thing === null) return null;
  const rows = thing.kind === "block" ? blockRows(thing) : freeRows(thing);
  const { title, lines } = rows;
  const below = Math.min(pointed.y + 18, Math.max(0, model.height.value - 40));
  return (
    <Tip x={pointed.x} y={below} within={model.width.value} testId="segments-tooltip">
      <div class="timeline-tooltip-title">{title}</div>
      <Lines rows={lines} />
      <div class="quiet segments-tip-segment">{segmentWords(model, thing.segment)}</div>
    </Tip>
  );
}

type Line = readonly [string, number];

function Lines({ rows }: { rows: readonly Line[] }) {
  return (
    <table>
      <tbody>
        {rows.map(([label, value]) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            <td class="number">{bytes(value)}</td>
            <td class="number quiet" data-exact={label}>
              {exactBytes(value)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Thing = NonNullable<ReturnType<typeof pointedThing>>;

function blockRows(thing: Extract<Thing, { kind: "block" }>) {
  const { blocks, segments, about } = thing.state;
  const { row } = thing;
  const pick = (values: Float64Array): number => values[row] as number;
  const count = pick(blocks.count);
  const [used, requested, pending] = [
    pick(blocks.used),
    pick(blocks.requested),
    pick(blocks.pending),
  ];
  const lines: Line[] = [];
  if (about.basis === "requested") {
    lines.push(["requested", requested]);
    lines.push([pick(blocks.inferred) > 0 ? "rounding, worked out" : "rounding", used - requested]);
  } else lines.push(["size", used]);
  if (pending > 0) lines.push(["pending free", pending]);
  const passing = blocks.passing[row];
  if (passing !== undefined && (count > 1 || passing === 0)) {
    lines.push([count > 1 ? "in blocks that pass" : "passes the filter", passing]);
  }
  if (count > 1) {
    lines.push(["free between", pick(blocks.size) - used]);
    return { title: `${counted(count, "block")}, click to zoom in`, lines };
  }
  const low = segments.address[pick(blocks.segment)] ?? 0n;
  const address = `0x${(low + BigInt(pick(blocks.offset))).toString(16)}`;
  const state = pending > 0 ? "freed, waiting for another stream" : "allocated";
  return { title: `${state}, at ${address}`, lines };
}

function freeRows(thing: Extract<Thing, { kind: "free" }>) {
  const size = thing.to - thing.from;
  const isLargest = size === thing.state.about.largest_free;
  return { title: isLargest ? "the largest free range" : "free", lines: [["free", size] as Line] };
}

function segmentWords(model: Model, row: number): string {
  const state = model.state.value;
  if (state === null) return "";
  const { segments, about } = state;
  const pick = (values: Float64Array): number => values[row] as number;
  const kind = about.kinds[pick(segments.kind)];
  const ranges = pick(segments.ranges);
  const words = [
    `${kind ? `${kind} ` : ""}segment of ${bytes(pick(segments.size))}`,
    `at 0x${(segments.address[row] ?? 0n).toString(16)}`,
    about.pools[pick(segments.group)]?.label,
    pick(segments.expandable) === 1 && `expandable, ${counted(ranges, "mapped range")}`,
    `${counted(pick(segments.blocks), "block")}, ${counted(pick(segments.holes), "hole")}`,
    `${bytes(pick(segments.size) - pick(segments.used))} free`,
  ];
  return words.filter(Boolean).join(" · ");
}
