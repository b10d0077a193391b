"""What is mapped in each column of a picture by address, and how large the blocks in it are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import latest_deaths
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import ipc
from tb_memory_plugin.views.tile import extents
from tb_memory_plugin.views.tile.seen import seen

#: Mapped ranges, each for as many columns as it stays, that an answer has.
MOST_MAPPED = 3_000

_U16, _I64 = pa.uint16(), pa.int64()


@dataclass(frozen=True)
class Mapped:
    """Ranges of the picture that are mapped in the columns ``first`` … ``last``.

    ``left`` more, ``left_bytes`` together, are too many to be told; they are the smallest areas.
    """

    first: IntArray
    last: IntArray
    offset: IntArray  # bytes from the bottom of the picture
    size: IntArray
    left: int
    left_bytes: int


def mapped(
    recording: Recording, device: Device, event: IntArray, own: slice, low: int, high: int
) -> Mapped:
    """What of ``low`` … ``high`` is mapped after the events ``event[own]``.

    Ranges that touch and stay for the same columns are told as one.
    """
    birth, death, size = (
        recording.values("segment_lives", name, device) for name in ("birth", "death", "size")
    )
    latest = latest_deaths(recording, device, "segment_lives")
    here = seen(birth, death, event, latest).between(own.start, own.stop - 1)
    address = recording.values("segment_lives", "address", device)[here.row]
    offset, size = extents.place_of(recording, device, address), size[here.row]
    inside = (offset < high) & (offset + size > low) & (size > 0)
    first, last, offset, size = _joined(
        *(each[inside] for each in (here.first, here.last, address, offset, size))
    )
    if len(first) <= MOST_MAPPED:
        return Mapped(first, last, offset, size, 0, 0)
    order = np.argpartition(-size.astype(np.float64) * (last - first + 1), MOST_MAPPED)
    kept, others = np.sort(order[:MOST_MAPPED]), order[MOST_MAPPED:]
    left_bytes = exact.total(size[others])
    return Mapped(first[kept], last[kept], offset[kept], size[kept], len(others), left_bytes)


def streams(ranges: Mapped, tall: IntArray) -> bytes:
    """The streams that ``GET tile`` has beside the others by address: ``mapped`` and ``blocks``.

    ``tall`` are the bytes of the block of every row.
    """
    return ipc.joined(
        [
            ipc.stream(
                {
                    "first": arrays.column(ranges.first, _U16),
                    "last": arrays.column(ranges.last, _U16),
                    "offset": arrays.column(ranges.offset, _I64),
                    "size": arrays.column(ranges.size, _I64),
                }
            ),
            ipc.stream({"size": arrays.column(tall, _I64)}),
        ]
    )


def _joined(
    first: IntArray, last: IntArray, address: IntArray, offset: IntArray, size: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Neighbours in the address space (not in the picture alone) made one."""
    if not len(first):
        return first, last, offset, size
    order = np.lexsort((address, last, first))
    first, last, offset, size = (each[order] for each in (first, last, offset, size))
    meets = (np.diff(first) == 0) & (np.diff(last) == 0)
    meets &= np.diff(address[order]) == size[:-1].astype(np.uint64)
    begin = np.flatnonzero(np.append(True, ~meets))
    end = np.append(begin[1:], len(first)) - 1
    return first[begin], last[begin], offset[begin], offset[end] + size[end] - offset[begin]
