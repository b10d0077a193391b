/** The numbers that answer first: peak, reserved, fragmentation, traffic, what came before. */

import type { Device } from "../../api";
import { Fact, Size } from "../../components/Fact";
import { bytes, count, exactBytes, share } from "../../format";
import { blocksWords, SUM_ONLY } from "../../state/groups";
import { momentWords } from "../../state/moment";
import { about, hasHistory } from "../../state/recording";
import { cursor } from "../../state/view";
import { fragmentation } from "./fragmentation";
import { Said } from "./Said";

const BASIS = {
  requested: "requested bytes (what the program asked for)",
  size: "rounded bytes (what the allocator gave)",
} as const;

export function Numbers({ device }: { device: Device }) {
  return (
    <dl class="numbers" aria-label="Summary">
      <Peak device={device} />
      <Failed device={device} />
      <Reserved device={device} />
      <Fragmented device={device} />
      {hasHistory.value && <Traffic device={device} />}
      {hasHistory.value && <Before device={device} />}
      <Said device={device} />
      <Lifetime device={device} />
    </dl>
  );
}

const basisWords = (): string => BASIS[about.value?.basis ?? "requested"];

function Peak({ device }: { device: Device }) {
  const exact = `${exactBytes(device.allocated_peak)}, in ${basisWords()}`;
  if (!hasHistory.value) {
    return (
      <Fact label="Allocated at the end" title={exact}>
        <Size value={device.allocated_end} />
      </Fact>
    );
  }
  const when = momentWords({
    event: device.peak_event,
    time: device.peak_time,
    step: device.peak_step,
  });
  const toPeak = (
    <button type="button" class="link" onClick={() => (cursor.value = null)}>
      {when}
    </button>
  );
  return (
    <Fact label="Peak allocated" title={exact} note={toPeak}>
      <Size value={device.allocated_peak} />
    </Fact>
  );
}

/** Why it failed: what was asked for, what the device had left; a click goes to that moment. */
function Failed({ device }: { device: Device }) {
  const last = device.oom.at(-1);
  if (!last || last.requested === null) return null;
  const when = momentWords({ event: last.event, time: last.time, step: null });
  const free = last.device_free === null ? "" : `, ${bytes(last.device_free)} free`;
  const times = device.oom_count > 1 ? ` The last of ${count(device.oom_count)} failures.` : "";
  const title = `Out of memory: ${exactBytes(last.requested)} asked for${free}, ${when}.${times}`;
  const toFailure = (
    <button type="button" class="link" onClick={() => (cursor.value = last.event)}>
      {when}
    </button>
  );
  return (
    <Fact label={`Out of memory${free}`} danger title={title} note={toFailure}>
      <Size value={last.requested} />
    </Fact>
  );
}

function Reserved({ device }: { device: Device }) {
  const value = hasHistory.value ? device.reserved_at_peak : device.reserved_end;
  if (value === null) return null;
  const capacity = device.capacity === null ? null : `of ${bytes(device.capacity)}`;
  const title = `${exactBytes(value)} held from the driver. At most: ${bytes(device.reserved_peak)}`;
  const label = hasHistory.value ? "Reserved at peak" : "Reserved at the end";
  return (
    <Fact label={label} title={title} note={capacity}>
      <Size value={value} />
    </Fact>
  );
}

function Fragmented({ device }: { device: Device }) {
  const [allocated, reserved] = hasHistory.value
    ? [device.allocated_peak, device.reserved_at_peak]
    : [device.allocated_end, device.reserved_end];
  const part = fragmentation(allocated, reserved);
  if (!part || reserved === null) return null;
  const title =
    `1 − allocated ÷ reserved = 1 − ${bytes(allocated)} ÷ ${bytes(reserved)}. ` +
    `Allocated is in ${basisWords()}. The other formula in use, ` +
    "1 − largest free chunk ÷ free bytes, is not this one.";
  return (
    <Fact label="Fragmentation" title={title} note={bytes(part.bytes)}>
      {share(part.bytes, reserved)}
    </Fact>
  );
}

function Traffic({ device }: { device: Device }) {
  return (
    <Fact label="Allocations / frees" title="In the recorded window, completed frees">
      {count(device.allocs)} / {count(device.frees)}
    </Fact>
  );
}

function Before({ device }: { device: Device }) {
  const { bytes_before_window: size, blocks_before_window: blocks } = device;
  if (size === null) return null;
  const title = `${exactBytes(size)} were alive before the first recorded event`;
  const sums = device.sums_before_window;
  return (
    <Fact
      label="Before the window"
      title={sums > 0 ? `${title}. ${SUM_ONLY}` : title}
      note={blocks === null ? null : blocksWords(blocks, sums)}
    >
      <Size value={size} />
    </Fact>
  );
}

function Lifetime({ device }: { device: Device }) {
  if (device.lifetime_peak === null) return null;
  const title = `${exactBytes(device.lifetime_peak)}, as its allocator counted, before the window too`;
  return (
    <Fact label="Lifetime peak" title={title}>
      <Size value={device.lifetime_peak} />
    </Fact>
  );
}
