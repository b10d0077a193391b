"""Planes of an XSpace, made into allocator events, host operations, steps and HLO modules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.readers import xplane_device
from tb_memory_plugin.readers import xplane_events as decoded
from tb_memory_plugin.readers.xplane_details import WITHOUT, Details
from tb_memory_plugin.readers.xplane_device import Span
from tb_memory_plugin.readers.xplane_driver import Driver
from tb_memory_plugin.readers.xplane_events import Line, Table
from tb_memory_plugin.readers.xplane_lines import called, times
from tb_memory_plugin.readers.xplane_program import Program
from tb_memory_plugin.readers.xplane_ties import COLUMNS, Ties
from tb_memory_plugin.readers.xplane_wire import Plane
from tb_memory_plugin.readers.xplane_words import mapped, spelled, word
from tb_memory_plugin.readers.xplane_work import Work
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.vocabulary import Vocabulary

HOST = b"/host:CPU"
DEVICE = "/device:"
_ALLOCATION, _DEALLOCATION = b"MemoryAllocation", b"MemoryDeallocation"
_TEXTS = ("device", "op", "region", "shape")
#: What is read of an allocator's event.
MEMORY = (
    *("device", "stack", "allocated", "free", "fragmentation", "lifetime_peak", "requested"),
    *("size", "address", "op", "group", "region", "dtype", "shape"),
)


@dataclass
class Events:
    """Allocator events as columns, texts being codes of ``Planes.words``.

    ``time`` is in nanoseconds of the file, on one base for all lines; ``line`` is the track of
    ``Program`` that each is on, -1 for none.
    """

    table: Table
    born: IntArray
    time: IntArray
    line: IntArray

    def column(self, name: str) -> IntArray:
        """A column; 0 where it is not said."""
        return self.table.column(name)

    def seen(self, name: str) -> IntArray:
        """Where a column is said."""
        return self.table.seen(name)

    def reorder(self, rows: IntArray) -> None:
        """Bring the events into the order of ``rows``, column after column: there may be many."""
        for column in self.table.columns:
            column[:] = column[rows]
        self.born, self.time, self.line = self.born[rows], self.time[rows], self.line[rows]


class Planes:
    """What the planes of a file hold of memory, in the order of the file."""

    def __init__(self) -> None:
        self.words = {name: Vocabulary() for name in _TEXTS}
        self.details = Details()
        self.program = Program(self.details)
        self.work = Work(self.details)
        #: Of modules by their number.
        self.ties = Ties()
        self.links_left_out = 0
        self.driver = Driver()
        self.modules: list[Span] = []
        self.device_steps: list[Span] = []
        #: Names of the device planes, without ``/device:``.
        self.devices: list[str] = []
        self.has_host = False
        #: Whether events of allocators say which group of events, a step, they are of.
        self.has_groups = False
        self._events: list[Events] = []

    def add(self, plane: Plane, data: bytearray) -> None:
        """Take in a plane of ``data``. Raises Malformed."""
        name = word(plane.name)
        if plane.name == HOST:
            self.has_host = True
            self._add_host(plane, data)
        elif name.startswith(DEVICE):
            name = name.removeprefix(DEVICE)
            self.devices.append(name)
            lines = [Line(data, place, np.zeros(0, np.int64)) for place in plane.lines]
            found = xplane_device.read(plane, lines, name, self.ties, len(self.modules))
            self.work.add(plane, lines, name, [span.begin for span in found.modules])
            self.modules += found.modules
            self.device_steps += found.steps
            self.driver.add(name, found, plane)
        if plane.name.startswith(b"/host:"):
            self.driver.add_calls(plane, data)

    def events(self) -> Events | None:
        """All allocator events, one line after the other; None where there are none.

        They are given away, not kept: there may be many.
        """
        driven = self.driver.events(self.words, MEMORY)
        found, self._events = self._events, []
        if driven is not None:
            found.append(Events(*driven))
        return _joined(found)

    def begins(self) -> list[int]:
        """When the first operation of the host and of devices began, as far as there are any."""
        first = self.program.first()
        ran = [span.begin for span in (*self.modules, *self.steps())]
        ran += [int(part.begin.min()) for part in self.work.parts]
        return ran if first is None else [first, *ran]

    def steps(self) -> list[Span]:
        """The steps that devices tell of; none where the host does, which knows when memory was
        asked for: it runs ahead of its devices.
        """
        return [] if self.program.has_steps or self.has_groups else self.device_steps

    def _add_host(self, plane: Plane, data: bytearray) -> None:
        names, stat_names = plane.event_names, plane.stat_names
        born = [key for key, name in names.items() if name == _ALLOCATION]
        freed = [key for key, name in names.items() if name == _DEALLOCATION]
        wanted = decoded.wish(MEMORY, stat_names, [*born, *freed], listed=True)
        said = self.details.others()
        others = decoded.wish(
            ("step", *COLUMNS),
            stat_names,
            [*born, *freed],
            known=decoded.TRACED,
            others=said,
            without=WITHOUT,
        )
        lines = [Line(data, place, wanted.kinds) for place in plane.lines]
        texts: dict[bytes, int] = {}
        table, line = decoded.table(lines, wanted, texts)
        first = len(self.program.tracks)
        number = self.program.plane(stat_names)
        for part in decoded.batches(lines, others):
            rest, of = decoded.table(part, others, {})
            tracks, begin = [called(each) for each in part], times(part, rest, of)
            self.program.add(number, names, tracks, rest, of, begin, said)
        if len(table):
            self.has_groups |= bool(table.seen("group").any())
            self._spell(table, list(texts), stat_names)
            is_born = np.isin(table.column("kind"), born)
            time = times(lines, table, line)
            self._events.append(Events(table, is_born, time, line + np.int32(first)))

    def _spell(self, table: Table, known: list[bytes], stat_names: dict[int, bytes]) -> None:
        """Put the codes of ``words`` into ``table`` for its texts."""
        for name in _TEXTS:
            words = self.words[name]

            def coded(code: int, words: Vocabulary = words) -> int:
                return words.code(spelled(code, known, stat_names) or None)

            column = table.column(name)
            column[~table.seen(name)] = -1
            column[:] = mapped(column, coded)


def _joined(found: Sequence[Events]) -> Events | None:
    if len(found) < 2:
        return found[0] if found else None
    whole = Table(MEMORY, 0)
    whole.columns = np.concatenate([events.table.columns for events in found], axis=1)
    return Events(
        whole,
        np.concatenate([events.born for events in found]),
        np.concatenate([events.time for events in found]),
        np.concatenate([events.line for events in found]),
    )
