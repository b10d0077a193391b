"""Spans of a name taken together: how often they ran, how long, and what memory did in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.trace.tracks import lanes_of
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording

_MEMORY = ("births", "frees", "allocated", "freed")
_OWN = tuple(f"self_{name}" for name in _MEMORY)
_SUMS = (*_MEMORY, *_OWN)
#: Spans that are added up at a time: numpy's copies of them are little memory then.
_PART = 1 << 18


@dataclass(frozen=True)
class SpanSums:
    """One element a name: of the spans of one kind (or of any) that begin in a window.

    ``kind`` and ``name`` are codes of ``spans``, ``first`` the row of the first of them. What is
    inside of a span of the same kind and name is counted once, in ``time`` too; the ``self``
    numbers are of what is in no span of the same kind inside. ``peak`` is the highest of all.
    """

    kind: IntArray
    name: IntArray
    first: IntArray
    calls: IntArray
    time: IntArray
    births: IntArray
    frees: IntArray
    allocated: IntArray
    freed: IntArray
    self_births: IntArray
    self_frees: IntArray
    self_allocated: IntArray
    self_freed: IntArray
    peak: IntArray

    @property
    def net(self) -> IntArray:
        """Bytes allocated less bytes freed."""
        return self.allocated - self.freed

    @property
    def self_net(self) -> IntArray:
        """The same of what is in no span of the same kind inside."""
        return self.self_allocated - self.self_freed


@dataclass(frozen=True)
class Choice:
    """Which spans: of a ``kind`` ('' is any), that begin in a window, on some of the tracks.

    None is no bound, and all tracks.
    """

    kind: str = ""
    begin: int | None = None
    end: int | None = None
    tracks: tuple[int, ...] | None = None


def span_sums(recording: Recording, device: Device, of: Choice) -> SpanSums:
    """The sums of the chosen spans by kind and name, worked out once. Raises QueryError."""
    key = ("span_sums", device.index, of)
    return memo(recording, key, lambda: _sums(recording, device, of))


def chosen(recording: Recording, of: Choice) -> Iterator[IntArray]:
    """The rows of ``spans`` of a choice, a part at a time, lane by lane in order of time.

    Raises QueryError for an unknown kind or track.
    """
    kind = _kind(recording, of)
    kinds, span = recording.values("spans", "kind"), recording.values("span_order", "span")
    begins = recording.values("span_order", "begin")
    edges = [recording.values("span_lanes", name) for name in ("first", "stop")]
    for lane in lanes_of(recording, of.tracks).tolist():
        first, stop = (int(edge[lane]) for edge in edges)
        low, high = first, stop
        if of.begin is not None:
            low = first + int(np.searchsorted(begins[first:stop], of.begin))
        if of.end is not None:
            high = first + int(np.searchsorted(begins[first:stop], of.end))
        for at in range(low, high, _PART):
            rows = span[at : min(at + _PART, high)]
            yield rows if kind is None else rows[kinds[rows] == kind]


def passing(recording: Recording, of: Choice, rows: IntArray) -> IntArray:
    """Which of some ``rows`` of ``spans`` are of a choice. Raises as :func:`chosen`."""
    kind = _kind(recording, of)
    place = recording.values("span_places", "place")[rows]
    begin = recording.values("span_order", "begin")[place]
    found = np.ones(len(rows), dtype=bool)
    if kind is not None:
        found &= recording.values("spans", "kind")[rows] == kind
    if of.begin is not None:
        found &= begin >= of.begin
    if of.end is not None:
        found &= begin < of.end
    if of.tracks is not None:
        lane = np.searchsorted(recording.values("span_lanes", "first"), place, side="right") - 1
        wanted = np.zeros(recording.table("span_lanes").num_rows, dtype=bool)
        wanted[lanes_of(recording, of.tracks)] = True
        found &= wanted[lane]
    return found


def _kind(recording: Recording, of: Choice) -> int | None:
    if not of.kind:
        return None
    kinds = arrays.words(recording.table("spans"), "kind")
    if of.kind not in kinds:
        known = f"; there are {', '.join(kinds)}" if kinds else ""
        raise QueryError(f"There are no spans of kind {of.kind!r} in this recording{known}.")
    return kinds.index(of.kind)


def _sums(recording: Recording, device: Device, of: Choice) -> SpanSums:
    groups = _Groups(recording, of)
    count = groups.count
    calls, time = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    first = np.full(count, -1, dtype=np.int64)
    earliest = np.full(count, np.iinfo(np.int64).max, dtype=np.int64)
    place, again = recording.values("span_places", "place"), repeated(recording)
    begins, ends = (recording.values("span_order", column) for column in ("begin", "end"))
    for part in chosen(recording, of):
        group, begin = groups.of(part), begins[place[part]]
        calls += np.bincount(group, minlength=count)
        lasts = np.where(again[part], 0, ends[place[part]] - begin)
        time += exact.sum_by(group, lasts, count)
        # Of a name the first of a part: parts are in order of time.
        head = np.full(count, -1, dtype=np.int64)
        head[group[::-1]] = np.arange(len(group))[::-1]
        seen = np.flatnonzero(head >= 0)
        sooner = seen[begin[head[seen]] < earliest[seen]]
        earliest[sooner], first[sooner] = begin[head[sooner]], part[head[sooner]]
    kind, name = (recording.values("spans", column)[first] for column in ("kind", "name"))
    memory = _memory(recording, device, of, groups)
    return SpanSums(kind=kind, name=name, first=first, calls=calls, time=time, **memory)


class _Groups:
    """The kinds and names that some spans have, and the place in ``count`` of them of each span."""

    def __init__(self, recording: Recording, of: Choice) -> None:
        self._kind, self._name = (recording.values("spans", each) for each in ("kind", "name"))
        self._names = len(arrays.dictionary(recording.table("spans"), "name")) + 1
        kinds = len(arrays.words(recording.table("spans"), "kind")) + 1
        seen = np.zeros(kinds * self._names, dtype=bool)
        for part in chosen(recording, of):
            seen[self._keys(part)] = True
        found = np.flatnonzero(seen)
        self.count = len(found)
        self._group = np.zeros(len(seen), dtype=np.int32)
        self._group[found] = np.arange(self.count)

    def _keys(self, rows: IntArray) -> IntArray:
        keys: IntArray = (self._kind[rows].astype(np.int64) + 1) * self._names
        return keys + self._name[rows] + 1

    def of(self, rows: IntArray) -> IntArray:
        """The group of each of some spans."""
        return self._group[self._keys(rows)]


def repeated(recording: Recording) -> IntArray:
    """Of every span whether it is inside of one of the same kind and name."""
    return arrays.truths(recording.table("span_places"), "again")


def _memory(
    recording: Recording, device: Device, of: Choice, groups: _Groups
) -> dict[str, IntArray]:
    span = recording.values("span_memory", "span", device)
    columns = {name: recording.values("span_memory", name, device) for name in (*_SUMS, "peak")}
    again = repeated(recording)
    sums = {name: np.zeros(groups.count, dtype=np.int64) for name in columns}
    for begin in range(0, len(span), _PART):
        at = slice(begin, begin + _PART)
        chosen_ones = np.flatnonzero(passing(recording, of, span[at]))
        own = span[at][chosen_ones]
        group, once = groups.of(own), np.flatnonzero(~again[own])
        for name, column in columns.items():
            values = column[at][chosen_ones]
            if name == "peak":
                np.maximum.at(sums[name], group, values)
            elif name in _OWN:
                sums[name] += exact.sum_by(group, values, groups.count)
            else:
                sums[name] += exact.sum_by(group[once], values[once], groups.count)
    return sums
