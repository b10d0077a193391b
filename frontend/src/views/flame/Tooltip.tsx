/** What a box stands for, beside the pointer; the same in a sentence for screen readers. */

import { counted, share } from "../../format";
import { groupLabel } from "../../state/groups";
import { Tip } from "../../timeline/Tip";
import { exactWeight, weight } from "../../weighing/words";
import { type Facts, factsOf, type Model, type Place } from "./model";

/** Pixels that a tooltip is high, about: it goes above the pointer where there is no room below. */
const HIGH = 150;

export function Tooltip({ model }: { model: Model }) {
  const pointed = model.pointer.value;
  const facts = pointed && factsOf(model, pointed.place);
  const graph = model.shown.value?.graph;
  if (!pointed || !facts || !graph) return null;
  const { frames, unit } = graph;
  const [name, file] = [frames.function[facts.frame], frames.file[facts.frame]];
  const isAbove = pointed.y + HIGH > model.height.value && pointed.y > HIGH;
  return (
    <Tip
      x={pointed.x}
      y={isAbove ? pointed.y - HIGH : pointed.y + 16}
      within={model.width.value}
      testId="flame-tooltip"
    >
      <p class="timeline-tooltip-title">{name ?? frames.label[facts.frame]}</p>
      {file && file !== "??" && (
        <p class="flame-file">{placeWords(frames.line[facts.frame] ?? null, file)}</p>
      )}
      <dl class="flame-facts">
        {rowsOf(model, facts).map(([word, value]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {facts.value !== 0 && <p class="quiet small">{exactWeight(facts.value, unit)}</p>}
    </Tip>
  );
}

const placeWords = (line: number | null, file: string): string =>
  line !== null && line > 0 ? `${file}:${line}` : file;

function rowsOf(model: Model, facts: Facts): [string, string][] {
  const graph = model.shown.value?.graph;
  if (!graph) return [];
  const { unit, total, way, found } = graph;
  const root = way[way.length - 1]?.value ?? total;
  const rows: [string, string][] = [
    ["weight", `${weight(facts.value, unit)} · ${share(facts.value, total)} of all`],
  ];
  if (root !== total && facts.own !== null) {
    rows.push(["", `${share(facts.value, root)} of the frame looked into`]);
  }
  if (facts.own) rows.push(["itself", weight(facts.own, unit)]);
  if (unit !== "allocations") rows.push(["in", counted(facts.count, "allocation")]);
  if (facts.group && graph.by) rows.push(["group", groupLabel(facts.group.label, graph.by)]);
  if (facts.picked !== null) {
    const ofIt = `${weight(facts.picked, unit)} · ${share(facts.picked, facts.value)} of it`;
    rows.push(["picked", ofIt]);
  }
  if (found && facts.hit !== null) {
    rows.push(["found", `${weight(facts.hit, unit)} · ${share(facts.hit, facts.value)} of it`]);
  }
  return rows;
}

/** `forward · model.py:88, 512 MiB, 45.2 % of all, 12 allocations, 3 calls below`. */
export function spokenWords(model: Model, place: Place): string {
  const graph = model.shown.value?.graph;
  const facts = factsOf(model, place);
  if (!graph || !facts) return "";
  const words = [
    graph.frames.label[facts.frame] ?? "",
    weight(facts.value, graph.unit),
    `${share(facts.value, graph.total)} of all`,
    counted(facts.count, "allocation"),
    facts.below > 0 ? `${counted(facts.below, "box", "boxes")} below` : "nothing below",
  ];
  return words.join(", ");
}
