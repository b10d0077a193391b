/** Where the module ran in the recording, and what else was alive on its device then. */

import { distinctRuns, type Ran } from "../../flow/runs";
import { bytes, counted, exactBytes } from "../../format";
import { RunLinks } from "../../inspector/RunLinks";

export function Runs() {
  return (
    <p class="plan-runs quiet">
      A plan is of one program: it knows nothing of what else is on the device.{" "}
      {alike(distinctRuns.value).map((group) => (
        <Alike key={group[0]?.key} group={group} />
      ))}
    </p>
  );
}

/** Devices of which the same is to be said, together. */
function alike(found: readonly Ran[]): Ran[][] {
  const groups = new Map<string, Ran[]>();
  for (const one of found) {
    const [first] = one.page.rows;
    const key = [one.page.found, first?.before, first?.peak].join();
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}

function Alike({ group }: { group: Ran[] }) {
  const [page] = group.map((one) => one.page);
  const [first] = page?.rows ?? [];
  if (!page || !first) return null;
  return (
    <span>
      {"It ran "}
      {counted(page.found, "time")}
      {" on "}
      <RunLinks of={group} />
      {group.length > 1 && " each"}
      {first.before !== null && (
        <>
          {"; "}
          <Exact value={first.before} /> were in use before the first one
        </>
      )}
      {first.peak !== null && (
        <>
          {", "}
          <Exact value={first.peak} /> at most while it ran
        </>
      )}
      {". "}
    </span>
  );
}

function Exact({ value }: { value: number }) {
  return <span title={exactBytes(value)}>{bytes(value)}</span>;
}
