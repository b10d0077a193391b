"""Sources that may be of one process: which of two is the snapshot, and what speaks against it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.store.discovery import Found
from tb_memory_plugin.store.keys import Stat
from tb_memory_plugin.store.sessions import Place
from tb_memory_plugin.store.source import Pair, Source

_ID = re.compile(r"([0-9a-f]{16})([0-9a-f]{16})([0-9a-f]{16})?")
_BITS = 64
#: Which part a source of a format can have. What is in one of our own only reading tells.
_SNAPSHOT, _TRACE = "snapshot", "trace"
_PARTS: dict[str, set[str]] = {
    "torch_snapshot": {_SNAPSHOT},
    "kineto_trace": {_TRACE},
    "torch_profiler": {_TRACE},
    "xplane": {_TRACE},
    "native": {_SNAPSHOT, _TRACE},
}
#: ns that a trace can be shifted by: farther off no window has both.
MOST_SHIFT = 10**18
#: ns by which clocks that show the time since 1970 may be wrong.
_WRONG = 24 * 3600 * 10**9


def id_of(pair: Pair) -> str:
    """The id of a pair as a source: all that it is, so that a link holds."""
    shift = "" if pair.shift is None else f"{pair.shift % (1 << _BITS):016x}"
    return f"{pair.snapshot}{pair.trace}{shift}"


def pair_of(id: str) -> Pair | None:
    """The pair that an id is of; None if it is of a single source, or of none."""
    parts = _ID.fullmatch(id)
    if parts is None:
        return None
    shift = None if parts[3] is None else int(parts[3], 16)
    if shift is not None and shift >> (_BITS - 1):
        shift -= 1 << _BITS
    if shift is not None and abs(shift) > MOST_SHIFT:
        return None
    return Pair(parts[1], parts[2], shift)


def found_as_one(pair: Pair, snapshot: Found, trace: Found) -> Found:
    """A pair as a source: where the snapshot is, and as new as the newer of both."""
    return replace(
        snapshot,
        id=id_of(pair),
        name=f"{snapshot.name} + {trace.name}",
        stat=stat_of(snapshot.stat, trace.stat),
        address="",
        fault=snapshot.fault or trace.fault,
        live=snapshot.live or trace.live,
        is_file=snapshot.is_file and trace.is_file,
        uploaded=snapshot.uploaded or trace.uploaded,
        rank=trace.rank if snapshot.rank is None else snapshot.rank,
    )


def stat_of(snapshot: Stat, trace: Stat) -> Stat:
    """What tells one content of both from another."""
    newer = max(snapshot.modified_ns, trace.modified_ns)
    return Stat(snapshot.size + trace.size, newer)


@dataclass(frozen=True)
class _Known:
    """What is known of the process that a source is of; None: it is not."""

    facts: Mapping[str, Any]
    window: tuple[int, int] | None  # ns since 1970


def can_be(snapshot: Source, trace: Source) -> bool:
    """Whether two sources can be a pair, as far as their formats tell."""
    parts, others = _parts(snapshot), _parts(trace)
    return snapshot is not trace and _SNAPSHOT in parts and _TRACE in others


def together(one: Source, other: Source) -> Pair | None:
    """Two sources as a pair, if one can be the snapshot and only the other one the trace."""
    forth, back = can_be(one, other), can_be(other, one)
    if forth == back:
        return None
    snapshot, trace = (one, other) if forth else (other, one)
    return Pair(snapshot.found.id, trace.found.id)


def is_about(pair: Pair, source: Source) -> bool:
    """Whether a source is part of a pair, or is that pair, whatever the shift."""
    if source.pair is not None:
        return source.pair.ids == pair.ids
    return source.found.id in pair.ids


def proposed(
    source: Source,
    asked: Source | None,
    sources: Mapping[str, Source],
    places: Mapping[str, Place],
) -> list[Pair]:
    """The pairs that a source may be of, in order of how far apart both were written.

    The first is that with ``asked``. Raises QueryError where these two cannot be one.
    """
    if source.pair is not None:
        return [source.pair]
    found = list(_candidates(source, sources.values(), places))
    if asked is not None and not any(is_about(pair, asked) for pair in found):
        named = together(source, asked) if asked.pair is None else asked.pair
        named = named if named is not None and source.found.id in named.ids else None
        if named is None:
            raise QueryError(
                "These two cannot be a pair: one must be a snapshot of an allocator, the other a "
                "trace of a profiler."
            )
        found.append(named)

    def order(pair: Pair) -> tuple[bool, int]:
        one, other = (sources[id].found.stat.modified_ns for id in pair.ids)
        return asked is None or not is_about(pair, asked), abs(one - other)

    return sorted(found, key=order)


def _candidates(
    source: Source, others: Iterable[Source], places: Mapping[str, Place]
) -> Iterator[Pair]:
    """Pairs with others of the source's run, folder or session."""
    known = _known(source, places)
    for other in others:
        if other.pair is None and _beside(source, other, places):
            pair = together(source, other)
            if pair is not None and not _contradict(known, _known(other, places)):
                yield pair


def reading(both: Iterable[Source]) -> dict[str, Any]:
    """``state``, ``fraction``, ``error`` and ``match`` of a pair that is not read as a whole."""
    unread = {"state": "unread", "fraction": 0.0, "error": None, "match": None}
    rows = [source.row() for source in both if source.ready is None]
    error = next((row["error"] for row in rows if row["error"]), None)
    jobs = [source.job for source in both if source.job is not None]
    if jobs:
        done = sum(source.ready is not None for source in both)
        fraction = (done + sum(job.fraction for job in jobs)) / (done + len(jobs))
        return {**unread, "state": "reading", "fraction": fraction}
    return {**unread, "state": "error", "error": error} if error else unread


def _parts(source: Source) -> set[str]:
    if source.ready is None:
        return _PARTS.get(source.found.format, set())
    about = source.ready.entry.about
    if "pair" in about["summary"].get("meta", {}):
        return set()
    return _PARTS.get(about["format"], set())


def _beside(one: Source, other: Source, places: Mapping[str, Place]) -> bool:
    left, right = one.found, other.found
    if (left.root, left.run) == (right.root, right.run):
        return True
    if left.root == right.root and left.way[:-1] == right.way[:-1]:
        return True
    at = [places.get(found.id) for found in (left, right)]
    return all(at) and len({place.session.key for place in at if place}) == 1


def _known(source: Source, places: Mapping[str, Place]) -> _Known:
    place = places.get(source.found.id)
    rank = source.found.rank if place is None or place.rank is None else place.rank
    if source.ready is None:
        return _Known({"rank": rank}, None)
    summary = source.ready.entry.about["summary"]
    meta = summary["meta"]
    facts = {name: meta.get(name) for name in ("host", "pid", "rank")}
    if facts["rank"] is None:
        facts["rank"] = rank
    return _Known(facts, _window(summary, meta))


def _window(summary: Mapping[str, Any], meta: Mapping[str, Any]) -> tuple[int, int] | None:
    origin = summary["time_origin_ns"]
    timed = [one for one in summary["devices"] if one["begin_time"] is not None]
    if origin is None or meta.get("clock") != "unix" or not timed:
        return None
    begin = min(one["begin_time"] for one in timed)
    return origin + begin, origin + max(one["end_time"] for one in timed)


def _contradict(one: _Known, other: _Known) -> bool:
    for name, value in one.facts.items():
        told = other.facts.get(name)
        if value is not None and told is not None and value != told:
            return True
    if one.window is None or other.window is None:
        return False
    begin, end = max(one.window[0], other.window[0]), min(one.window[1], other.window[1])
    return begin - end > _WRONG
