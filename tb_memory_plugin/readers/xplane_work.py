"""What ran on the devices of an XPlane: kernels, copies and XLA's operations, as columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.readers import xplane_events as decoded
from tb_memory_plugin.readers.xplane_async import pairs, pairs_of_kinds
from tb_memory_plugin.readers.xplane_details import WITHOUT, Details, Said, shortened, stat
from tb_memory_plugin.readers.xplane_events import Line, Table
from tb_memory_plugin.readers.xplane_lines import called, ends, times
from tb_memory_plugin.readers.xplane_ties import COLUMNS, Ties
from tb_memory_plugin.readers.xplane_wire import Plane
from tb_memory_plugin.readers.xplane_words import mapped, word
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.vocabulary import Vocabulary

KINDS = ["kernel", "copy"]
KERNEL, COPY = range(2)
_STREAM = b"Stream #"
_ASYNC = b"Async XLA Ops"
#: Lines of cores (xplane_schema.cc). A GPU has them too, made of what its streams have.
_OPERATIONS = (b"XLA Ops", _ASYNC, b"Sparse Core Ops", b"Host Offload Ops")
#: Events of streams that are no work: how long memory was held, and calls of the driver.
_NO_WORK = (b"MemoryResidency_details", b"memalloc_details", b"MemFree_details")
_KNOWN = {**decoded.TRACED, **dict.fromkeys(_NO_WORK, ("no_work", decoded.INTEGER))}
#: What CUPTI and ROCm call copies.
_COPIED = re.compile(r"(Mem(cpy|set)|Copy(Host|Device)To|FillBuffer)")


@dataclass(frozen=True)
class Part:
    """What ran on lines of one device, a row each; texts are codes."""

    device: IntArray
    track: IntArray
    kind: IntArray
    name: IntArray
    detail: IntArray
    begin: IntArray
    end: IntArray


class Work:
    """What ran on all devices of a file, in its order.

    ``devices``, ``tracks`` and ``names`` are words; ``ties`` and ``pairs`` (of what starts and is
    done) are of rows by their number.
    """

    def __init__(self, details: Details) -> None:
        self.devices, self.tracks, self.names = Vocabulary(), Vocabulary(), Vocabulary()
        self.ties = Ties()
        self.parts: list[Part] = []
        self.count = self.left_out = 0
        self._details = details
        self._pairs: list[tuple[IntArray, IntArray]] = []

    def add(
        self, plane: Plane, lines: Sequence[Line], device: str, module_begins: Sequence[int]
    ) -> None:
        """Take in the ``lines`` of a device, whose modules began then. Raises Malformed."""
        lines = _with_work(lines)
        if not lines:
            return
        others = self._details.others()
        names = (*COLUMNS, "no_work")
        wanted = decoded.wish(names, plane.stat_names, known=_KNOWN, others=others, without=WITHOUT)
        says = _Said(plane)
        number = self._details.plane(plane.stat_names, says.about)
        runs = np.sort(np.array(module_begins, dtype=np.int64))
        for part in decoded.batches(lines, wanted):
            table, of = decoded.table(part, wanted, {})
            begin = times(part, table, of)
            chosen = np.flatnonzero(~table.seen("no_work"))
            if len(chosen) < len(table):
                table.columns = table.columns[:, chosen]
                of, begin = of[chosen], begin[chosen]
            if not len(table):
                continue
            kind = table.column("kind")
            detail = self._details.codes(number, says.known(kind), table.column("others"), others)
            is_async = np.array([_ASYNC in (line.name, line.display_name) for line in part])[of]
            tracks = [self.tracks.code(f"{device} {called(line)}") for line in part]
            self.parts.append(
                Part(
                    np.full(len(table), self.devices.code(device), dtype=np.int16),
                    np.array(tracks, dtype=np.int32)[of],
                    says.kinds(kind, is_async),
                    mapped(kind, lambda key: self.names.code(says.name(key))).astype(np.int32),
                    detail,
                    begin,
                    ends(table, begin),
                )
            )
            self.ties.add(table, self.count)
            run = np.searchsorted(runs, begin, side="right")
            self._add_pairs(says, np.where(is_async, -1, kind), table, of, run)
            self.count += len(table)

    def _add_pairs(
        self, says: _Said, kind: IntArray, table: Table, of: IntArray, run: IntArray
    ) -> None:
        if says.pairs:
            for line in np.unique(of).tolist():
                rows = np.flatnonzero(of == line)
                begun, done = pairs(says.pairs, kind[rows], table.column("offset")[rows], run[rows])
                self._pairs.append((rows[begun] + self.count, rows[done] + self.count))

    def pairs(self, place: IntArray) -> tuple[IntArray, IntArray]:
        """Starts and what is done, as their places in ``place``; without those at -1."""
        none = np.zeros(0, dtype=np.int64)
        begun = place[np.concatenate([none, *(pair[0] for pair in self._pairs)])]
        done = place[np.concatenate([none, *(pair[1] for pair in self._pairs)])]
        kept = (begun >= 0) & (done >= 0)
        return begun[kept], done[kept]

    def column(self, name: str) -> IntArray:
        """A column of all parts."""
        found: IntArray = np.concatenate(
            [np.zeros(0, dtype=np.int64), *(getattr(part, name) for part in self.parts)]
        )
        return found


class _Said:
    """What a plane says of kinds of events: HLO instructions, kernels."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._told = np.array(sorted({*plane.shown_names, *plane.event_stats}), dtype=np.int64)
        self.pairs = pairs_of_kinds(plane.event_names, self._program)

    def name(self, kind: int) -> str:
        """What is shown: the short name, where there is one."""
        shown = self._plane.shown_names.get(kind) or self._plane.event_names.get(kind, b"")
        return word(shown) or "event"

    def known(self, kind: IntArray) -> IntArray:
        """Codes of the kinds of which something is said, -1 for others."""
        if not len(self._told):
            return np.full(len(kind), -1)
        place = np.minimum(np.searchsorted(self._told, kind), len(self._told) - 1)
        return np.where(self._told[place] == kind, place, -1)

    def about(self, code: int) -> Said:
        """What is said of a kind, by its code."""
        return self._about(int(self._told[code]))

    def _about(self, kind: int) -> Said:
        """Its long name, and its stats."""
        said: Said = {}
        if kind in self._plane.shown_names:
            said["long_name"] = shortened(word(self._plane.event_names.get(kind, b"")))
        for each in self._plane.event_stats.get(kind, ()):
            said.update(stat(each, self._plane.stat_names))
        return said

    def kinds(self, kind: IntArray, is_async: IntArray) -> IntArray:
        """Which are copies: by name on streams, on lines of what is asynchronous by category."""
        by_name = mapped(kind, lambda key: int(_COPIED.match(self.name(key)) is not None))
        if not is_async.any():
            return by_name.astype(np.int8)
        by_category = mapped(kind, self._copies)
        return np.where(is_async, by_category, by_name).astype(np.int8)

    def _copies(self, kind: int) -> int:
        category = self._about(kind).get("hlo_category", self.name(kind))
        return int(str(category).removeprefix("async-").startswith("copy"))

    def _program(self, kind: int) -> object:
        return self._about(kind).get("program_id")


def _with_work(lines: Sequence[Line]) -> list[Line]:
    """The lines of streams; of a device without any, those of operations."""
    streams = [line for line in lines if (line.display_name or line.name).startswith(_STREAM)]
    return streams or [line for line in lines if {line.name, line.display_name} & {*_OPERATIONS}]
