"""Which group all that a call weighs is of, where that is one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame import Places, places_count
from tb_memory_plugin.analysis.flame_rows import Rows
from tb_memory_plugin.analysis.flame_tree import Calls
from tb_memory_plugin.analysis.grouping import group_ids
from tb_memory_plugin.analysis.ranking import ranking
from tb_memory_plugin.recording.recording import Device, Recording

#: What is of several groups, or weighs nothing.
SEVERAL = -1
_NOTHING = -2


def common_bands(
    recording: Recording,
    device: Device,
    tree: Calls,
    grouping: tuple[str, str, int],
    parts: Iterator[Rows],
) -> IntArray:
    """The band of every stretch of ``tree`` that all its allocations among ``parts`` are of.

    Bands are those of ``ranking``, as are ``by``, ``pattern`` and ``top`` of ``grouping``;
    ``SEVERAL`` where it is not one.
    """
    by, pattern, top = grouping
    ranked = ranking(recording, device, by, pattern, top)
    ids = group_ids(recording, device, by, pattern).ids
    places_of = Places(recording, device)
    last = np.full(places_count(recording), _NOTHING, dtype=np.int32)
    several = np.zeros(len(last), dtype=bool)
    for rows in parts:
        places, band = places_of(rows), ranked.band[ids[rows]]
        before = last[places]
        several[places[(before != band) & (before != _NOTHING)]] = True
        last[places] = band  # one of them, where they differ: the others are not it
        several[places[last[places] != band]] = True
    order = tree.stretches.order
    return _common(tree, last[order], several[order])


def _common(tree: Calls, band: IntArray, several: IntArray) -> IntArray:
    """What the stacks of every stretch have in common: a band of each, and whether it has more."""
    of = tree.stretches
    weighing = band != _NOTHING
    before = np.append(0, np.cumsum(weighing))
    band, alike = band[weighing], ~several[weighing]
    if not len(band):
        return np.full(len(of.first), SEVERAL, dtype=np.int32)
    parts = np.append(True, (band[1:] != band[:-1]) | ~alike[1:] | ~alike[:-1])
    part = np.cumsum(parts)
    begin, end = before[of.first], before[of.stop]
    some = end > begin
    first, last = np.where(some, begin, 0), np.where(some, end - 1, 0)
    is_one = some & alike[first] & (part[first] == part[last])
    return np.where(is_one, band[first], np.int32(SEVERAL))
