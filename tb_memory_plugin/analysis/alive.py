"""What is alive at a moment: a mask over lives, not a replay.

Lives are in order of birth, and most are short: of those born long before a moment few are left. So
the last death of every block of them is kept, and blocks in which all have died are not looked at.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.device_tables import SEGMENT_ACTIONS
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording

#: Lives that have their last death told together.
BLOCK = 256
#: Where more than this part of the blocks has a life left, all lives are looked at.
_DENSE = 0.2


def alive_rows(recording: Recording, device: Device, event: int) -> IntArray:
    """The rows, within the device's allocations, alive after ``event`` (-1: before the first)."""
    birth = recording.values("allocations", "birth", device)
    death = recording.values("allocations", "death", device)
    born = int(np.searchsorted(birth, event, side="right"))  # births are in order
    return outliving(death[:born], event, latest_deaths(recording, device))


def latest_deaths(recording: Recording, device: Device, table: str = "allocations") -> IntArray:
    """The last death of every ``BLOCK`` lives of ``table``."""

    def work() -> IntArray:
        return latest(recording.values(table, "death", device))

    return memo(recording, ("latest_deaths", device.index, table), work)


def latest(death: IntArray) -> IntArray:
    """The largest of every ``BLOCK`` values."""
    if not len(death):
        return death
    found: IntArray = np.maximum.reduceat(death, np.arange(0, len(death), BLOCK))
    return found


def outliving(death: IntArray, event: int, block_latest: IntArray) -> IntArray:
    """The rows of ``death`` whose value is above ``event``, in order.

    ``block_latest`` is :func:`latest` of ``death`` or of what it is the beginning of.
    """
    blocks = -(-len(death) // BLOCK)
    left = np.flatnonzero(block_latest[:blocks] > event)
    if len(left) > _DENSE * blocks:
        return np.flatnonzero(death > event)
    rows = (left[:, np.newaxis] * BLOCK + np.arange(BLOCK)).ravel()
    rows = rows[: np.searchsorted(rows, len(death))]
    found: IntArray = rows[death[rows] > event]
    return found


def bytes_column(recording: Recording) -> str:
    """The column of ``allocations`` that holds bytes in the recording's basis."""
    return "requested" if recording.meta["basis"] == "requested" else "size"


def bytes_of(recording: Recording, device: Device) -> IntArray:
    """The bytes of every allocation of a device, in the recording's basis."""
    return recording.values("allocations", bytes_column(recording), device)


def sums_only(recording: Recording, device: Device) -> IntArray:
    """The rows, within the device's allocations, that stand for nobody knows how many blocks.

    Of what was alive before the window and is never freed in it, traces and XPlanes have the sum
    and no blocks: one row without an address. (Where there is no history at all, every row is what
    the source lists.)
    """
    return memo(recording, ("sums_only", device.index), lambda: _sums_only(recording, device))


def _sums_only(recording: Recording, device: Device) -> IntArray:
    history, rows = recording.rows("events", device), recording.rows("allocations", device)
    birth = recording.values("allocations", "birth", device)
    older = int(np.searchsorted(birth, 0)) if history.stop > history.start else 0
    address = recording.table("allocations").column("address").slice(rows.start, older)
    if not address.null_count:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(~arrays.valid(pa.table([address], ["address"]), "address"))


def addresses_known(recording: Recording) -> bool:
    """Whether addresses are the source's own; where it has none they are made up."""
    return all(each["what"] != "addresses" for each in recording.meta["missing"])


def reserved_known(recording: Recording, device: Device) -> bool:
    """Whether the recording knows what is reserved on ``device``."""
    column = recording.table("usage").column("reserved")
    return bool(not column.null_count or column[recording.rows("usage", device).start].is_valid)


def segments_known(recording: Recording, device: Device) -> bool:
    """Whether the recording tells of any segment of ``device``, now or ever.

    A history that only unmaps what cannot be followed does, though no segment has a life.
    """
    rows = recording.rows("segment_lives", device)
    if rows.stop > rows.start:
        return True
    actions = recording.values("events", "action", device)
    return memo(
        recording,
        ("segments_known", device.index),
        lambda: bool(np.isin(actions, SEGMENT_ACTIONS).any()),
    )


def peak_row(recording: Recording, device: Device) -> int:
    """The row, within the device's usage, where allocated first is at its highest."""
    return memo(
        recording,
        ("peak_row", device.index),
        lambda: int(recording.values("usage", "allocated", device).argmax()),
    )
