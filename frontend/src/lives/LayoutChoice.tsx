/** The switch between layouts, wherever the picture is drawn. */

import { Segmented } from "../components/Segmented";
import { bytesRange, layout } from "../state";
import { LAYOUTS } from "../state/view";
import { reasonAgainst, shownLayout } from "./layouts";

export function LayoutChoice() {
  return (
    <Segmented
      label="Layout"
      value={shownLayout.value}
      choose={(next) => {
        layout.value = next;
        bytesRange.value = null;
      }}
      options={LAYOUTS.map((key) => ({ key, label: key, reason: reasonAgainst(key) }))}
    />
  );
}
