/** What a plan knows of a buffer: its bytes to the last, its place, what it is for, who shares it. */

import type { AllocationCard, PlanBuffer } from "../api";
import { planBuffer } from "../flow/questions";
import { distinctRuns, goToInstruction } from "../flow/runs";
import { bytes, count, counted, exactBytes, times } from "../format";
import { selection } from "../state/view";
import { pointAtId, pointingAt } from "../timeline/cards";
import { type FactRow, Facts } from "./Facts";
import { programLife } from "./life";
import { RunLinks } from "./RunLinks";

export function PlanFacts({ card }: { card: AllocationCard }) {
  const { data, error } = planBuffer.value;
  return (
    <>
      <Facts rows={[...cardRows(card), ...(data ? planRows(data, card) : [])]} />
      {error && (
        <p class="danger" role="alert">
          {error}
        </p>
      )}
    </>
  );
}

const cardRows = (card: AllocationCard): FactRow[] => [
  { word: "Life", value: programLife(card.birth, card.death) },
  {
    word: "Category",
    value: card.category && card.category !== "unknown" ? `${card.category}, inferred` : null,
  },
];

function planRows(data: PlanBuffer, card: AllocationCard): FactRow[] {
  const padding = data.bytes - data.unpadded_bytes;
  const made = data.instruction?.name;
  const ran = distinctRuns.value;
  return [
    { word: "Buffer", value: data.id === null ? null : String(data.id), title: "XLA's number" },
    { word: "Kind", value: data.kind },
    { word: "Opcode", value: data.opcode },
    // What lies in an argument's memory is called by the argument.
    { word: "Written by", value: made && made !== card.name ? made : null },
    { word: "Size", value: <Bytes word="Size" value={data.bytes} /> },
    {
      word: "Unpadded",
      value: padding !== 0 && <Bytes word="Unpadded" value={data.unpadded_bytes} />,
    },
    { word: "Padding", value: padding === 0 ? "none" : <Bytes word="Padding" value={padding} /> },
    {
      word: "Expansion",
      value: padding !== 0 && times(data.bytes, data.unpadded_bytes),
      title: "How many times as large it is for being padded",
    },
    { word: "Place", value: placeWords(data) },
    { word: "Framework op", value: data.framework_op },
    { word: "Computation", value: card.module },
    { word: "Instruction ran", value: data.ran && <InstructionRan of={data.ran} /> },
    {
      word: "Module ran",
      value: ran.length > 0 && (
        <>
          {counted(
            ran.reduce((sum, { page }) => sum + page.found, 0),
            "time",
          )}
          : <RunLinks of={ran} />
        </>
      ),
      title: "Runs of the program that it is of",
    },
    { word: "Shared by", value: data.sharing.length > 0 && <Sharing of={data} /> },
  ];
}

function InstructionRan({ of }: { of: NonNullable<PlanBuffer["ran"]> }) {
  return (
    <>
      {counted(of.count, "time")}:{" "}
      <button
        type="button"
        class="link"
        title="Show the first one in the Trace"
        onClick={() => goToInstruction(of)}
      >
        the first
      </button>
    </>
  );
}

function Bytes({ word, value }: { word: string; value: number }) {
  return <span data-fact={word}>{exactBytes(value)}</span>;
}

/** `4 096 (0x1000) in allocation 3 (12.0 MiB), parameter 0 {1}, an output; 8 192 from the bottom`. */
function placeWords({ offset, place, allocation }: PlanBuffer): string {
  const bottom = `${count(place)} from the bottom of the space`;
  if (allocation === null) return bottom;
  const { index, size, parameter, parameter_index: part, is_output } = allocation;
  const words = [`${count(offset)} (0x${offset.toString(16)})`];
  words.push(` in allocation ${count(index)} (${bytes(size)})`);
  if (parameter !== null) {
    words.push(`, parameter ${count(parameter)}${part && part !== "{}" ? ` ${part}` : ""}`);
  }
  if (is_output) words.push(", an output");
  return `${words.join("")}; ${bottom}`;
}

function Sharing({ of }: { of: PlanBuffer }) {
  return (
    <ul class="sharing">
      {of.sharing.map(({ name, opcode, ids }, place) => {
        const [first] = ids;
        const label = name ?? opcode ?? "an instruction without a name";
        return (
          <li key={place}>
            {first === undefined ? (
              label
            ) : (
              <button
                type="button"
                class="link"
                onClick={() => {
                  pointAtId(null);
                  selection.value = { kind: "allocation", id: first };
                }}
                {...pointingAt(first)}
              >
                {label}
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
