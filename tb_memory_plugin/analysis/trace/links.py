"""What led to what: links between spans, found by either end."""

from __future__ import annotations

import bisect
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording


@dataclass(frozen=True)
class Link:
    """A link of a span: ``to`` another, or ``from`` it."""

    kind: str
    way: str
    span: int  # row of spans: the other


def links_of(recording: Recording, row: int) -> list[Link]:
    """The links of a span, those that led to it first, each in order of the other's row."""
    kinds = [*arrays.words(recording.table("links"), "kind"), ""]
    found = []
    for way, own, other in (("from", "target", "source"), ("to", "source", "target")):
        order = _order(recording, own)
        column = recording.values("links", own)
        low = int(np.searchsorted(column, row, "left", sorter=order))
        high = int(np.searchsorted(column, row, "right", sorter=order))
        at = order[low:high]
        spans = recording.values("links", other)[at]
        kind = recording.values("links", "kind")[at]
        links = sorted(zip(spans.tolist(), kind.tolist(), strict=True))
        found += [Link(kinds[code], way, span) for span, code in links if span >= 0]
    return found


def led_to(recording: Recording, spans: IntArray) -> tuple[IntArray, IntArray]:
    """What spans, or what is inside of them on their track, led to: spans and codes of kinds."""
    order = memo(recording, "links_by_track", lambda: _by_track(recording))
    source, target = (recording.values("links", end) for end in ("source", "target"))
    track, begin, end = (recording.values("spans", name) for name in ("track", "begin", "end"))

    def sooner(row: int) -> tuple[int, int]:
        return int(track[source[row]]), int(begin[source[row]])

    found = [order[:0]]
    for span in spans.tolist():
        of, start = int(track[span]), int(begin[span])
        stop = max(int(end[span]), start + 1)
        low, high = (
            bisect.bisect_left(order, edge, key=sooner) for edge in ((of, start), (of, stop))
        )
        found.append(order[low:high])
    rows = np.concatenate(found)
    rows = rows[target[rows] >= 0]
    return target[rows], recording.values("links", "kind")[rows]


def _by_track(recording: Recording) -> IntArray:
    """The rows of ``links`` in order of the track of their source and of its begin."""
    source = recording.values("links", "source")
    track, begin = (recording.values("spans", name)[source] for name in ("track", "begin"))
    order: IntArray = np.lexsort((begin, track)).astype(np.int32)
    return order[source[order] >= 0]


def _order(recording: Recording, end: str) -> IntArray:
    """The rows of ``links`` in order of one of their ends."""

    def work() -> IntArray:
        order: IntArray = np.argsort(recording.values("links", end), kind="stable")
        return order.astype(np.int32)

    return memo(recording, ("links", end), work)
