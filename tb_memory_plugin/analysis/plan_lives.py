"""The lives of plans as allocations of a recording: their order, their ids, and who makes them."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.columns import picked
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording


def in_order(recording: Recording) -> IntArray:
    """The rows of ``buffer_lives`` that hold memory, by plan, birth and place.

    An allocation's id is its place in there.
    """
    return memo(recording, ("plan_lives", "order"), lambda: _in_order(recording))


def ids(recording: Recording) -> IntArray:
    """For every row of ``buffer_lives`` the id of its allocation; -1 of what holds no memory."""
    return memo(recording, ("plan_lives", "ids"), lambda: _ids(recording))


def made_by(recording: Recording, instruction: int, most: int) -> list[int]:
    """The ids of the first ``most`` allocations that a row of ``instructions`` makes."""
    order, makers = memo(recording, ("plan_lives", "makers"), lambda: _makers(recording))
    begin, end = np.searchsorted(makers, [instruction, instruction + 1])
    found: list[int] = order[begin : min(end, begin + most)].tolist()
    return found


def _in_order(recording: Recording) -> IntArray:
    rows = np.flatnonzero(arrays.truths(recording.table("buffer_lives"), "holds"))
    plan, birth, place = (
        recording.values("buffer_lives", name)[rows] for name in ("plan", "birth", "offset")
    )
    found: IntArray = rows[np.lexsort((place, birth, plan))]
    return found


def _ids(recording: Recording) -> IntArray:
    order = in_order(recording)
    found = np.full(len(recording.table("buffer_lives")), -1, dtype=np.int64)
    found[order] = np.arange(len(order))
    return found


def _makers(recording: Recording) -> tuple[IntArray, IntArray]:
    """Ids by the instruction that makes them, and those instructions, in order."""
    buffer = recording.values("buffer_lives", "buffer")[in_order(recording)]
    made = picked(recording.values("buffers", "instruction"), buffer)
    order = np.argsort(made, kind="stable")
    return order, made[order]
