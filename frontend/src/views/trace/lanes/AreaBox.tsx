/** The frame around a selected area, over the tracks of this panel that are in it. */

import { area } from "../../../state/trace";
import { LEFT } from "../../../timeline/model";
import { toPixel } from "../../../timeline/scale";
import type { Panel } from "./model";

export function AreaBox({ panel }: { panel: Panel }) {
  const chosen = area.value;
  if (chosen === null) return null;
  const { staying, edge, rest } = panel.inSight.value;
  const tracks = [
    ...staying,
    ...rest.map((each) => {
      const top = Math.max(each.top, edge);
      return { ...each, top, height: each.top + each.height - top };
    }),
  ].filter(({ track }) => chosen.tracks.includes(track.id));
  const { window, plot } = panel.timeline;
  const { width } = plot.value;
  const x = (at: number) => Math.min(Math.max(toPixel(window.value, width, at), 0), width);
  const [left, right] = [x(chosen.begin), x(chosen.end)];
  if (right <= left) return null;
  return (
    <>
      {tracks.map(({ track, top, height }) => (
        <i
          key={track.id}
          class="trace-area"
          data-testid="trace-area"
          style={{
            left: `${LEFT + left}px`,
            width: `${right - left}px`,
            top: `${top}px`,
            height: `${height}px`,
          }}
        />
      ))}
    </>
  );
}
