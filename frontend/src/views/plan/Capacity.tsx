/** How close the peak comes to what a device has: one that is chosen, as a plan knows none. */

import { signal } from "@preact/signals";
import { Meter } from "../../components/Meter";
import { bytes, share } from "../../format";
import { DEVICES } from "./devices";

const KEPT = "tb-memory.plan-device";

const read = (): string => {
  try {
    return localStorage.getItem(KEPT) ?? "";
  } catch {
    return ""; // not allowed here
  }
};

const chosen = signal(read());

function choose(name: string): void {
  chosen.value = name;
  try {
    localStorage.setItem(KEPT, name);
  } catch {
    // It holds until the page is left.
  }
}

export function Capacity({ peak, isDevice }: { peak: number; isDevice: boolean }) {
  if (!isDevice) return null;
  const found = DEVICES.find(({ name }) => name === chosen.value);
  const words = found ? `${share(peak, found.bytes)} of ${bytes(found.bytes)}` : "";
  return (
    <span class="plan-capacity">
      <select
        class="field choice"
        aria-label="Device to compare with"
        title="What the peak is compared with: a plan does not say what device it is for"
        value={found?.name ?? ""}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">compare with a device …</option>
        {DEVICES.map(({ name, bytes: size }) => (
          <option key={name} value={name}>
            {name}, {bytes(size)}
          </option>
        ))}
      </select>
      {found && (
        <>
          <Meter value={peak / found.bytes} label={`Peak ${words}`} />
          <span class={`small ${peak > found.bytes ? "danger" : "quiet"}`}>{words}</span>
        </>
      )}
    </span>
  );
}
