"""The pools and streams of a state, with what their segments add up to."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.places import Place
from tb_memory_plugin.analysis.segment_state import Segments, SegmentState
from tb_memory_plugin.recording.recording import Recording

REST_KEY = "…rest"
_SUMS = ("reserved", "used", "requested", "pending", "free", "segments", "blocks")


def groups_of(recording: Recording, state: SegmentState) -> tuple[list[dict[str, Any]], IntArray]:
    """Sums of every pool and stream, in order, and which of these each segment is in."""
    segments = state.segments
    count = len(segments.size)
    if not count:
        return [], np.zeros(0, dtype=np.int64)
    new = (np.diff(segments.pool) != 0) | (segments.stream[1:] != segments.stream[:-1])
    first = np.append(0, np.flatnonzero(new) + 1)
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, count)))
    sums = {
        "reserved": np.add.reduceat(segments.size, first),
        "used": np.add.reduceat(segments.used, first),
        "requested": np.add.reduceat(segments.requested, first),
        "pending": np.add.reduceat(segments.pending, first),
        "free": np.add.reduceat(segments.free, first),
        "largest_free": np.maximum.reduceat(segments.largest_free, first),
        "segments": np.diff(np.append(first, count)),
        "blocks": np.add.reduceat(segments.blocks, first),
    }
    found = []
    for number, row in enumerate(first.tolist()):
        place = place_of(recording, segments, row)
        numbers = {name: int(values[number]) for name, values in sums.items()}
        found.append({"key": place.key, "label": place.label, **numbers})
    return found, group


def place_of(recording: Recording, segments: Segments, row: int) -> Place:
    """The pool and the stream of a segment."""
    pool = int(segments.pool[row])
    known = tuple(map(int, recording.meta["pools"][pool])) if pool >= 0 else None
    return Place((known[0], known[1]) if known else None, int(segments.stream[row]))


def largest_groups(
    groups: list[dict[str, Any]], group: IntArray, most: int
) -> tuple[list[dict[str, Any]], IntArray]:
    """At most ``most`` groups: what reserves least is one, the last, whose sums are exact.

    ``group`` is the group of every segment; the one among those returned comes back with them.
    """
    if len(groups) <= most:
        return groups, group
    by_size = np.argsort([-each["reserved"] for each in groups], kind="stable")
    kept = np.sort(by_size[: most - 1])
    number = np.full(len(groups), len(kept), dtype=np.int64)
    number[kept] = np.arange(len(kept))
    smaller = [groups[place] for place in by_size[most - 1 :].tolist()]
    rest = {
        "key": REST_KEY,
        "label": f"{len(smaller):,} smaller pools and streams".replace(",", " "),
        **{name: sum(each[name] for each in smaller) for name in _SUMS},
        "largest_free": max(each["largest_free"] for each in smaller),
    }
    return [*(groups[place] for place in kept.tolist()), rest], number[group]
