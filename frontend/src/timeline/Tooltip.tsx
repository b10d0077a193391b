/** The exact values of the instant under the pointer, and the marks beside it. */

import { useComputed } from "@preact/signals";
import type { Usage } from "../api";
import { hasHistory } from "../state";
import { groupColours } from "./groupColours";
import { LEFT, type Model } from "./model";
import { markTitle, readout, stepAt } from "./readout";
import { placeOfRow } from "./rows";
import type { PlacedMark } from "./scene";
import { groupAt } from "./stacking";
import { Tip } from "./Tip";

/** Pixels from the pointer within which a mark is named too. */
const NEAR = 6;

export function Tooltip({ model }: { model: Model }) {
  const told = useComputed(() => toldAt(model));
  const said = told.value;
  if (said === null) return null;
  const { words, instruction, colours, marks, x, y, hovered } = said;
  return (
    <Tip x={x} y={y} within={model.width.value} testId="timeline-tooltip">
      <div class="timeline-tooltip-title">
        {hasHistory.value ? words.title : "the moment recorded"}
      </div>
      {instruction !== null && (
        <div class="clip" data-told="instruction">
          {instruction}
        </div>
      )}
      {marks.map(({ mark }, index) => (
        <div class={mark.kind === "out_of_memory" ? "danger" : "quiet"} key={index}>
          {markTitle(mark)}
          {mark.text ? `: ${mark.text}` : ""}
        </div>
      ))}
      <table>
        <tbody>
          {words.rows.map((row) => (
            <tr key={row.label}>
              <th scope="row">{row.label}</th>
              <td class="number">{row.value}</td>
              <td class="number quiet" data-exact={row.label}>
                {row.exact}
              </td>
            </tr>
          ))}
          {words.groups.map((group) => (
            <tr key={group.index} class={group.index === hovered ? "is-hovered" : ""}>
              <th scope="row" class="clip">
                <i class="timeline-swatch" style={{ background: colours[group.index] ?? "" }} />
                {group.label}
              </th>
              <td class="number">{group.value}</td>
              <td class="number quiet">{group.share}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {words.more === null ? null : <div class="quiet">{words.more}</div>}
    </Tip>
  );
}

function toldAt(model: Model) {
  const pointed = model.pointed.value;
  const pointer = model.pointer.value;
  const scene = model.scene.value;
  if (pointed === null || pointer === null || scene === null || model.brush.value !== null) {
    return null;
  }
  const { usage, tops } = pointed.sheet;
  const { plot } = scene;
  if (pointer.y > plot.height + 4) return null;
  const step = stepAt(model.steps.value, placeOfRow(usage, pointed.row));
  const bytes = (1 - pointer.y / plot.height) * scene.height.top;
  return {
    words: readout(usage, pointed.row, model.basis.value, step, otherAt(model, usage, pointed.row)),
    instruction: model.otherLine.value?.of(usage, pointed.row) ?? null,
    colours: groupColours(pointed.sheet),
    hovered: groupAt(tops, pointed.row, bytes),
    marks: scene.marks.filter((mark) => isNear(mark, pointer.x)).slice(0, 4),
    x: LEFT + pointer.x,
    y: Math.max(4, Math.min(pointer.y, plot.height * 0.3)),
  };
}

/** The view's own line there, where it says something else. */
function otherAt({ otherLine }: Model, usage: Usage, row: number) {
  const line = otherLine.value;
  const bytes = line?.at(usage, row) ?? null;
  return line === null || bytes === null ? null : { label: line.label, bytes };
}

function isNear({ x }: PlacedMark, at: number): boolean {
  return Math.abs(x - at) <= NEAR;
}
