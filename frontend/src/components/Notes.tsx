/** What is wrong with the recording and what it lacks, in a line that unfolds. */

import type { Missing } from "../api";
import { counted } from "../format";
import { about } from "../state/recording";

export function Notes() {
  const known = about.value;
  if (!known || known.problems.length + known.missing.length === 0) return null;
  return (
    <div class="notes">
      {known.problems.length > 0 && (
        <details>
          <summary class="warning">{counted(known.problems.length, "problem")} in the file</summary>
          <ul>
            {known.problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </details>
      )}
      {known.missing.length > 0 && (
        <details>
          <summary>
            Not in this recording: {known.missing.map(({ what }) => what).join(", ")}
          </summary>
          <ul>
            {known.missing.map((one) => (
              <Lack key={one.what} {...one} />
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function Lack({ what, why, remedy }: Missing) {
  return (
    <li>
      <strong>{what}</strong>: {why}
      {remedy && <span class="remedy"> {remedy}</span>}
    </li>
  );
}
