/** The Flame view: what is weighed and when, the graph of it, and the same as a table. */

import { useEffect, useMemo } from "preact/hooks";
import { Filter } from "../../components/Filter";
import { Segmented } from "../../components/Segmented";
import { counted } from "../../format";
import { about, hasHistory } from "../../state/recording";
import { call, callColours, filter, folded, inverted, upwards } from "../../state/view";
import "../../components/tables.css";
import { dark, ink } from "../../theme/theme";
import { gapColour } from "../../timeline/groupColours";
import { Entries } from "../../timeline/Legend";
import { CODE } from "../../weighing/colours";
import { Heading } from "../../weighing/Heading";
import { Overview, WeighingChoice } from "../../weighing/Weighing";
import { Calls } from "./Calls";
import "./flame.css";
import { Graph } from "./Graph";
import { entriesOf } from "./groups";
import { createModel, type Model } from "./model";
import { Search } from "./Search";
import { Way } from "./Way";

export function Flame() {
  const model = useMemo(createModel, []);
  useEffect(() => model.dispose, [model]);
  return (
    <div class="weighed flame">
      {hasHistory.value && <Overview />}
      <div class="tools">
        <WeighingChoice />
        <span class="right">
          <Search model={model} />
          <Filter />
        </span>
      </div>
      <div class="tools">
        <Heading
          answer={model.shown.value?.graph ?? null}
          failed={model.answer.value.error !== null}
        />
        <Shape model={model} />
      </div>
      <Legend model={model} />
      <Way model={model} />
      <Notice model={model} />
      <Graph model={model} />
      <Calls model={model} />
    </div>
  );
}

const COLOURS = [
  { key: "code", label: "code", reason: null, title: "Your own code against libraries" },
  { key: "module", label: "module", reason: null, title: "A colour a module" },
  {
    key: "group",
    label: "group",
    reason: null,
    title: "The groups of all views; a box of several groups is grey",
  },
] as const;

/** What the colours mean; a click picks a group, as in the other views. */
function Legend({ model }: { model: Model }) {
  if (callColours.value === "code") {
    const code = CODE[dark.value ? "dark" : "light"];
    return (
      <p class="flame-legend quiet">
        <span class="swatch" style={{ background: code.own }} /> your code
        <span class="swatch" style={{ background: code.library }} /> libraries
      </p>
    );
  }
  const entries = entriesOf(model.shown.value?.graph);
  if (entries.length === 0) return null;
  return (
    <div class="timeline-legend">
      <Entries entries={entries} room={Math.max(model.width.value - SEVERAL, 200)} />
      <div class="timeline-lines quiet">
        <span class="flame-several">
          <i class="timeline-swatch" style={{ background: gapColour(ink.value) }} /> several groups
        </span>
      </div>
    </div>
  );
}

/** Pixels that the words beside the groups take. */
const SEVERAL = 120;

/** How the calls are shown; another order or fold has other nodes. */
function Shape({ model }: { model: Model }) {
  const turn = (change: () => void) => (): void => {
    change();
    call.value = null;
    model.focus.value = 0;
  };
  return (
    <span class="flame-shape">
      <span class="labelled">
        <span class="quiet">colour</span>
        <Segmented
          label="What colours say"
          value={callColours.value}
          choose={(next) => (callColours.value = next)}
          options={COLOURS}
        />
      </span>
      <Segmented
        label="Where the graph grows to"
        value={upwards.value ? "flame" : "icicle"}
        choose={(next) => (upwards.value = next === "flame")}
        options={[
          { key: "icicle", label: "icicle", reason: null, title: "Grows downwards" },
          { key: "flame", label: "flame", reason: null, title: "Grows upwards" },
        ]}
      />
      <button
        type="button"
        class="chip"
        aria-pressed={inverted.value}
        title="Innermost frames first: who allocates, then who called it"
        onClick={turn(() => (inverted.value = !inverted.value))}
      >
        inverted
      </button>
      <button
        type="button"
        class="chip"
        aria-pressed={folded.value}
        title="Two and more library frames in a row are one box"
        onClick={turn(() => (folded.value = !folded.value))}
      >
        libraries folded
      </button>
      <Download model={model} file="flame.speedscope.json" text="⤓ speedscope" />
      <Download model={model} file="flame.folded.txt" text="⤓ folded" />
    </span>
  );
}

function Download(properties: {
  model: Model;
  file: Parameters<Model["addressOf"]>[0];
  text: string;
}) {
  const address = properties.model.addressOf(properties.file);
  if (address === null) return null;
  return (
    <a class="button" href={address} download title="Download the graph, whole">
      {properties.text}
    </a>
  );
}

/** What the graph cannot say: that it failed, that there is nothing, that stacks are missing. */
function Notice({ model }: { model: Model }) {
  const { error } = model.answer.value;
  if (error !== null) {
    return (
      <p class="notice danger" role="alert">
        {error}{" "}
        {call.value !== null && (
          <button type="button" class="link" onClick={() => (call.value = null)}>
            show everything
          </button>
        )}
      </p>
    );
  }
  const graph = model.shown.value?.graph;
  if (!graph) return null;
  if (graph.count === 0) return <Nothing />;
  if (graph.total === 0 && graph.unit === "bytes") {
    return (
      <p class="notice" role="note">
        {counted(graph.count, "allocation")} of 0 bytes: no stack has a width.
      </p>
    );
  }
  const known = graph.frames.kind.some((kind) => kind === "own" || kind === "library");
  if (known || graph.way.length > 1) return null;
  const lack = about.value?.missing.find(({ what }) => what === "stacks" || what === "history");
  return (
    <p class="notice" role="note">
      No stack is known of these allocations.
      {[lack?.why, lack?.remedy].filter(Boolean).map((sentence) => ` ${sentence}.`)}
    </p>
  );
}

function Nothing() {
  return (
    <p class="notice quiet">
      {filter.value ? "Nothing of this passes the filter. " : "There is nothing of this here. "}
      {filter.value && (
        <button type="button" class="link" onClick={() => (filter.value = "")}>
          Clear the filter
        </button>
      )}
    </p>
  );
}
