"""Replays what a real snapshot recorded through the simulated allocator, entry by entry.

The simulation is told only what the program did: allocations (bytes, stream), frees, snapshots.
The driver's answers (whether there was memory, and at which address) are the recorded ones. All
else, which block is taken, where it is split, what is given back and when, is the simulation's,
and every entry it makes is compared with the recorded one at the same place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from demo.allocator import Block, CachingAllocator, History, OutOfMemory, Settings
from demo.allocator.sizes import INTERVALS
from tests.demo.beginnings import restore

Entry = dict[str, Any]
RESERVED = 1 << 37  # bytes of a range for an expandable segment: more than a device has


class Difference(Exception):
    """The simulation did something else than what was recorded."""

    def __init__(self, place: int, recorded: Any, simulated: Any) -> None:
        super().__init__(f"entry {place}: recorded {recorded}, simulated {simulated}")
        self.place = place


class Tape:
    """The recorded entries of a device, and how far they are used up."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self.place = 0

    @property
    def next(self) -> Entry:
        """The entry to come; an empty one behind the last."""
        return self.entries[self.place] if self.place < len(self.entries) else {}

    def comes(self, *actions: str) -> bool:
        """Whether the next entry is one of ``actions``."""
        return self.next.get("action") in actions


class RecordedDriver:
    """Answers as the driver did."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def malloc(self, size: int) -> int | None:
        return self._tape.next["addr"] if self._tape.comes("segment_alloc") else None

    def free(self, address: int, size: int) -> None: ...

    def reserve(self, page: int) -> tuple[int, int]:
        return self._tape.next["addr"], RESERVED // page * page

    def release(self, address: int, size: int) -> None: ...

    def create(self, size: int) -> bool:
        return self._tape.comes("segment_map")

    def destroy(self, size: int) -> None: ...

    def record_event(self) -> int:
        raise AssertionError("no recording here has frees that wait")

    def happened(self, event: int) -> bool:
        raise AssertionError("no recording here has frees that wait")

    def free_bytes(self) -> int:
        return int(self._tape.next.get("device_free", -1))


class ComparedHistory(History):
    """Takes an entry only if it is the next recorded one. Raises Difference."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self._tape = tape

    def add(self, *args: Any) -> None:
        super().add(*args)
        made, recorded = self.entries[-1], self._tape.next
        keys = recorded.keys() & made.keys() - {"time_us", "compile_context", "user_metadata"}
        keys |= {"action", "size", "addr" if "addr" in recorded else "device_free"}
        if any(made.get(key) != recorded.get(key) for key in keys):
            shown = [{k: e.get(k) for k in keys - {"frames"}} for e in (recorded, made)]
            raise Difference(self._tape.place, *shown)
        self._tape.place += 1


@dataclass(frozen=True)
class Replay:
    """The allocator after a replay, and where that ended if not at the end of the recording."""

    allocator: CachingAllocator
    difference: Difference | None = None


def settings_of(snapshot: dict[str, Any]) -> Settings:
    """What the snapshot says of the allocator's settings; those before 2.3 say nothing."""
    told = snapshot.get("allocator_settings") or {}
    limit = told.get("max_split_size", -1)
    divisions = told.get("roundup_power2_divisions") or {}
    return Settings(
        max_split_size=None if limit < 0 else limit,
        expandable_segments=bool(told.get("expandable_segments")),
        roundup_power2_divisions=[divisions.get(str(1 << n), 0) for n in range(INTERVALS)],
    )


def replay(
    snapshot: dict[str, Any],
    device: int,
    watch: Callable[[int, CachingAllocator], None] | None = None,
) -> Replay:
    """Replay ``device``'s history up to its end or the first difference.

    ``watch`` is called after everything that the program did, with the ordinal of the last entry
    that came of it, and first with -1.
    """
    tape = Tape(snapshot["device_traces"][device])
    allocator = CachingAllocator(RecordedDriver(tape), settings_of(snapshot), ComparedHistory(tape))
    restore(allocator, snapshot, device)
    watch = watch or _nobody
    watch(-1, allocator)
    try:
        while tape.place < len(tape.entries):
            _act(allocator, tape)
            watch(tape.place - 1, allocator)
    except Difference as difference:
        return Replay(allocator, difference)
    return Replay(allocator)


def _nobody(event: int, allocator: CachingAllocator) -> None:
    """Watches nothing."""


def _act(allocator: CachingAllocator, tape: Tape) -> None:
    """What the program did next."""
    entry = tape.next
    if tape.comes("free_requested"):
        block: Block | None = allocator.active.get(entry["addr"])
        if block is None:
            raise Difference(tape.place, entry, "nothing is allocated there")
        allocator.free(block, entry.get("frames"))
    elif tape.comes("snapshot"):
        allocator.mark_snapshot()
    elif tape.comes("segment_free", "segment_unmap") and not _fails(tape):
        allocator.empty_cache(entry.get("frames"))
    else:
        asked = _asked(tape)
        try:
            allocator.malloc(asked["size"], asked["stream"], asked.get("frames"))
        except OutOfMemory:
            return


def _asked(tape: Tape) -> Entry:
    """The next allocation, or attempt at one."""
    for entry in tape.entries[tape.place :]:
        if entry["action"] in ("alloc", "oom"):
            return entry
    raise Difference(tape.place, tape.next, "no allocation follows")


def _fails(tape: Tape) -> bool:
    """Whether memory is given back because an allocation would fail: it has the same stack."""
    for entry in tape.entries[tape.place :]:
        if entry["action"] in ("alloc", "oom"):
            return bool(entry.get("frames") == tape.next.get("frames"))
        if not entry["action"].startswith("segment"):
            return False
    return False
