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
    """The spans right inside of one, in the order in which they are drawn."""
    rows = np.flatnonzero(recording.values("span_places", "outer") == span)
    order = np.argsort(recording.values("span_places", "place")[rows])
    return rows[order]
