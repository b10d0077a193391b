"""One device's share of the recorded tables, as numpy columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Action, BlockState

SEGMENT_ACTIONS = [
    Action.SEGMENT_ALLOC,
    Action.SEGMENT_FREE,
    Action.SEGMENT_MAP,
    Action.SEGMENT_UNMAP,
]


@dataclass(frozen=True)
class DeviceTables:
    """What was recorded of ``device``. Columns are views into the recording."""

    recording: Recording
    device: Device
    problems: list[str] = field(default_factory=list)

    def column(self, table: str, name: str) -> IntArray:
        """A column of the device's rows; nulls read as ``schema.sentinel(name)``."""
        return self.recording.values(table, name, self.device)

    def missing(self, table: str, name: str) -> IntArray:
        """Which of the device's rows are null in a column."""
        rows = self.recording.rows(table, self.device)
        whole = self.recording.table(table)
        if not whole.column(name).null_count:
            return np.zeros(rows.stop - rows.start, dtype=bool)
        return ~arrays.valid(whole, name)[rows]

    @cached_property
    def events(self) -> int:
        """How many events the device's history holds."""
        rows = self.recording.rows("events", self.device)
        return int(rows.stop - rows.start)

    @cached_property
    def has_end_state(self) -> bool:
        """Whether the source says what is mapped and alive after the last event.

        Not where it has room for segments but its allocator, as the history shows, has none.
        """
        tables = self.recording.tables
        if "segments" not in tables or "blocks" not in tables:
            return False
        if len(tables["segments"]):
            return True
        seen = np.bincount(self.recording.values("events", "action"), minlength=256)
        allocations = seen[[Action.ALLOC, Action.FREE_REQUESTED, Action.FREE_COMPLETED]].any()
        return bool(seen[SEGMENT_ACTIONS].any() or not allocations)

    @cached_property
    def has_times(self) -> bool:
        """Whether all of the device's events have time stamps."""
        return self.events > 0 and not self.missing("events", "time").any()

    @cached_property
    def live_blocks(self) -> IntArray:
        """Which rows of the device's blocks hold an allocation at the end."""
        return np.flatnonzero(self.column("blocks", "state") != BlockState.INACTIVE)

    @cached_property
    def pending_blocks(self) -> int:
        """Blocks freed by the program but still held for another stream at the end."""
        return int((self.column("blocks", "state") == BlockState.PENDING_FREE).sum())

    @cached_property
    def expandable(self) -> IntArray:
        """Which of the device's final segments are expandable."""
        rows = self.recording.rows("segments", self.device)
        return arrays.truths(self.recording.table("segments"), "expandable")[rows]

    def problem(self, sentence: str) -> None:
        """Note what is odd about this device's history."""
        self.problems.append(f"{self.device.name}: {sentence}")

    def refuse(self, fault: str) -> SourceError:
        """The error for a history that cannot be counted."""
        return SourceError(
            str(self.recording.meta.get("source") or "recording"),
            f"{fault} on {self.device.name}",
            "the file is damaged or not what the allocator wrote; record it again",
        )
