/** The middle of the page: the view, or in words why there is none. */

import { pending } from "../flow/choose";
import { planError } from "../flow/plans";
import { isPlan, openStatus, shownPlan, sourceId, sourceList, summary } from "../state/recording";
import { shownView } from "../views/registry";
import { Choose, Empty, NotHere, Scanning } from "./states/Empty";
import { Failed, Reading } from "./states/Reading";

export function Stage() {
  const list = sourceList.value;
  if (!list) return <Scanning />;
  if (sourceId.value === null) {
    const link = pending.value;
    if (link?.source) return <NotHere run={link.run ?? ""} name={link.source} />;
    if (list.sources.length > 0) return <Choose />;
    return list.scanning ? <Scanning /> : <Empty />;
  }
  if (openStatus.value?.state === "error") return <Failed />;
  if (!summary.value) return <Reading />;
  if (isPlan.value && !shownPlan.value) return <Planned />;
  const view = shownView.value;
  return view ? <view.component /> : null;
}

/** Until a plan is there. */
function Planned() {
  const error = planError.value;
  return (
    <section class="state">
      {error === null ? (
        <p class="quiet" role="status">
          Loading the plan …
        </p>
      ) : (
        <p class="danger" role="alert">
          {error}
        </p>
      )}
    </section>
  );
}
