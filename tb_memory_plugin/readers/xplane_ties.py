"""Ids by which events of an XPlane say which others they go with, and the links they make.

Launches of a GPU's work have the work's ``correlation_id``; what hands something over is the
producer of an id (``_p``, of a type ``_pt``) of which others are consumers (``_c``, ``_ct``), on
other threads or on a TPU (xla/tsl/profiler/utils/group_events.cc). Older profiles of TPUs have the
``run_id`` of a module only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.readers.nsys_database import combinations
from tb_memory_plugin.readers.xplane_events import Table
from tb_memory_plugin.recording.arrays import IntArray

KINDS = ["launch", "async", "collective"]
LAUNCH, ASYNC, COLLECTIVE = range(3)
#: What is read of events for their ties.
COLUMNS = (
    *("producer", "producer_type", "consumer", "consumer_type"),
    *("correlation", "run", "ordinal"),
)
MOST_LINKS = 2_000_000
#: An id with as many on both sides says nothing: XProf leaves it out too.
_MOST_ON_BOTH_SIDES = 64


@dataclass(frozen=True)
class Ends:
    """Rows that say an id: one a value, ids in two columns."""

    row: IntArray
    first: IntArray
    second: IntArray

    def at(self, chosen: IntArray) -> Ends:
        """Some of them."""
        return Ends(self.row[chosen], self.first[chosen], self.second[chosen])


class Ties:
    """What rows say of the ids that they produce, consume, launch, or are launched with."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Ends]] = {}

    def add(self, table: Table, first: int, *, run: IntArray | None = None) -> None:
        """Take in the rows of ``table``, which are ``first`` and those after it.

        ``run`` is which of them tell by ``run_id`` what they launch, or are.
        """
        for name in ("producer", "consumer"):
            said = table.seen(name) & table.seen(f"{name}_type")
            self._add(name, first, said, table.column(f"{name}_type"), table.column(name))
        nothing = np.zeros(len(table), dtype=np.int64)
        self._add(
            "correlation", first, table.seen("correlation"), table.column("correlation"), nothing
        )
        if run is not None:
            said = run & table.seen("run")
            self._add("run", first, said, table.column("ordinal"), table.column("run"))

    def _add(self, name: str, first: int, said: IntArray, one: IntArray, two: IntArray) -> None:
        rows = np.flatnonzero(said)
        if len(rows):
            self._parts.setdefault(name, []).append(Ends(rows + first, one[rows], two[rows]))

    def ends(self, name: str, place: IntArray) -> Ends:
        """The rows that say an id of a kind, as their places in ``place``; without those at -1."""
        parts = self._parts.get(name, [])
        none = [Ends(*np.zeros((3, 0), dtype=np.int64))]
        columns = [
            np.concatenate([getattr(part, column) for part in none + parts])
            for column in ("row", "first", "second")
        ]
        found = Ends(place[columns[0]], columns[1], columns[2])
        return found.at(np.flatnonzero(found.row >= 0))


@dataclass(frozen=True)
class Links:
    """Rows of the table ``links``; ``left_out`` there was no room for."""

    source: IntArray
    target: IntArray
    kind: IntArray
    left_out: int


def links(
    host: Sequence[tuple[Ties, IntArray]],
    device: Sequence[tuple[Ties, IntArray]],
    pairs: tuple[IntArray, IntArray],
    begin: IntArray,
) -> Links:
    """The links of all ties, each with the rows of spans that its own rows are (-1: not kept).

    ``pairs`` are starts and ends of what runs asynchronously on devices. What began, on the one
    clock of all threads, before what it should come from does not: ids are used again.
    """
    found = [(*pairs, 0, ASYNC)]
    found.append((*_paired(_all("correlation", host), _all("correlation", device)), LAUNCH))
    for sources in (host, device):
        for targets in (host, device):
            source, target, many = _paired(_all("producer", sources), _all("consumer", targets))
            if sources is targets:
                kept = (begin[source] <= begin[target]) & (source != target)
                source, target = source[kept], target[kept]
            launched = sources is host and targets is device
            found.append((source, target, many, LAUNCH if launched else ASYNC))
    runs = _all("run", device)
    runs = runs.at(np.flatnonzero(~np.isin(runs.row, _all("consumer", device).row)))
    found.append((*_paired(_all("run", host), runs), LAUNCH))
    source, target = (np.concatenate([part[side] for part in found]) for side in (0, 1))
    kind = np.repeat([part[3] for part in found], [len(part[0]) for part in found])
    left_out = sum(part[2] for part in found) + max(len(source) - MOST_LINKS, 0)
    source, target, kind = source[:MOST_LINKS], target[:MOST_LINKS], kind[:MOST_LINKS]
    order = np.lexsort((target, source))
    return Links(source[order], target[order], kind[order], left_out)


def _all(name: str, ties: Sequence[tuple[Ties, IntArray]]) -> Ends:
    parts = [each.ends(name, place) for each, place in ties]
    return Ends(
        np.concatenate([part.row for part in parts]),
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.second for part in parts]),
    )


def _paired(sources: Ends, targets: Ends) -> tuple[IntArray, IntArray, int]:
    """All pairs of a source and a target with the same ids, but for ids that too many have.

    Last is how many pairs are left out because there are too many.
    """
    count = len(sources.row)
    _, code = combinations(
        np.concatenate([sources.first, targets.first]),
        np.concatenate([sources.second, targets.second]),
    )
    order = np.argsort(code[:count], kind="stable")
    own, asked = code[:count][order], code[count:]
    begin, end = np.searchsorted(own, asked, "left"), np.searchsorted(own, asked, "right")
    many = end - begin
    alike = np.bincount(asked, minlength=1)[asked]
    many[(many >= _MOST_ON_BOTH_SIDES) & (alike >= _MOST_ON_BOTH_SIDES)] = 0
    wanted = int(many.sum())
    many[np.cumsum(many) > MOST_LINKS] = 0
    target = np.repeat(np.arange(len(asked)), many)
    place = np.arange(len(target)) - np.repeat(np.cumsum(many) - many, many) + begin[target]
    return sources.row[order[place]], targets.row[target], wanted - len(target)
