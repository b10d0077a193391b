"""Events of host threads that are not the allocator's, as spans and as what is around an instant.

There may be millions: they stay columns, and how many become spans is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.readers.xplane_calls import Calls
from tb_memory_plugin.readers.xplane_details import Details, Said
from tb_memory_plugin.readers.xplane_events import Others, Table
from tb_memory_plugin.readers.xplane_lines import ends
from tb_memory_plugin.readers.xplane_names import Named, named
from tb_memory_plugin.readers.xplane_ties import Ties
from tb_memory_plugin.readers.xplane_words import mapped
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.nesting import Nested, nested
from tb_memory_plugin.recording.vocabulary import Vocabulary

KINDS = ("step", "annotation", "op", "runtime", "python")
STEP, ANNOTATION, OP, RUNTIME, PYTHON, TWICE = range(6)
#: Operations that become spans, the longest, calls of Python last: more are never looked at one by
#: one.
MOST_SPANS = 1_000_000
_MAIN = ("python", "main")
_DISPATCHED = "PjitFunction("
#: What hands a module to a TPU, by the ``run_id`` that the module has.
_ENQUEUED = b"DoEnqueue"


@dataclass(frozen=True)
class Part:
    """The operations of one plane, a row each."""

    name: IntArray
    kind: IntArray
    track: IntArray
    begin: IntArray
    end: IntArray
    step: IntArray
    detail: IntArray


@dataclass(frozen=True)
class Spans:
    """Rows of the table ``spans``: integers by column, those of texts being codes of the lists.

    ``around`` is of every operation, and last of none, the row of the innermost span around it,
    itself included, -1 for none. ``place`` is of every operation, in the order in which they were
    taken in, the row of its span, -1 where it is none.
    """

    tracks: list[str]
    names: list[str]
    columns: dict[str, IntArray]
    around: IntArray
    place: IntArray


class Program:
    """What the threads of a host did.

    After ``settle`` rows are in the order of ``nested``: by track and time.
    """

    def __init__(self, details: Details) -> None:
        self.tracks: list[str] = []
        self.left_out = 0
        #: Of operations by their number in the order in which they were taken in.
        self.ties = Ties()
        self._details, self._types, self._count = details, Vocabulary(), 0
        #: By code the name of an operation and its type, which is nothing but for operators.
        self._named: dict[tuple[str, str], int] = {}
        self._parts: list[Part] = []

    def plane(self, stat_names: Mapping[int, bytes]) -> int:
        """A number for a plane with these names of stats."""

        def typed(code: int) -> Said:
            return {"type": self._types.words[code]}

        return self._details.plane(stat_names, typed)

    def add(
        self,
        plane: int,
        names: Mapping[int, bytes],
        tracks: Sequence[str],
        table: Table,
        line: IntArray,
        begin: IntArray,
        others: Others,
    ) -> None:
        """Take in the operations of the threads ``tracks``: ``line`` and ``begin`` are each's."""
        told: dict[int, Named] = {}

        def about(of: Callable[[Named], int]) -> Callable[[int], int]:
            def code(key: int) -> int:
                if key not in told:
                    told[key] = named(names.get(key, b""))
                return of(told[key])

            return code

        ids = table.column("kind")
        kind = mapped(ids, about(lambda found: KINDS.index(found.kind))).astype(np.int8)
        kind[table.seen("correlation")] = RUNTIME
        is_step = table.seen("step")
        kind[is_step] = STEP
        step = np.where(is_step, np.maximum(table.column("step"), -1), -1)
        main = np.array([name.startswith(_MAIN) for name in tracks], dtype=bool)
        main[line[(kind == STEP) | (kind == PYTHON)]] = True
        kind[(kind == ANNOTATION) & ~main[line]] = OP
        name = mapped(ids, about(self._code)).astype(np.int32)
        type_ = mapped(ids, about(lambda found: self._types.code(found.type or None)))
        detail = self._details.codes(plane, type_, table.column("others"), others)
        first = len(self.tracks)
        track, end = line + np.int32(first), ends(table, begin)
        self._parts.append(Part(name, kind, track, begin, end, step, detail))
        enqueued = [key for key, text in names.items() if text.startswith(_ENQUEUED)]
        self.ties.add(table, self._count, run=np.isin(ids, enqueued))
        self._count += len(table)
        self.tracks += tracks

    def _code(self, found: Named) -> int:
        return self._named.setdefault((found.name, found.type), len(self._named))

    def settle(self) -> None:
        """Nest what was taken in."""
        parts, self._parts = self._parts, []

        def joined(column: str, kind: str) -> IntArray:
            return np.concatenate([np.zeros(0, kind), *(getattr(part, column) for part in parts)])

        begin, end = joined("begin", "i8"), joined("end", "i8")
        self.nested: Nested = nested(joined("track", "i4"), begin, end)
        order = self.nested.order
        self.track = joined("track", "i4")[order]
        self.name, self.kind = joined("name", "i4")[order], joined("kind", "i1")[order]
        self.step, self.detail = joined("step", "i8")[order], joined("detail", "i4")[order]
        # What runs inside of the runtime is its own doing: programs annotate around it.
        named = np.flatnonzero(self.kind == ANNOTATION)
        theirs = (self.kind == OP) | (self.kind == RUNTIME)
        inside = self._closest(theirs)[self.nested.parent[named]] >= 0
        self.kind[named[inside]] = OP
        self._merge_twice_told()

    def _merge_twice_told(self) -> None:
        """Take a call of a function that JAX dispatched for one: it is written twice, nested."""
        called = [
            code for code, (name, _) in enumerate(self._named) if name.startswith(_DISPATCHED)
        ]
        row = np.flatnonzero(np.isin(self.name, called))
        outer = self.nested.parent[row]
        self.kind[row[(outer >= 0) & (self.name[outer] == self.name[row])]] = TWICE

    @property
    def has_steps(self) -> bool:
        """Whether a step is marked."""
        return bool((self.kind == STEP).any())

    def in_steps(self, time: IntArray) -> IntArray:
        """Which times are within a step that is marked, on whatever thread."""
        is_step = self.kind == STEP
        begin, end = self.nested.begin[is_step], self.nested.end[is_step]
        order = np.argsort(begin, kind="stable")
        latest = np.append(np.iinfo(np.int64).min, np.maximum.accumulate(end[order]))
        found: IntArray = latest[np.searchsorted(begin[order], time, side="right")] > time
        return found

    def first(self) -> int | None:
        """When the first of the spans begins."""
        shown = self.nested.begin[self.kind < TWICE]
        return int(shown.min()) if len(shown) else None

    def around(self, track: IntArray, time: IntArray) -> IntArray:
        """The row of the innermost operation on each track at each time, -1 for none."""
        return self.nested.enclosing(np.where(track < 0, len(self.tracks), track), time)

    def _closest(self, wanted: IntArray) -> IntArray:
        """Of every row the innermost around it, itself included, that is ``wanted``; -1 for none.

        The last one is of no row, -1. Twice as far outwards each time: they may be deep.
        """
        itself = np.arange(len(wanted))
        found: IntArray = np.append(np.where(wanted, itself, self.nested.parent), -1)
        while True:
            further = found[found]
            if np.array_equal(further, found):
                return found
            found = further

    def ops(self, rows: IntArray, words: Vocabulary) -> IntArray:
        """The innermost operator of TensorFlow, or function of JAX, around every row.

        As codes of ``words``, -1 for none.
        """
        named = list(self._named)
        wanted = [
            code for code, (name, kind) in enumerate(named) if kind or name.startswith(_DISPATCHED)
        ]
        found = self._closest(np.isin(self.name, wanted) & (self.kind == OP))[rows]
        codes = np.append(self.name, -1)[found]
        return mapped(codes, lambda code: words.code(named[code][0] or None) if code >= 0 else -1)

    def calls(self) -> Calls:
        """What makes stacks of rows: the calls of Python that each is inside of."""
        closest = self._closest(self.kind == PYTHON)
        names = [name for name, _ in self._named]
        return Calls(closest, closest[self.nested.parent], self.name, names)

    def spans(self) -> Spans:
        """All of them, in order of time."""
        shown = self.kind < TWICE
        if int(shown.sum()) > MOST_SPANS:
            shown = self._longest(shown)
        rows = np.flatnonzero(shown)
        rows = rows[np.argsort(self.nested.begin[rows], kind="stable")]
        place = np.full(len(shown) + 1, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows))
        around = place[self._closest(shown)]
        named, names = list(self._named), Vocabulary()
        name = mapped(self.name[rows], lambda code: names.code(_shown(named[code][0])))
        own = np.flatnonzero(self.kind == TWICE)
        place[own] = place[self.nested.parent[own]]
        taken_in = np.empty_like(place[:-1])
        taken_in[self.nested.order] = place[:-1]
        return Spans(
            _apart(self.tracks),
            names.words,
            {
                "track": self.track[rows],
                "kind": self.kind[rows],
                "name": name,
                "begin": self.nested.begin[rows],
                "end": self.nested.end[rows],
                "depth": self._depths(rows),
                "parent": around[self.nested.parent[rows]],
                "step": self.step[rows],
                "args": self.detail[rows],
            },
            around,
            taken_in,
        )

    def _longest(self, shown: IntArray) -> IntArray:
        rows = np.flatnonzero(shown)
        length = self.nested.end[rows] - self.nested.begin[rows]
        length[self.kind[rows] == STEP] = np.iinfo(np.int64).max
        order = np.lexsort((-length, self.kind[rows] == PYTHON))
        kept = np.zeros(len(shown), dtype=bool)
        kept[rows[order[:MOST_SPANS]]] = True
        self.left_out = len(rows) - MOST_SPANS
        return kept

    def _depths(self, rows: IntArray) -> IntArray:
        """How many spans of its own kind each of ``rows`` is inside of."""
        depth = np.zeros(len(self.kind), dtype=np.int32)
        for kind in (STEP, ANNOTATION, OP, RUNTIME, PYTHON):
            of_kind = self.kind == kind
            outer = self._closest(of_kind)[self.nested.parent]
            outer = np.append(np.where(of_kind, outer, -1), -1)
            inside = (outer >= 0).astype(np.int32)
            while (outer >= 0).any():
                inside += inside[outer]
                outer = outer[outer]
            depth += inside[:-1]
        found: IntArray = depth[rows]
        return found


def _shown(name: str) -> str | None:
    """A name without what marks calls of Python."""
    return name.removeprefix("$") or None


def _apart(names: Sequence[str]) -> list[str]:
    """Names of threads, numbered where several have the same."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found
