/** Devices that the module of a plan ran on, each a link to its first run there. */

import { goToRun, type Ran } from "../flow/runs";

export function RunLinks({ of }: { of: readonly Ran[] }) {
  return (
    <>
      {of.map((one, at) => (
        <span key={one.key}>
          {at > 0 && (at === of.length - 1 ? " and " : ", ")}
          <button
            type="button"
            class="link"
            title="Show the first run in the Profile"
            onClick={() => goToRun(one)}
          >
            {one.name}
          </button>
        </span>
      ))}
    </>
  );
}
