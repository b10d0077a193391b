/** Views, and what all of them share: the axis and the grouping. */

import { Segmented } from "../components/Segmented";
import { chooseAxis, chooseGrouping } from "../flow/choose";
import { Short } from "../pairs/Short";
import { convertRange } from "../state/axis";
import { hostName, session } from "../state/hosts";
import { about, device, hasHistory, hasTime, isPlan, source, summary } from "../state/recording";
import { axis, by, pattern, viewKey } from "../state/view";
import { shownView, shownViews } from "../views/registry";
import { drawer } from "./drawer";
import { help } from "./Help";
import { runName } from "./names";

export function TopBar() {
  return (
    <header class="topbar">
      <Place />
      <Tabs />
      <div class="shared">
        <Short />
        {hasHistory.value && <AxisSwitch />}
        {summary.value && <GroupingChoice />}
        <button
          type="button"
          class="button round"
          aria-label="Help: keys and words"
          title="Help (?)"
          onClick={() => (help.value = true)}
        >
          ?
        </button>
      </div>
    </header>
  );
}

/** On narrow pages, where one is; unfolds the sidebar. */
function Place() {
  const shown = source.value;
  const title = shown ? runName(shown.run) || shown.name : "Recordings";
  return (
    <button
      type="button"
      class="button place"
      aria-expanded={drawer.value}
      aria-controls="sidebar"
      onClick={() => (drawer.value = !drawer.value)}
    >
      <span aria-hidden="true">☰</span>
      <span class="clip">{title}</span>
      {session.value && shown && <span class="quiet clip">{hostName(shown)}</span>}
      {device.value && <span class="quiet clip">{device.value.name}</span>}
    </button>
  );
}

function Tabs() {
  return (
    <div class="tabs" role="tablist" aria-label="Views">
      {shownViews.value.map(({ key, label }) => (
        <button
          key={key}
          type="button"
          role="tab"
          aria-selected={key === shownView.value?.key}
          onClick={() => (viewKey.value = key)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

function AxisSwitch() {
  if (isPlan.value) {
    return (
      <span class="quiet" title="The compiler knows the order of the program, not its time">
        x is program order, not time
      </span>
    );
  }
  const reason = hasTime.value ? null : "This recording has no time stamps";
  const isTimed = hasTime.value && shownView.value?.axis === "time";
  const inEvents = isTimed ? "What the program did has a place in time only" : null;
  return (
    <div class="labelled">
      <span class="quiet">x axis</span>
      <Segmented
        label="Horizontal axis"
        value={axis.value}
        choose={(next) => chooseAxis(next, convertRange(next))}
        options={[
          { key: "time", label: "time", reason },
          { key: "event", label: "event", reason: inEvents },
        ]}
      />
    </div>
  );
}

function GroupingChoice() {
  return (
    <label class="labelled">
      <span class="quiet">group</span>
      <select
        class="field choice"
        value={by.value}
        onChange={(event) => chooseGrouping(event.currentTarget.value)}
      >
        {about.value?.groupings.map(({ key, label }) => (
          <option key={key} value={key}>
            {label}
          </option>
        ))}
      </select>
      {by.value === "pattern" && (
        <input
          class="field pattern"
          aria-label="Pattern to group by"
          placeholder="e.g. attention, mlp"
          title="Words to look for in stacks, ops, names and modules, separated by commas; /…/ is a regular expression"
          value={pattern.value}
          onChange={(event) => (pattern.value = event.currentTarget.value.trim())}
        />
      )}
    </label>
  );
}
