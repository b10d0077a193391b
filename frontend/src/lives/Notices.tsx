/** What the picture cannot say: that it loads, that it failed, that there is nothing in it. */

import { counted } from "../format";
import { device, filter, hasHistory, minimum, only } from "../state";
import type { Model } from "./model";

export function Notices({ model }: { model: Model }) {
  const { failure, loading, front, retry } = model.pictures;
  if (failure.value !== null) {
    return (
      <div class="timeline-notice danger" role="alert">
        {failure.value}{" "}
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      </div>
    );
  }
  const picture = front.value;
  if (picture === null) return <p class="timeline-notice quiet">Loading…</p>;
  const isEmpty = picture.tiles.every(({ columns }) => columns.total.every((total) => total === 0));
  return (
    <>
      {loading.value && <div class="timeline-busy" aria-hidden="true" />}
      {isEmpty && picture.isWhole && !loading.value && (
        <div class="timeline-notice" role="note">
          {emptyWords()}
        </div>
      )}
    </>
  );
}

function emptyWords() {
  const isFiltered = only.value !== "all" || minimum.value > 0 || filter.value !== "";
  if (!isFiltered) {
    if (hasHistory.value) return "Nothing is allocated here.";
    const alive = device.value?.blocks_before_window ?? 0;
    return alive > 0
      ? `${counted(alive, "allocation")} of 0 bytes: nothing has a height.`
      : "Nothing is allocated.";
  }
  return (
    <>
      No allocation here is of those shown.{" "}
      <button
        type="button"
        class="button"
        onClick={() => {
          only.value = "all";
          minimum.value = 0;
          filter.value = "";
        }}
      >
        Show all
      </button>
    </>
  );
}
