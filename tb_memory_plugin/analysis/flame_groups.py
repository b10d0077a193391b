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


def bands(
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
    order = tree.stretches.order
    least = np.full(places_count(recording), ranked.bands, dtype=np.int32)
    most = np.full(len(least), -1, dtype=np.int32)
    for rows in parts:
        places, band = places_of(rows), ranked.band[ids[rows]].astype(np.int32)
        np.minimum.at(least, places, band)
        np.maximum.at(most, places, band)
    return _common(tree, least[order], most[order])


def _common(tree: Calls, least: IntArray, most: IntArray) -> IntArray:
    """What the stacks of every stretch have in common, of the least and the most of each."""
    of = tree.stretches
    weighing = most >= 0
    before = np.append(0, np.cumsum(weighing))
    least, most = least[weighing], most[weighing]
    if not len(least):
        return np.full(len(of.first), SEVERAL, dtype=np.int32)
    alike = least == most
    parts = np.append(True, (least[1:] != least[:-1]) | ~alike[1:] | ~alike[:-1])
    part = np.cumsum(parts)
    begin, end = before[of.first], before[of.stop]
    some = end > begin
    first, last = np.where(some, begin, 0), np.where(some, end - 1, 0)
    is_one = some & alike[first] & (part[first] == part[last])
    return np.where(is_one, least[first], np.int32(SEVERAL))
