"""The compiler's plans as a recording of their own, so that every view can show them.

A buffer is an allocation, a memory space of a module a device, an event of its heap an event. The
tables are those of any recording, kept beside the recording's own under other names; its frames and
stacks are the recording's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis import plan_lives
from tb_memory_plugin.analysis.columns import picked
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.plan_categories import categories
from tb_memory_plugin.analysis.positions import lanes, ranges
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.plan_schema import BufferKind, HeapKind
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import AFTER, Action

#: What stands before the name of a table that is of the plans.
PREFIX = "plan."
#: Tables of the recording that the plans share.
SHARED = ("frames", "stacks", "frame_kinds", "stack_names")


def plan_tables(recording: Recording) -> dict[str, pa.Table]:
    """The tables of the plans of a recording whose plans are derived; none without plans."""
    plans = len(recording.table("plans"))
    if not plans:
        return {}
    lives = _Lives(recording)
    allocations = builder.table("allocations", lives.allocations())
    return {
        PREFIX + "allocations": allocations,
        PREFIX + "events": builder.table("events", lives.events()),
        PREFIX + "usage": builder.table("usage", lives.usage(plans)),
        PREFIX + "positions": builder.table("positions", lives.positions(allocations, plans)),
    }


class _Lives:
    """Lives that hold memory, in the order of allocations: by plan, birth and place."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.rows = plan_lives.in_order(recording)
        self.plan, self.birth, self.death = (
            self._of_life(name) for name in ("plan", "birth", "death")
        )
        buffer = self._of_life("buffer")
        self._buffer = _arguments(recording, buffer, self._of_life("allocation"))
        self._instruction = _picked(recording, "buffers", "instruction", self._buffer)

    def _of_life(self, name: str) -> IntArray:
        found: IntArray = self._recording.values("buffer_lives", name)[self.rows]
        return found

    def allocations(self) -> dict[str, Any]:
        recording = self._recording
        kinds = _picked(recording, "buffer_allocations", "kind", self._of_life("allocation"))
        stack = _picked(recording, "instructions", "stack", self._instruction)
        category = categories(recording, self._instruction, kinds)
        size, unpadded = self._of_life("size"), self._of_life("unpadded")
        none = np.full(len(self.rows), -1)
        labels = [kind.label for kind in BufferKind]
        return {
            "device": self.plan,
            "address": self._of_life("offset"),
            # What is asked for is what is not padding.
            "requested": np.minimum(unpadded, size),
            "size": size,
            "size_inferred": [False] * len(size),
            "birth": (self.birth, self.birth < 0),
            "free_requested": (self.death, self.death == AFTER),
            "death": (self.death, self.death == AFTER),
            "birth_stack": (stack, stack < 0),
            "category": category,
            "category_inferred": [True] * len(size),
            "name": self._text("instructions", "name", self._instruction),
            "dtype": self._text("buffers", "dtype", self._buffer),
            "shape": self._text("buffers", "shape", self._buffer, _without_dtype),
            "op": self._text("instructions", "op", self._instruction),
            "module": self._text("instructions", "computation", self._instruction),
            "region": arrays.text(kinds, labels),
            # What a program was doing is, of a plan, what the instruction does.
            "annotation": self._text("instructions", "opcode", self._instruction),
            "segment": (none, none < 0),
        }

    def events(self) -> dict[str, Any]:
        recording = self._recording
        plan, kind = (recording.values("plan_events", name) for name in ("plan", "kind"))
        action = np.full(len(plan), int(Action.USER_DEFINED))
        size, address = np.zeros(len(plan), dtype=np.int64), np.zeros(len(plan), dtype=np.int64)
        first = np.searchsorted(plan, self.plan)
        for moment, code in ((self.birth, Action.ALLOC), (self.death, Action.FREE_COMPLETED)):
            moves = (moment >= 0) & (moment != AFTER)
            at = first[moves] + moment[moves]
            action[at] = int(code)
            size[at], address[at] = self._of_life("size")[moves], self._of_life("offset")[moves]
        instruction = recording.values("plan_events", "instruction")
        stack = _picked(recording, "instructions", "stack", instruction)
        shared = kind == int(HeapKind.SHARE_WITH)
        shares = ["shares memory" if each else None for each in shared.tolist()]
        quiet = action == int(Action.USER_DEFINED)
        return {
            "device": plan,
            "action": action,
            "address": (address, quiet),
            "size": (size, quiet),
            "stack": (stack, stack < 0),
            "user_metadata": shares,
        }

    def usage(self, plans: int) -> dict[str, Any]:
        """A row before the first event, and one for each event that takes or gives back memory."""
        recording = self._recording
        base = recording.values("plans", "indefinite") + recording.values("plans", "untraced")
        rows = np.arange(len(self.rows))
        born, died = self.birth >= 0, self.death != AFTER
        device = np.concatenate([np.arange(plans), self.plan[born], self.plan[died]])
        event = np.concatenate([np.full(plans, -1), self.birth[born], self.death[died]])
        allocation = np.concatenate([np.full(plans, -1), rows[born], rows[died]])
        size = self._of_life("size")
        change = np.concatenate([base, size[born], -size[died]])
        order = np.lexsort((event, device))
        device, allocation = device[order], allocation[order]
        whole = np.cumsum(change[order])
        heads = np.searchsorted(device, np.arange(plans))
        before = whole[heads] - base  # of the plans before
        return {
            "device": device,
            "event": event[order],
            "allocated": whole - before[device],
            "allocation": (allocation, allocation < 0),
        }

    def positions(self, allocations: pa.Table, plans: int) -> dict[str, Any]:
        lane, place = (np.zeros(len(self.rows), dtype=np.int64) for _ in range(2))
        devices = [{"key": str(plan), "name": ""} for plan in range(plans)]
        alone = Recording({"devices": devices}, {"allocations": allocations})
        size = self._of_life("size")
        bounds = np.searchsorted(self.plan, np.arange(plans + 1))
        for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            part = slice(begin, end)
            born, died = self.birth[part], self.death[part]
            rows = np.arange(end - begin)
            moves = np.concatenate([rows, rows[died != AFTER]])
            order = np.argsort(np.concatenate([born, died[died != AFTER]]), kind="stable")
            lane[part] = lanes(size[part], moves[order])
        for device in alone.devices:
            part = alone.rows("allocations", device)
            address = alone.values("allocations", "address", device)
            place[part] = ranges(alone, device).at(address)
        return {"device": self.plan, "address": place, "lane": lane}

    def _text(
        self, table: str, column: str, rows: IntArray, change: Callable[[str], str] = str
    ) -> pa.DictionaryArray:
        words = [change(word) for word in arrays.words(self._recording.table(table), column)]
        return arrays.text(_picked(self._recording, table, column, rows), words)


def _without_dtype(shape: str) -> str:
    """``[256,1024]{1,0}`` of ``f32[256,1024]{1,0}``: the type has a column of its own."""
    return shape if shape.startswith("(") else shape[max(shape.find("["), 0) :]


def _arguments(recording: Recording, buffer: IntArray, allocation: IntArray) -> IntArray:
    """``buffer``, and of what lies in an argument's memory the argument: that is what it is for."""
    opcode = arrays.words(recording.table("instructions"), "opcode")
    if "parameter" not in opcode:
        return buffer
    lies, made = (recording.values("buffers", name) for name in ("allocation", "instruction"))
    code = _picked(recording, "instructions", "opcode", made)
    kind = _picked(recording, "buffer_allocations", "kind", lies)
    index = arrays.values(recording.table("buffers"), "index")
    whole = index == _code(arrays.words(recording.table("buffers"), "index"), "")
    rows = np.flatnonzero(
        (code == opcode.index("parameter")) & (kind == int(BufferKind.PARAMETER)) & whole
    )
    argument = np.full(len(recording.table("buffer_allocations")) + 1, -1)
    argument[lies[rows]] = rows
    # Only what is held all the time: a temporary buffer never lies in an argument's memory.
    found = argument[np.maximum(allocation, -1)]
    return np.where((allocation >= 0) & (found >= 0), found, buffer)


def _code(words: list[str], word: str) -> int:
    return words.index(word) if word in words else -1


def _picked(recording: Recording, table: str, column: str, rows: IntArray) -> IntArray:
    return picked(recording.values(table, column).astype(np.int64), rows)
