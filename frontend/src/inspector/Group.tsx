/** A group explained: what it is made of at the cursor, and the stack that it stands for. */

import { breakdown } from "../flow/questions";
import { bytes, count, exactBytes, share } from "../format";
import { blocksWords, groupLabel, oldestWords } from "../state/groups";
import { momentWords } from "../state/moment";
import { about, hasHistory } from "../state/recording";
import { say } from "../state/say";
import { by } from "../state/view";
import { Facts } from "./Facts";
import { Stack } from "./Stack";

export function Group({ groupBy, id }: { groupBy: string; id: string }) {
  const { data } = breakdown.value;
  const group = groupBy === by.value ? data?.groups.find(({ key }) => key === id) : undefined;
  const grouping = about.value?.groupings.find(({ key }) => key === groupBy)?.label ?? groupBy;
  if (!data) return <p class="quiet">Looking it up …</p>;
  if (!group) {
    return (
      <p class="quiet">
        {groupBy === by.value
          ? "Nothing of the selected group is alive here, or it is among the smaller groups that are not listed."
          : `The selected group is one by ${grouping}. Group by ${grouping} to see it.`}
      </p>
    );
  }
  const where = hasHistory.value ? momentWords(data) : "the end";
  return (
    <>
      <h2 class="title">{groupLabel(group.label, groupBy)}</h2>
      <p class="quiet subtitle">
        {grouping} · alive at {where}
      </p>
      <Facts
        rows={[
          { word: "Bytes", value: bytes(group.bytes), title: exactBytes(group.bytes) },
          { word: "Share", value: share(group.bytes, data.total_bytes) },
          {
            word: say("Blocks"),
            value: group.sums > 0 ? blocksWords(group.count, group.sums) : count(group.count),
          },
          { word: "Largest", value: bytes(group.largest), title: exactBytes(group.largest) },
          { word: "Oldest", value: hasHistory.value ? oldestWords(group, momentWords) : null },
        ]}
      />
      {group.frames && group.frames.length > 0 && <Stack title="Stack" frames={group.frames} />}
    </>
  );
}
