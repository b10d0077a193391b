/** The devices of the open recording: how full each one got. */

import type { Device } from "../api";
import { Meter } from "../components/Meter";
import { chooseDevice } from "../flow/choose";
import { bytes, exactBytes } from "../format";
import { device, summary } from "../state/recording";
import { drawer } from "./drawer";
import { walk } from "./walk";

export function Devices() {
  const devices = summary.value?.devices ?? [];
  if (devices.length === 0) return null;
  const largest = Math.max(...devices.map(({ allocated_peak }) => allocated_peak), 1);
  return (
    <nav aria-label="Devices">
      <h2 class="heading">Devices</h2>
      <ul onKeyDown={walk}>
        {devices.map((one) => (
          <Row key={one.key} one={one} largest={largest} />
        ))}
      </ul>
    </nav>
  );
}

function Row({ one, largest }: { one: Device; largest: number }) {
  const whole = one.capacity ?? largest;
  const words = one.capacity
    ? `Peak ${bytes(one.allocated_peak)} of ${bytes(one.capacity)}`
    : `Peak ${bytes(one.allocated_peak)}; how much the device has is not recorded, the bar is against the largest peak`;
  const choose = (): void => {
    chooseDevice(one.key);
    drawer.value = false;
  };
  return (
    <li>
      <button
        type="button"
        class="item device"
        aria-current={one.key === device.value?.key ? "true" : undefined}
        title={`${one.name}: ${words} (${exactBytes(one.allocated_peak)})`}
        onClick={choose}
      >
        <span class="clip">{one.name}</span>
        <Meter value={one.allocated_peak / whole} label={words} />
        <span class="number small quiet">{bytes(one.allocated_peak)}</span>
      </button>
    </li>
  );
}
