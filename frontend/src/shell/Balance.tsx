/** Whether the hosts of a session hold alike much: the highest and the lowest peak, in words. */

import type { Session, Source } from "../api";
import { goToHost } from "../flow/hosts";
import { bytes } from "../format";
import { hostName } from "../state/hosts";
import { hostsWord } from "./entries";
import { balance, peakOf, peakWords } from "./peaks";

export function Balance({ hosts, of }: { hosts: Source[]; of: Session["of"] }) {
  const found = balance(hosts);
  if (!found) return null;
  const { highest, lowest, ratio, known } = found;
  const few = known < hosts.length ? `, of ${hostsWord(known, of)} read` : "";
  if (peakOf(highest) === peakOf(lowest)) {
    return (
      <p class="item balance small quiet">
        All peaks are {bytes(peakOf(highest))}
        {few}
      </p>
    );
  }
  return (
    <p class="item balance small quiet">
      Highest <Name host={highest} /> {bytes(peakOf(highest))}
      {ratio !== null && `, ${ratio.toFixed(2)} × the median`}
      {"; lowest "}
      <Name host={lowest} /> {bytes(peakOf(lowest))}
      {few}
    </p>
  );
}

function Name({ host }: { host: Source }) {
  return (
    <button type="button" class="link" title={peakWords(host)} onClick={() => goToHost(host.id)}>
      {hostName(host)}
    </button>
  );
}
