/** The instruction that makes a buffer with its operands and users, as a small graph to walk. */

import { useEffect, useState } from "preact/hooks";
import { getPlanNear, type PlanInstruction, type PlanNear, wasAborted } from "../api";
import { planBuffer, target } from "../flow/questions";
import { bytes, count, exactBytes } from "../format";
import { words } from "../state/resource";
import { selection } from "../state/view";
import { pointAtId, pointingAt } from "../timeline/cards";
import "./near.css";

/** Which way from an instruction. */
type Way = "operands" | "users";

/** Instructions of a side that are shown before all are asked for. */
const FIRST = 6;
/** Steps away from the selected buffer: more is no small graph. */
const STEPS = 3;

export function Near({ id }: { id: string }) {
  const { data } = planBuffer.value;
  if (!data?.instruction) return null;
  return (
    <section class="near" aria-label="Operands and users" key={id}>
      <h3>
        Operands <span class="quiet">{count(data.operands.length)}</span>
      </h3>
      <Side way="operands" of={data} depth={0} />
      <Box of={data.instruction} isHere />
      <h3 class={data.users.length > 0 ? "is-tied" : undefined}>
        Users <span class="quiet">{count(data.users.length)}</span>
      </h3>
      <Side way="users" of={data} depth={0} />
    </section>
  );
}

interface SideProperties {
  way: Way;
  of: PlanNear;
  /** Steps away from the selected buffer. */
  depth: number;
}

function Side({ way, of, depth }: SideProperties) {
  const [all, setAll] = useState(false);
  const found = of[way];
  const shown = all ? found : found.slice(0, FIRST);
  if (found.length === 0) {
    return <p class="quiet small none">{way === "operands" ? "no operands" : "no users"}</p>;
  }
  return (
    <ul class={`near-${way}`} aria-label={way === "operands" ? "Operands" : "Users"}>
      {shown.map((each, place) => (
        <Step key={`${each.name} ${place}`} way={way} of={each} depth={depth} />
      ))}
      {found.length > shown.length && (
        <li>
          <button type="button" class="link small" onClick={() => setAll(true)}>
            {count(found.length - shown.length)} more
          </button>
        </li>
      )}
    </ul>
  );
}

/** An instruction beside, and, unfolded, those beyond it. */
function Step({ way, of, depth }: { way: Way; of: PlanInstruction; depth: number }) {
  const [open, setOpen] = useState(false);
  const canUnfold = depth + 1 < STEPS;
  return (
    <li>
      <div class="near-line">
        <Box of={of} />
        {canUnfold && (
          <button
            type="button"
            class="plain"
            aria-expanded={open}
            aria-label={`${way === "operands" ? "Operands" : "Users"} of ${of.name}`}
            title={`Its ${way} too`}
            onClick={() => setOpen(!open)}
          >
            {open ? "▾" : "▸"}
          </button>
        )}
      </div>
      {open && <Beyond way={way} row={of.row} depth={depth + 1} />}
    </li>
  );
}

function Beyond({ way, row, depth }: { way: Way; row: string; depth: number }) {
  const [found, setFound] = useState<PlanNear | string | null>(null);
  const of = target.value;
  useEffect(() => {
    if (of === null) return;
    const abort = new AbortController();
    getPlanNear({ ...of, instruction: row }, abort.signal).then(setFound, (error: unknown) => {
      if (!wasAborted(error)) setFound(words(error));
    });
    return () => abort.abort();
  }, [row, JSON.stringify(of)]);
  if (found === null) return <p class="quiet small">Looking it up …</p>;
  if (typeof found === "string") return <p class="danger small">{found}</p>;
  return <Side way={way} of={found} depth={depth} />;
}

function Box({ of, isHere = false }: { of: PlanInstruction; isHere?: boolean }) {
  const [first] = of.ids;
  const said = (
    <>
      <span class="clip">{of.name ?? "without a name"}</span>
      <span class="quiet small">
        <span class="clip">{[of.opcode, of.shape].filter(Boolean).join(" ")}</span>
        <span>{of.bytes === null ? "" : bytes(of.bytes)}</span>
      </span>
    </>
  );
  const size = of.bytes === null ? "" : exactBytes(of.bytes);
  const title = [of.name, of.opcode, of.shape, size, of.op].filter(Boolean).join("\n");
  const data = { "data-name": of.name, "data-bytes": of.bytes, "data-shape": of.shape };
  if (isHere || first === undefined) {
    return (
      <div class={`near-box ${isHere ? "is-here" : ""}`} title={title} {...data}>
        {said}
      </div>
    );
  }
  return (
    <button
      type="button"
      class="near-box"
      title={title}
      onClick={() => {
        // It goes from under the pointer without a word.
        pointAtId(null);
        selection.value = { kind: "allocation", id: first };
      }}
      {...pointingAt(first)}
      {...data}
    >
      {said}
    </button>
  );
}
