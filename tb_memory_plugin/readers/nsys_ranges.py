"""Ranges of NVTX in an export of Nsight Systems: steps, operators and annotations."""

from __future__ import annotations

import re

import numpy as np

from tb_memory_plugin.readers.checked import Malformed, text
from tb_memory_plugin.readers.nsys_database import Database, combinations, enumeration, strings
from tb_memory_plugin.readers.nsys_events import TID_BITS
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.nesting import Nested, nested

RANGES = "NVTX_EVENTS"
#: Types of events that are ranges, as exports number them; the first two nest on their thread.
_TYPES = {
    59: "nvtxpushpoprange",
    70: "nvtxtpushpoprange",
    60: "nvtxstartendrange",
    71: "nvtxtstartendrange",
}
#: ``step 12``, ``Iteration #3``, ``ProfilerStep#7``.
_STEP = re.compile(
    r"(?:profiler|train(?:ing)?[ _]?)?(?:step|iteration|iter|batch)[ _#:=]*(\d{1,9})", re.IGNORECASE
)
#: What ``torch.autograd.profiler.emit_nvtx`` makes of an operator.
_OP = re.compile(r"(\w+::\w+)(?:, (?:seq|op_id|sizes|input_op_ids) ?=.*)?", re.DOTALL)
KINDS = ["annotation", "op", "step"]
_ANNOTATION, OP, STEP = range(3)
_LATEST = 1 << 62


class Ranges:
    """The ranges, nested on their threads.

    Attributes:
        nested: their order and nesting; the attributes below are in that order.
        kind, name, step: codes of what they are and are called, and numbers of steps, -1 for none.
        names: words of ``name``.
        open: which have no end.
        thread: the global thread id of every track.
        stacked: which tracks hold ranges that enclose what their thread does meanwhile.
    """

    def __init__(self, database: Database) -> None:
        rows = database.columns(
            RANGES, (), ("start", "end", "eventType", "textId", "globalTid"), ("text",)
        )
        types = enumeration(database, "ENUM_NSYS_EVENT_TYPE", "name", _TYPES)
        ranges = [number for number, word in types.items() if word in _TYPES.values()]
        pushed = [number for number in ranges if "pushpop" in types[number]]
        chosen = np.flatnonzero(np.isin(rows["eventType"], ranges))
        begin, end = rows["start"][chosen], rows["end"][chosen]
        if len(begin) and max(abs(int(begin.min())), int(begin.max()), int(end.max())) > _LATEST:
            raise Malformed("has time stamps that are none")
        unended = end < begin
        end = np.where(unended, max(int(end.max(initial=0)), int(begin.max(initial=0))), end)
        stacked = np.isin(rows["eventType"][chosen], pushed)
        thread = rows["globalTid"][chosen]
        # Ranges that a thread starts may end on another, and overlap: a track of its process'.
        thread = np.where(stacked, thread, thread >> TID_BITS << TID_BITS)
        tracks, track = combinations(thread, stacked)
        self.thread, self.stacked = tracks[:, 0], tracks[:, 1] != 0
        self.nested: Nested = nested(track, begin, end)
        order = self.nested.order
        self.track = track[order]
        self.open = unended[order]
        raw, texts = _texts(database, rows.codes["text"], rows.words["text"], rows["textId"])
        self._classify([texts[each] for each in raw[chosen][order].tolist()])

    def _classify(self, texts: list[str]) -> None:
        known: dict[str, tuple[int, int, int]] = {}
        words: dict[str, int] = {}
        for each in dict.fromkeys(texts):
            step, op = _STEP.fullmatch(each.strip()), _OP.fullmatch(each)
            kind = STEP if step else OP if op else _ANNOTATION
            name = text(op[1] if op else each)
            number = int(step[1]) if step else -1
            known[each] = (kind, words.setdefault(name, len(words)), number)
        found = np.array([known[each] for each in texts], dtype=np.int64).reshape(-1, 3)
        self.kind, self.name, self.step = found.T
        self.names = list(words)

    def around(self, thread: IntArray, time: IntArray) -> IntArray:
        """The innermost range of its thread (-1 for an unknown one) at every time, -1 for none."""
        known = {
            number: track
            for track, number in enumerate(self.thread.tolist())
            if self.stacked[track]
        }
        track = np.array([known.get(each, -1) for each in thread.tolist()], dtype=np.int64)
        found = np.full(len(time), -1, dtype=np.int64)
        there = np.flatnonzero(track >= 0)
        found[there] = self.nested.enclosing(track[there], time[there])
        return found

    def chain(self, row: int) -> list[int]:
        """A range and those around it, innermost first."""
        found = []
        while row >= 0:
            found.append(row)
            row = int(self.nested.parent[row])
        return found


def pid_of_process(process: int) -> int:
    """The process id in a global id without its thread's part."""
    return process & 0xFF_FFFF


def _texts(
    database: Database, code: IntArray, words: list[str], number: IntArray
) -> tuple[IntArray, list[str]]:
    """Of every row a code of its text: its own, or that of its number; and the texts."""
    numbers, place = np.unique(number, return_inverse=True)
    known = strings(database, numbers.tolist())
    texts = [*words, *(known.get(each, "") for each in numbers.tolist())]
    return np.where(code >= 0, code, len(words) + place.reshape(-1)), texts
