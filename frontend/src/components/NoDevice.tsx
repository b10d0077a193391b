/** A recording without a device: what it lacks, and what would have recorded that. */

import { sentence } from "../format";
import { about, summary } from "../state/recording";
import { Notes } from "./Notes";

export function NoDevice() {
  const [known, modules] = [about.value, summary.value?.unplanned?.count];
  return (
    <section class="state">
      <h1>{modules ? "No plan for memory is in this file" : "This recording holds no device"}</h1>
      {known?.missing.map(({ what, why, remedy }) => (
        <p key={what}>
          {sentence(why)} {remedy && sentence(remedy)}
        </p>
      ))}
      {known && known.problems.length > 0 && <Notes />}
    </section>
  );
}
