/** What is said of the buffer pointed at on a bar. */

import { bytes, counted, exactBytes } from "../../format";
import { Tip } from "../../timeline/Tip";
import type { BarsModel } from "./barsModel";
import { tell } from "./bufferWords";
import { REST, spanOf } from "./orders";

/** Pixels between the bars and what is said, and about how tall that is. */
const APART = 6;
const SAID = 190;

interface TipProperties {
  of: BarsModel;
  /** Where the bars begin, in pixels from the top of what is seen. */
  top: () => number;
}

export function BarsTip({ of, top }: TipProperties) {
  const [bars, drawn, row, pointed] = [
    of.bars.value,
    of.drawn.value,
    of.row.value,
    of.pointed.value,
  ];
  if (bars === null || drawn === null || row === null || pointed === null) return null;
  const order = drawn.orders[pointed.bar];
  const span = order ? spanOf(order, row, drawn.total) : null;
  if (span === null) return null;
  const middle = (((span[0] + span[1]) / 2) * of.width.value) / Math.max(drawn.total, 1);
  const { left, bottom } = of.place.value;
  const colour = row === REST ? of.colours.value.rest : of.colours.value.of(row).full;
  const { title, rows } = row === REST ? restWords(drawn.rest) : tell(bars, row);
  return (
    <Tip
      x={left + (pointed.x ?? middle)}
      y={bottom + APART}
      above={top() + bottom + SAID > innerHeight}
      within={left + of.width.value}
      testId="bars-tooltip"
    >
      <div class="timeline-tooltip-title">
        <i class="timeline-swatch" style={{ background: colour }} /> {title}
      </div>
      <table>
        <tbody>
          {rows.map(([label, value]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td data-told={label}>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Tip>
  );
}

const restWords = ({ count, bytes: size }: { count: number; bytes: number }) => ({
  title: counted(count, "smaller buffer"),
  rows: [
    ["together", `${bytes(size)} (${exactBytes(size)})`],
    ["see", "the tables below have every one of them"],
  ] as const,
});
