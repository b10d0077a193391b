/** The Allocations view from top to bottom: tools, legend, the picture, steps, the map. */

import { useEffect, useMemo } from "preact/hooks";
import { NoDevice } from "../../components/NoDevice";
import { device, hasHistory, layout } from "../../state";
import { Minimap } from "../../timeline/Minimap";
import { Tracks } from "../../timeline/Tracks";
import { useSizes } from "../../timeline/useSizes";
import "../../timeline/timeline.css";
import "../../picture/picture.css";
import { hiddenWords } from "../../lives/hidden";
import { reasonAgainst } from "../../lives/layouts";
import { createModel, type Model } from "../../lives/model";
import { Notices } from "../../lives/Notices";
import { Picture } from "../../lives/Picture";
import { Legend } from "./Legend";
import { Tools } from "./Tools";

export function Allocations() {
  if (device.value === null) {
    return <NoDevice />;
  }
  return <Parts />;
}

function Hidden({ model }: { model: Model }) {
  const words = hiddenWords(model.pictures.front.value?.tiles ?? []);
  if (words === "") return null;
  return (
    <p class="quiet small allocations-moment" role="note" data-testid="allocations-hidden">
      {words}
    </p>
  );
}

/** That another layout is shown than a link asked for, and why. */
function Instead() {
  const why = reasonAgainst(layout.value);
  if (why === null) return null;
  return (
    <p class="quiet small allocations-instead" role="note" data-testid="allocations-instead">
      Stacked, since nothing can be drawn by address: {why}
    </p>
  );
}

function Parts() {
  const model: Model = useMemo(createModel, []);
  const { section, stage } = useSizes(model.timeline);
  useEffect(() => model.dispose, [model]);
  return (
    <div class="allocations">
      <Tools model={model} />
      <Instead />
      <section class="timeline" ref={section} aria-label="Allocations">
        <Legend model={model} />
        <div class="allocations-stage" ref={stage}>
          <Picture model={model} />
          <Notices model={model} />
        </div>
        <Hidden model={model} />
        {hasHistory.value ? (
          <>
            <Tracks model={model.timeline} />
            <Minimap model={model.timeline} />
          </>
        ) : (
          <p class="quiet allocations-moment" role="note">
            One moment: the recording holds what was alive at its end, but no history.
          </p>
        )}
      </section>
    </div>
  );
}
