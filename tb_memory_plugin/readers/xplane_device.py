"""The plane of a device: HLO modules, steps, and memory that its driver says is used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tb_memory_plugin.readers import xplane_events as decoded
from tb_memory_plugin.readers.xplane_events import Line, Table
from tb_memory_plugin.readers.xplane_lines import called, ends, times
from tb_memory_plugin.readers.xplane_ties import COLUMNS, Ties
from tb_memory_plugin.readers.xplane_wire import Plane
from tb_memory_plugin.readers.xplane_words import spelled, word
from tb_memory_plugin.recording.arrays import IntArray

_MODULES, _STEPS = b"XLA Modules", b"Steps"
_KERNELS = ("module", "program", "group", "residency", "bandwidth")
_NUMBER = re.compile(r"(?:.*\D)?(\d{1,18})", re.DOTALL)


@dataclass(frozen=True)
class Span:
    """Something a device did. Times are nanoseconds of the file; ``step`` -1 is none.

    ``device`` is the plane's name without ``/device:``, ``track`` the plane or one of its streams.
    """

    kind: str
    device: str
    track: str
    name: str
    begin: int
    end: int
    step: int = -1


@dataclass(frozen=True)
class Residency:
    """Memory that the driver gave: a text of its kind, size and address, and its life."""

    text: str
    begin: int
    end: int


@dataclass
class Found:
    """What a plane holds; ``bandwidth`` counts counters of the memory's bandwidth."""

    modules: list[Span] = field(default_factory=list)
    steps: list[Span] = field(default_factory=list)
    residencies: list[Residency] = field(default_factory=list)
    bandwidth: int = 0


def read(plane: Plane, lines: Sequence[Line], device: str, ties: Ties, count: int) -> Found:
    """What the ``lines`` of a plane hold. Raises Malformed.

    ``ties`` is told of the modules, which are rows from ``count`` on.
    """
    found = Found()
    modules = [line for line in lines if _MODULES in (line.name, line.display_name)]
    steps = [line for line in lines if _STEPS in (line.name, line.display_name)]
    known = {decoded.STATS[name][0] for name in plane.stat_names.values() if name in decoded.STATS}
    for line in modules:
        table, begin, end = _events(plane, line, COLUMNS, known=decoded.TRACED)
        number = device.rpartition(":")[2]
        table.column("ordinal")[:] = int(number) if number.isdecimal() and len(number) < 10 else -1
        first = count + len(found.modules)
        ties.add(table, first, run=np.ones(len(table), dtype=bool))
        for kind, first, last in _rows(table.column("kind"), begin, end):
            name = word(plane.event_names.get(kind, b"")) or "module"
            found.modules.append(Span("hlo_module", device, device, name, first, last))
    for line in steps:
        found.steps += _steps(plane, line, device)
    if {"residency", "bandwidth"} & known or ("module" in known and not modules):
        for line in lines:
            if line not in modules and line not in steps:
                _add_kernels(found, plane, line, device, merges=not modules)
    return found


def _events(
    plane: Plane,
    line: Line,
    names: tuple[str, ...],
    texts: dict[bytes, int] | None = None,
    known: Mapping[bytes, tuple[str, int]] = decoded.STATS,
) -> tuple[Table, IntArray, IntArray]:
    wanted = decoded.wish(names, plane.stat_names, known=known)
    table, of = decoded.table([line], wanted, {} if texts is None else texts)
    begin = times([line], table, of)
    return table, begin, ends(table, begin)


def _rows(*columns: IntArray) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _steps(plane: Plane, line: Line, device: str) -> list[Span]:
    """The steps of a line: the group that each says it is of, or the number that it is called."""
    table, begin, end = _events(plane, line, ("group",))
    group = np.where(table.seen("group"), table.column("group"), -1)
    found = []
    for kind, first, last, step in _rows(table.column("kind"), begin, end, group):
        name = word(plane.event_names.get(kind, b""))
        number = _NUMBER.fullmatch(name)
        if step < 0 and number is not None:
            step = int(number[1])
        if step >= 0:
            found.append(Span("step", device, device, name or "step", first, last, step))
    return found


def _add_kernels(found: Found, plane: Plane, line: Line, device: str, *, merges: bool) -> None:
    texts: dict[bytes, int] = {}
    table, begin, end = _events(plane, line, _KERNELS, texts)
    known = list(texts)
    found.bandwidth += int(table.seen("bandwidth").sum())
    held = np.flatnonzero(table.seen("residency"))
    for code, first, last in _rows(table.column("residency")[held], begin[held], end[held]):
        said = spelled(code, known, plane.stat_names)
        found.residencies.append(Residency(said, first, last))
    if merges:
        track = f"{device} {called(line)}"
        for row, first, last in _merged(table, begin, end):
            name = spelled(int(table.column("module")[row]), known, plane.stat_names)
            if table.seen("program")[row]:
                name = f"{name}({int(table.column('program')[row])})"
            found.modules.append(Span("hlo_module", device, track, name, first, last))


def _merged(table: Table, begin: IntArray, end: IntArray) -> list[tuple[int, ...]]:
    """Kernels of one module and step that follow each other: a row, and when the first began
    and the last ended.
    """
    rows = np.flatnonzero(table.seen("module"))
    rows = rows[np.argsort(begin[rows], kind="stable")]
    if not len(rows):
        return []
    differs = np.zeros(len(rows), dtype=bool)
    differs[0] = True
    for name in ("module", "program", "group"):
        differs[1:] |= np.diff(table.column(name)[rows]) != 0
    first = np.flatnonzero(differs)
    return _rows(rows[first], begin[rows[first]], np.maximum.reduceat(end[rows], first))
