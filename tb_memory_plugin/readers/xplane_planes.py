"""Planes of an XSpace, made into rows of allocator events, steps and HLO modules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tb_memory_plugin.readers import xplane_events as decoded
from tb_memory_plugin.readers.checked import Malformed, text
from tb_memory_plugin.readers.xplane_events import COLUMNS
from tb_memory_plugin.recording.arrays import IntArray

HOST = b"/host:CPU"
DEVICE = "/device:"
_MODULES = b"XLA Modules"
_ALLOCATION, _DEALLOCATION = b"MemoryAllocation", b"MemoryDeallocation"
_TEXTS = ("device", "op", "region", "shape")
_LATEST = 1 << 62  # nanoseconds: no time stamp is as late
_SPARSE = 4


class Vocabulary:
    """Words and their codes, in order of appearance."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}

    def code(self, word: str) -> int:
        """The code of ``word``, -1 of none at all."""
        return self.codes.setdefault(word, len(self.codes)) if word else -1

    @property
    def words(self) -> list[str]:
        """The words, by code."""
        return list(self.codes)


@dataclass(frozen=True)
class Span:
    """Something the program did. Times are nanoseconds of the file; ``step`` -1 is none."""

    kind: str
    track: str
    name: str
    begin: int
    end: int
    step: int = -1


class Planes:
    """What the planes of a file hold of memory, in the order of the file."""

    def __init__(self) -> None:
        self.words = {name: Vocabulary() for name in _TEXTS}
        self.spans: list[Span] = []
        #: Names of the device planes, without ``/device:``.
        self.devices: list[str] = []
        self.has_host = False
        self._tables: list[IntArray] = []
        self._births: list[IntArray] = []
        self._times: list[IntArray] = []
        self._lines: list[int] = []

    def add(self, plane: Any) -> None:
        """Take in a plane. Raises Malformed."""
        if plane.name == HOST:
            self.has_host = True
            self._add_host(plane)
        elif word(plane.name).startswith(DEVICE):
            self.devices.append(word(plane.name).removeprefix(DEVICE))
            self._add_modules(plane)

    def events(self) -> Events | None:
        """All allocator events, one line after the other; None where there are none.

        They are given away, not kept: there may be many.
        """
        if not self._tables:
            return None
        counts = [len(times) for times in self._times]
        tables, self._tables = self._tables, []
        table = np.concatenate(tables) if len(tables) > 1 else tables[0]
        del tables
        return Events(
            # Column after column: from here on it is columns that are looked at.
            table=np.asfortranarray(table),
            born=np.concatenate(self._births),
            time=np.concatenate(self._times),
            line=np.repeat(np.array(self._lines, dtype=np.int64), counts),
        )

    def _add_host(self, plane: Any) -> None:
        names = {entry.key: entry.value.name for entry in plane.event_metadata}
        stat_names = {entry.key: entry.value.name for entry in plane.stat_metadata}
        born = [key for key, name in names.items() if name == _ALLOCATION]
        freed = [key for key, name in names.items() if name == _DEALLOCATION]
        wanted, stats = [*born, *freed], decoded.stats_of(stat_names.items())
        texts: dict[bytes, int] = {}
        tables = []
        for place, line in enumerate(plane.lines):
            found = decoded.rows(list(line.events), stats, wanted, texts)
            is_memory = np.isin(found[:, 0], wanted)
            steps = found[~is_memory]
            for row, time in zip(steps.tolist(), _times(line, steps).tolist(), strict=True):
                name = word(names.get(row[0], b"")) or "step"
                self.spans.append(_span("step", _called(line), name, time, row, _number(row)))
            if is_memory.any():
                table = found[is_memory]
                tables.append(table)
                self._births.append(np.isin(table[:, 0], born))
                self._times.append(_times(line, table))
                self._lines.append(place)
        if tables:
            whole = np.concatenate(tables)
            self._spell(whole, list(texts), stat_names)
            self._tables.append(whole)

    def _spell(self, table: IntArray, known: list[bytes], stat_names: dict[int, bytes]) -> None:
        """Put the codes of ``words`` into ``table`` for its texts."""
        for name in _TEXTS:
            words = self.words[name]

            def coded(code: int, words: Vocabulary = words) -> int:
                spelled = known[code] if code >= 0 else stat_names.get(-2 - code, b"")
                return words.code(word(spelled))

            codes = np.where(decoded.seen(table, name), decoded.column(table, name), -1)
            table[:, COLUMNS.index(name)] = mapped(codes, coded)

    def _add_modules(self, plane: Any) -> None:
        names = {entry.key: entry.value.name for entry in plane.event_metadata}
        no_stats = decoded.stats_of(())
        track = word(plane.name).removeprefix(DEVICE)
        for line in plane.lines:
            if _MODULES in (line.name, line.display_name):
                found = decoded.rows(list(line.events), no_stats, (), {}, every=True)
                for row, time in zip(found.tolist(), _times(line, found).tolist(), strict=True):
                    name = word(names.get(row[0], b"")) or "module"
                    self.spans.append(_span("hlo_module", track, name, time, row))


@dataclass(frozen=True)
class Events:
    """Allocator events: rows of ``xplane_events.COLUMNS``, texts being codes of ``words``.

    ``time`` is in nanoseconds of the file, on one base for all lines; ``line`` counts lines.
    """

    table: IntArray
    born: IntArray
    time: IntArray
    line: IntArray

    def column(self, name: str) -> IntArray:
        """A column; 0 where it is not said."""
        return decoded.column(self.table, name)

    def seen(self, name: str) -> IntArray:
        """Where a column is said."""
        return decoded.seen(self.table, name)

    def taken(self, rows: IntArray) -> Events:
        """These events in the order of ``rows``."""
        table = np.take(self.table.T, rows, axis=1).T
        return Events(table, self.born[rows], self.time[rows], self.line[rows])


def word(data: bytes) -> str:
    """Text of a file; what is not UTF-8 is spelled out."""
    return text(data.decode("utf-8", "backslashreplace"))


def mapped(codes: IntArray, change: Callable[[int], int]) -> IntArray:
    """``change`` of every code, asked once for each distinct one."""
    if not len(codes):
        return codes
    low, high = int(codes.min()), int(codes.max())
    if high - low < _SPARSE * len(codes) + 1024:
        distinct = np.flatnonzero(np.bincount(codes - low))
        places = codes - low
        changed: IntArray = np.zeros(high - low + 1, dtype=np.int64)
        changed[distinct] = [change(code + low) for code in distinct.tolist()]
    else:
        distinct, places = np.unique(codes, return_inverse=True)
        changed = np.array([change(code) for code in distinct.tolist()], dtype=np.int64)
    found: IntArray = changed[places]
    return found


def _times(line: Any, table: IntArray) -> IntArray:
    """When each row of a line was, in nanoseconds of the file: no other line's base is its own."""
    offset = table[:, 1] // 1000
    if len(offset):
        most = max(abs(int(offset.min())), abs(int(offset.max())), abs(line.timestamp_ns))
        if most >= _LATEST // 2:
            raise Malformed("has time stamps that are none")
    found: IntArray = offset + line.timestamp_ns
    return found


def _called(line: Any) -> str:
    return word(line.display_name or line.name) or "thread"


def _number(row: list[int]) -> int:
    return max(row[COLUMNS.index("step")], -1)


def _span(kind: str, track: str, name: str, time: int, row: list[int], step: int = -1) -> Span:
    """The span of a row that begins at ``time``; picoseconds are cut off both its ends."""
    length = row[1] % 1000 + max(row[2], 0)
    return Span(kind, track, name, time, time + length // 1000, step)
