"""Buffers of a plan that are held longer than anything uses them."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.plan_reading import Plan
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.plan_schema import HeapKind
from tb_memory_plugin.recording.recording import Recording

#: Operations whose result may be, or be in, the memory of an operand: its uses are uses of that.
_PASSING = {
    *("get-tuple-element", "tuple", "bitcast", "while", "conditional", "call", "domain"),
    *("optimization-barrier", "add-dependency", "send", "send-done", "recv", "recv-done"),
    *("async-start", "async-update", "async-done", "copy-start", "copy-done"),
    *("all-reduce-start", "all-reduce-done", "all-gather-start", "all-gather-done"),
    *("collective-permute-start", "collective-permute-done"),
}


def outliving(recording: Recording, plan: Plan) -> list[int]:
    """Rows of ``buffer_lives`` that are freed after more is allocated than their last use needs.

    A life is judged only where all that uses it has a place in the program's order.
    """
    first = int(np.searchsorted(recording.values("plan_events", "plan"), plan.row))
    events = slice(first, first + plan.numbers["events"])
    kind = recording.values("plan_events", "kind")[events]
    instruction = recording.values("plan_events", "instruction")[events].astype(np.int64)
    if not len(kind) or (instruction < 0).all():
        return []
    position = recording.values("instructions", "position")
    asked = (kind == int(HeapKind.ALLOC)) & (instruction >= 0)
    placed = np.where(asked, position[np.maximum(instruction, 0)], -1)
    # What is asked for at an instruction comes before what that uses last is let go.
    reached = np.maximum.accumulate(placed)
    uses = _Uses(recording)
    rows = reading.lives(recording, plan)
    birth, death, buffer = (
        recording.values("buffer_lives", name)[rows] for name in ("birth", "death", "buffer")
    )
    judged = np.flatnonzero((birth >= 0) & (death < len(reached)) & (buffer >= 0))
    found = []
    for row, freed, of in zip(
        rows[judged].tolist(), reached[death[judged]].tolist(), buffer[judged].tolist(), strict=True
    ):
        last = uses.last(of)
        if last is not None and freed > last:
            found.append(row)
    return found


class _Uses:
    """Who uses what instructions make, and which buffers share memory."""

    def __init__(self, recording: Recording) -> None:
        table = recording.table("instructions")
        values, offsets = arrays.lists(table, "operands")
        users = np.repeat(np.arange(len(table)), np.diff(offsets))
        operands = values[offsets[0] : offsets[-1]]
        order = np.argsort(operands, kind="stable")
        # Lists: they are walked one by one, which numpy's are slow at.
        self._users = users[order].tolist()
        first = np.searchsorted(operands[order], np.arange(len(table) + 1))
        self._first: list[int] = first.tolist()
        codes = [
            code for code, word in enumerate(arrays.words(table, "opcode")) if word in _PASSING
        ]
        self._passes = np.isin(arrays.values(table, "opcode"), codes).tolist()
        self._position = recording.values("instructions", "position").tolist()
        self._made = recording.values("buffers", "instruction").tolist()
        shared = recording.values("heap", "kind") == int(HeapKind.SHARE_WITH)
        self._sharers: dict[int, list[int]] = {}
        for root, buffer in zip(
            recording.values("heap", "shares")[shared].tolist(),
            recording.values("heap", "buffer")[shared].tolist(),
            strict=True,
        ):
            self._sharers.setdefault(root, []).append(buffer)

    def last(self, buffer: int) -> int | None:
        """Where in the program a buffer, or what shares its memory, is used last; None: unknown."""
        waiting, seen = [], {buffer}
        sharing = [buffer]
        while sharing:
            here = sharing.pop()
            if self._made[here] < 0:
                return None
            waiting.append(self._made[here])
            fresh = [each for each in self._sharers.get(here, ()) if each not in seen]
            seen.update(fresh)
            sharing += fresh
        known, last = set(waiting), -1
        while waiting:
            here = waiting.pop()
            if self._position[here] < 0:
                return None
            last = max(last, self._position[here])
            for user in self._users[self._first[here] : self._first[here + 1]]:
                if self._position[user] < 0:
                    return None
                last = max(last, self._position[user])
                if self._passes[user] and user not in known:
                    known.add(user)
                    waiting.append(user)
        return last
