"""The allocations alive at an instant, added up by group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import alive_rows, bytes_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.grouping import Groups
from tb_memory_plugin.recording.recording import Device, Recording


@dataclass(frozen=True)
class Breakdown:
    """One element a group that is alive, largest first; all bytes in the recording's basis."""

    group: IntArray  # ids of the groups
    bytes: IntArray
    count: IntArray
    largest: IntArray  # bytes of the largest allocation
    oldest: IntArray  # row, within the device's allocations, of the first to be born


def breakdown(
    recording: Recording,
    device: Device,
    event: int,
    groups: Groups,
    wanted: IntArray | None = None,
) -> Breakdown:
    """What is alive after ``event`` by group, exactly; of the allocations ``wanted`` (a mask)."""
    rows = alive_rows(recording, device, event)
    if wanted is not None:
        rows = rows[wanted[rows]]
    ids, amount = groups.ids[rows], bytes_of(recording, device)[rows]
    distinct, place = np.unique(ids, return_inverse=True)
    sums = exact.sum_by(place, amount, len(distinct))
    largest = np.zeros(len(distinct), dtype=np.int64)
    np.maximum.at(largest, place, amount)
    oldest = np.full(len(distinct), np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(oldest, place, rows)  # rows are in the order of birth
    count = np.bincount(place, minlength=len(distinct))
    order = np.lexsort((distinct, -sums))
    return Breakdown(distinct[order], sums[order], count[order], largest[order], oldest[order])
