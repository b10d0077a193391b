"""Arrows of a Kineto trace between its spans: as flow events tell them, and correlations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.kineto_flows import FINISH, START, Flows, is_forward
from tb_memory_plugin.readers.kineto_placed import PlacedWork
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.nesting import Nested

KINDS = ("launch", "forward_backward", "async", "collective")
_LAUNCH, _FORWARD_BACKWARD, _ASYNC, _COLLECTIVE = range(len(KINDS))


@dataclass(frozen=True)
class Arrows:
    """Rows of spans, those of the program before those of work, and places in KINDS.

    ``lost`` more lead to or from no span that is there.
    """

    source: IntArray
    target: IntArray
    kind: IntArray
    lost: int = 0


_NONE = Arrows(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int8))


def links(told: Arrows, known: Arrows, collective: IntArray) -> pa.Table:
    """The table ``links``: what flows told and what else is ``known``, each once, in order.

    Where flows told what launched something, what else is known of that is left out. The launch of
    what is ``collective``, a boolean by row, is a link of that kind.
    """
    launched = np.zeros(int(max(told.target.max(initial=0), known.target.max(initial=0))) + 1, bool)
    launched[told.target[told.kind == _LAUNCH]] = True
    more = ~launched[known.target]
    source, target, kind = (
        np.concatenate([getattr(told, name), getattr(known, name)[more]])
        for name in ("source", "target", "kind")
    )
    kind[(kind == _LAUNCH) & collective[target]] = _COLLECTIVE
    order = np.lexsort((kind, target, source))
    source, target, kind = source[order], target[order], kind[order]
    again = (np.diff(source) == 0) & (np.diff(target) == 0) & (np.diff(kind) == 0)
    once = np.append(True, ~again)[: len(source)]
    columns = {"source": source[once], "target": target[once]}
    return builder.table("links", {**columns, "kind": arrays.text(kind[once], KINDS)})


def correlated(work: PlacedWork, before: int) -> Arrows:
    """From every call to what it had a device do, by correlation; ``before`` are other spans."""
    calls = work.calls()
    order = np.argsort(work.correlation[:calls], kind="stable")
    call = work.correlation[:calls][order]
    target = calls + np.flatnonzero(work.correlation[calls:])
    wanted = work.correlation[target]
    place = np.searchsorted(call, wanted, side="right") - 1
    is_found = place >= 0
    is_found[is_found] = call[place[is_found]] == wanted[is_found]
    source, target = order[place[is_found]], target[is_found]
    return Arrows(
        (source + before).astype(np.int32),
        (target + before).astype(np.int32),
        np.full(len(source), _LAUNCH, dtype=np.int8),
    )


def backward(source: IntArray, target: IntArray) -> Arrows:
    """From operators to their backwards, rows of the program."""
    return Arrows(source, target, np.full(len(source), _FORWARD_BACKWARD, dtype=np.int8))


def joined(*parts: Arrows) -> Arrows:
    """All arrows of ``parts``."""
    source, target, kind = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("source", "target", "kind")
    )
    return Arrows(source, target, kind, sum(part.lost for part in parts))


def told(flows: Flows, program: Nested, op: IntArray, work: PlacedWork) -> Arrows:
    """The arrows of flow events. Takes the columns of ``flows``.

    ``op`` is of every row of ``program`` the operator that it is or is inside of; last is -1.
    """
    before = np.int32(len(program.begin))
    phase, category, arrow = (flows.take(name) for name in ("phase", "category", "arrow"))
    track, time = flows.take("track"), flows.take("time")
    end = _ends(phase, track, time, work.rows_of(flows.take("row")), program, work)
    words = flows.categories.words
    forward = np.flatnonzero(np.array([*map(is_forward, words), False])[category])
    end[forward] = op[program.enclosing(track[forward], time[forward])]
    del track
    parts = [_NONE]
    for code, word in enumerate(words):
        rows: Any = slice(None) if len(words) == 1 else np.flatnonzero(category == code)
        source, target = (end[rows][at] for at in _pairs(phase[rows], arrow[rows], time[rows]))
        if is_forward(word):
            kind = np.full(len(source), _FORWARD_BACKWARD, dtype=np.int8)
        else:
            devices = before + work.calls()
            launches = (source < devices) & (target >= devices)
            kind = np.where(launches, _LAUNCH, _ASYNC).astype(np.int8)
        parts.append(Arrows(source, target, kind))
    found = joined(*parts)
    is_there = (found.source >= 0) & (found.target >= 0)
    kept = is_there & (found.source != found.target)
    lost = int((~is_there).sum())
    return Arrows(found.source[kept], found.target[kept], found.kind[kept], lost)


def _pairs(phase: IntArray, arrow: IntArray, time: IntArray) -> tuple[IntArray, IntArray]:
    """Of flow events of one category those that follow another of their arrow, each after that one.

    What is followed is the last that begins or goes on before; where clocks differ and none does,
    the first of the arrow. What has no beginning (devices' own calls have none) follows nothing.
    """
    leads = np.flatnonzero(phase != FINISH).astype(np.int32)
    leads = leads[np.argsort(arrow[leads], kind="stable")]
    if (np.diff(arrow[leads]) == 0).any():
        leads = leads[np.lexsort((phase[leads], time[leads], arrow[leads]))]
    known = arrow[leads]
    follows = np.flatnonzero(phase != START).astype(np.int32)
    low = np.searchsorted(known, arrow[follows]).astype(np.int32)
    high = np.searchsorted(known, arrow[follows], side="right").astype(np.int32)
    follows, low, high = (each[high > low] for each in (follows, low, high))
    place = low.copy()
    rest = np.flatnonzero(high - low > 1)
    if len(rest):
        place[rest] = _before(time[leads], low[rest], high[rest], time[follows[rest]])
    source = leads[place]
    own = np.flatnonzero(source == follows)  # one that goes on is not its own beginning
    source[own] = leads[np.maximum(place[own] - 1, low[own])]
    other = source != follows
    return source[other], follows[other]


def _before(at: IntArray, low: IntArray, high: IntArray, time: IntArray) -> IntArray:
    """The last place in ``low`` … ``high`` - 1 at which ``at`` is not after ``time``, else low."""
    low, high = low.copy(), high.copy()
    while (high - low > 1).any():
        middle = (low + high) // 2
        is_before = at[np.minimum(middle, len(at) - 1)] <= time
        is_open = high - low > 1
        low = np.where(is_open & is_before, middle, low)
        high = np.where(is_open & ~is_before, middle, high)
    return low


def _ends(
    phase: IntArray,
    track: IntArray,
    time: IntArray,
    row: IntArray,
    program: Nested,
    work: PlacedWork,
) -> IntArray:
    """The span that every end is at: ``row`` of work, or what is around its time, -1 for none."""
    before = np.int32(len(program.begin))
    end: IntArray = np.where(row >= 0, row + before, np.int32(-1))
    rest = np.flatnonzero(row < 0)
    track, time = track[rest], time[rest]
    at = program.enclosing(track, time)
    call = work.within(program, at, track, time, ended=False)
    host = np.where(call >= 0, call + before, at)
    on_device = work.nested.enclosing(track + work.tracks, time)
    device = np.where(on_device >= 0, on_device + before, np.int32(-1))
    is_start = phase[rest] == START
    first, other = np.where(is_start, host, device), np.where(is_start, device, host)
    end[rest] = np.where(first >= 0, first, other)
    return end
