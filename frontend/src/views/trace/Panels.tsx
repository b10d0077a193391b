/** The panels in their order, and what each holds. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { Notices as PictureNotices } from "../../lives/Notices";
import { Picture } from "../../lives/Picture";
import { type Panel, panels } from "../../state/trace";
import { Legend } from "../../timeline/Legend";
import { Minimap } from "../../timeline/Minimap";
import { MovedChart } from "../../timeline/MovedChart";
import type { Model as Timeline } from "../../timeline/model";
import { Notices } from "../../timeline/Timeline";
import { Tracks } from "../../timeline/Tracks";
import { Arrows } from "./arrows/Arrows";
import { Frame } from "./Frame";
import { Lines } from "./Lines";
import { Lanes } from "./lanes/Lanes";
import type { Panel as Tracked } from "./lanes/model";
import { Marks } from "./marks/Marks";
import type { Model } from "./model";
import { PanelTools } from "./PanelTools";
import { heightOf, TITLES } from "./panelling";
import { useBoxes } from "./useBoxes";

export function Panels({ model }: { model: Model }) {
  const section = useRef<HTMLElement>(null);
  const { timeline } = model;
  const { boxes, height } = useBoxes(section);
  useLayoutEffect(() => {
    const element = section.current;
    if (element === null) return undefined;
    const measure = () => {
      if (element.clientWidth === 0) return;
      timeline.width.value = element.clientWidth;
      timeline.ratio.value = devicePixelRatio || 1;
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    addEventListener("resize", measure);
    return () => {
      observer.disconnect();
      removeEventListener("resize", measure);
    };
  }, [timeline]);
  return (
    <section class="timeline trace-panels" ref={section} aria-label="What the program did">
      <p class="unseen" id="trace-keys">
        W and S zoom, A and D pan, left and right arrows go to the previous and the next span of a
        lane, up and down to the one around it and in it, Enter zooms to it. Drag to zoom in,
        double-click to see everything.
      </p>
      <Minimap model={timeline} />
      <Marks timeline={timeline} height={height.value - (boxes.value.marks?.top ?? 0)} />
      {panels.value.map((panel, at) => (
        <Frame
          key={panel.key}
          panel={panel}
          at={at}
          title={TITLES[panel.key]}
          tools={<PanelTools model={model} panel={panel.key} />}
        >
          <Body model={model} panel={panel} />
        </Frame>
      ))}
      <Arrows model={model} boxes={boxes} height={height} />
    </section>
  );
}

/** The head of such a panel says so. */
const isEmpty = ({ tracks }: Tracked): boolean => tracks.value.length === 0;

function Body({ model, panel }: { model: Model; panel: Panel }) {
  const { timeline, lives, pictureHeight } = model;
  const height = heightOf(panel);
  useLayoutEffect(() => {
    if (panel.key === "usage") timeline.height.value = height;
    if (panel.key === "allocations") pictureHeight.value = height;
  }, [panel.key, height, timeline, pictureHeight]);
  switch (panel.key) {
    case "usage":
      return (
        <>
          <Legend model={timeline} />
          <div class="trace-stage" style={{ height: `${height}px` }} data-body="usage">
            <MovedChart model={timeline} />
            <Lines model={timeline} isPlot />
            <Notices model={timeline} />
          </div>
        </>
      );
    case "steps":
      return <Steps model={timeline} />;
    case "host":
      return isEmpty(model.host) ? null : (
        <Lanes panel={model.host} height={height} label="Threads of the host" />
      );
    case "device":
      return isEmpty(model.device) ? null : (
        <Lanes panel={model.device} height={height} label="Streams of devices" />
      );
    case "allocations":
      return (
        <div class="trace-stage" style={{ height: `${height}px` }} data-body="allocations">
          <Picture model={lives} />
          <Lines model={timeline} hasCursor={false} isPlot />
          <PictureNotices model={lives} />
        </div>
      );
  }
}

function Steps({ model }: { model: Timeline }) {
  const found = model.loader.tracks.value;
  const isEmpty =
    found !== null && found.steps.length + found.modules.length + found.annotations.length === 0;
  return (
    <div data-body="steps">
      <Tracks model={model} />
      {isEmpty ? (
        <p class="quiet small trace-nothing">No steps, modules or annotations in this window.</p>
      ) : null}
    </div>
  );
}
