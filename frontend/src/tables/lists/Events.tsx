/** The whole history of the device, event by event; the chart's cursor goes along. */

import { useEffect, useMemo } from "preact/hooks";
import { EventList } from "../../events/EventList";
import { createList } from "../../events/list";
import type { Model } from "../../timeline/model";

export function Events({ model }: { model: Model }) {
  const list = useMemo(() => createList(model.cursorEvent), [model]);
  useEffect(() => list.dispose, [list]);
  return (
    <div class="lists-events">
      <EventList list={list} />
    </div>
  );
}
