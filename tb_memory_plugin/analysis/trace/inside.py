"""What is inside of a span: events of its own thread, and the spans around it and below."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.trace.around import around
from tb_memory_plugin.recording.recording import Device, Recording


def events_inside(
    recording: Recording, device: Device, span: int, first: int, stop: int
) -> IntArray:
    """Which of the events ``first`` … ``stop`` - 1 happened in ``span``, on its own thread."""
    at = around(recording, device)[first:stop]
    outer = recording.values("span_places", "outer")
    is_inside = np.zeros(len(outer) + 1, dtype=bool)  # and last of no span
    met = np.zeros(len(outer) + 1, dtype=bool)
    met[at] = True
    own = np.flatnonzero(met[:-1])
    reached = own
    while len(own):
        is_inside[own[reached == span]] = True
        reached = outer[reached]
        further = (reached >= 0) & ~is_inside[own]
        own, reached = own[further], reached[further]
    found: IntArray = is_inside[at]
    return found


def ancestors(recording: Recording, span: int) -> list[int]:
    """The spans that one is inside of, the outermost first."""
    outer = recording.values("span_places", "outer")
    found: list[int] = []
    at = int(outer[span])
    while at >= 0 and len(found) < len(outer):
        found.append(at)
        at = int(outer[at])
    return found[::-1]


def children(recording: Recording, span: int) -> IntArray:
    """The spans that are drawn right below one, within its time, in order."""
    place = int(recording.values("span_places", "place")[span])
    first = recording.values("span_lanes", "first")
    lane = int(np.searchsorted(first, place, side="right")) - 1
    track, depth = (recording.values("span_lanes", name) for name in ("track", "depth"))
    below = lane + 1
    if below == len(first) or track[below] != track[lane] or depth[below] != depth[lane] + 1:
        return np.zeros(0, dtype=np.int64)
    start, stop = int(first[below]), int(recording.values("span_lanes", "stop")[below])
    begins = recording.values("span_order", "begin")[start:stop]
    begin, end = (int(recording.values("span_order", name)[place]) for name in ("begin", "end"))
    low, high = (int(np.searchsorted(begins, edge)) for edge in (begin, end))
    rows: IntArray = recording.values("span_order", "span")[start + low : start + high]
    return rows
