/** What stands in the head of a panel: how many tracks, those left out, what colours mean. */

import { Segmented } from "../../components/Segmented";
import { counted, kindWord } from "../../format";
import { LayoutChoice } from "../../lives/LayoutChoice";
import { hiddenTracks, type PanelKey, spanColour } from "../../state/trace";
import { ink } from "../../theme/theme";
import { kindColour, kindOrder, netColour } from "./lanes/colours";
import type { Panel } from "./lanes/model";
import type { Model } from "./model";

export function PanelTools({ model, panel }: { model: Model; panel: PanelKey }) {
  if (panel === "host") return <Tracked model={model} panel={model.host} what="thread" />;
  if (panel === "device") return <Tracked model={model} panel={model.device} what="stream" />;
  return panel === "allocations" ? <LayoutChoice /> : null;
}

function Tracked({ model, panel, what }: { model: Model; panel: Panel; what: string }) {
  if (model.trace.value === null)
    return <span class="quiet">{model.failure.value === null ? "Loading…" : "not known"}</span>;
  const tracks = panel.tracks.value;
  const hidden = tracks.filter(({ id }) => hiddenTracks.value.includes(id));
  return (
    <>
      <span class="quiet">
        {tracks.length === 0 ? `no ${what}s in this recording` : counted(tracks.length, what)}
      </span>
      {hidden.length > 0 && (
        <button
          type="button"
          class="link"
          title={hidden.map(({ name }) => name).join(", ")}
          onClick={() => {
            const shown = new Set(hidden.map(({ id }) => id));
            hiddenTracks.value = hiddenTracks.value.filter((id) => !shown.has(id));
          }}
        >
          show {hidden.length} hidden
        </button>
      )}
      {tracks.length > 0 && <Legend panel={panel} />}
    </>
  );
}

/** What the colours mean, and the switch of what they say. */
function Legend({ panel }: { panel: Panel }) {
  const paints = ink.value;
  const items = panel.items.value;
  const kinds = items === null ? [] : [...new Set(items.kind)].map((at) => items.kinds[at] ?? "");
  return (
    <span class="trace-legend">
      {panel.kind === "host" && (
        <Segmented
          label="Colour of spans"
          value={spanColour.value}
          choose={(next) => (spanColour.value = next)}
          options={[
            { key: "kind", label: "by kind", reason: null },
            {
              key: "net",
              label: "by memory",
              reason: null,
              title: "Bytes that were allocated in it less those that were freed in it",
            },
          ]}
        />
      )}
      {spanColour.value === "kind"
        ? kindOrder(kinds.filter(Boolean)).map((kind) => (
            <span key={kind}>
              <i class="timeline-swatch" style={{ background: kindColour(kind, paints) }} />{" "}
              {kindWord(kind)}
            </span>
          ))
        : NETS.map(([bytes, words]) => (
            <span key={words}>
              <i class="timeline-swatch" style={{ background: netColour(bytes, paints) }} /> {words}
            </span>
          ))}
    </span>
  );
}

const NETS = [
  [-(2 ** 33), "freed 8 GiB"],
  [-(2 ** 20), "freed 1 MiB"],
  [0, "neither"],
  [2 ** 20, "allocated 1 MiB"],
  [2 ** 33, "allocated 8 GiB"],
] as const;
