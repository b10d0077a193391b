"""What operators did to memory in a window: allocations, bytes, what they added and took away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import bytes_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.op_calls import calls
from tb_memory_plugin.analysis.op_owners import OpOwners, op_owners
from tb_memory_plugin.analysis.op_peaks import peaks
from tb_memory_plugin.analysis.op_stacks import OpStacks, op_stacks
from tb_memory_plugin.analysis.windows import EventWindow
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording

_PART = 1 << 16


@dataclass(frozen=True)
class OpSums:
    """One element an operator of ``OpStacks.names``, the last for what is of none.

    ``self_…`` is of the operator itself; the others, None where no stack tells what operators are
    inside of, also of what it was around, each allocation once. ``increase`` is bytes allocated
    less bytes freed. ``peak`` is the most bytes of the operator's own that were alive at once.
    ``frees`` counts what was freed; ``calls`` is None where nobody knows when operators ran, and -1
    of one that has no spans.
    """

    self_count: IntArray
    self_bytes: IntArray
    self_increase: IntArray
    count: IntArray | None
    bytes: IntArray | None
    increase: IntArray | None
    peak: IntArray
    frees: IntArray
    calls: IntArray | None


def op_sums(
    recording: Recording, device: Device, window: EventWindow, *, everything: bool = False
) -> OpSums:
    """The sums of the events of ``window``, exactly.

    A free is of the operator that it happened in where the source says where frees happened, else
    of the one that made the allocation. Self increases of all operators and of none add up to what
    is allocated after the window less what was before it. ``everything``: there is no window, and
    calls before the first event and after the last count too. Raises QueryError where sums do not
    fit 64 bits.
    """
    key = ("op_sums", device.index, window.first, window.stop, window.begin, window.end, everything)
    return memo(recording, key, lambda: _sums(recording, device, window, everything))


def _sums(recording: Recording, device: Device, window: EventWindow, everything: bool) -> OpSums:
    stacks, owners = op_stacks(recording), op_owners(recording, device)
    width = len(stacks.names) + 1
    birth = recording.values("allocations", "birth", device)
    death = recording.values("allocations", "death", device)
    amount = bytes_of(recording, device)
    first, stop = np.searchsorted(birth, (window.first, window.stop)).tolist()

    def born() -> Iterator[slice]:
        for begin in range(first, stop, _PART):
            yield slice(begin, min(begin + _PART, stop))

    def died() -> Iterator[IntArray]:
        for begin in range(0, stop, _PART):  # what is born after the window does not die in it
            ends = death[begin : min(begin + _PART, stop)]
            yield begin + np.flatnonzero((ends >= window.first) & (ends < window.stop))

    made, freed = (
        _tally(parts, owner, amount, width)
        for parts, owner in ((born(), owners.made), (died(), owners.freed))
    )
    inclusive = _Inclusive(stacks, owners, amount)
    around = around_freed = None
    if stacks.nested:
        stack = stacks.around_births(recording, device)
        death_stack = recording.values("allocations", "death_stack", device)
        ends = death[owners.beside]
        beside = owners.beside[(owners.beside >= first) & (owners.beside < stop)]
        around = inclusive.of(born(), stack, beside, made)
        gone = owners.beside[(ends >= window.first) & (ends < window.stop)]
        if owners.freed_where:
            stack, gone = death_stack, gone[:0]
        around_freed = inclusive.of(died(), stack, gone, freed)
    return OpSums(
        *made,
        made[1] - freed[1],
        None if around is None else around[0],
        None if around is None else around[1],
        None if around is None or around_freed is None else around[1] - around_freed[1],
        peaks(recording, device, window, owners.made, width),
        freed[0],
        calls(recording, stacks, window, everything=everything),
    )


@dataclass(frozen=True)
class _Inclusive:
    """Adds allocations up by every operator that they are inside of."""

    stacks: OpStacks
    owners: OpOwners
    amount: IntArray

    def of(
        self,
        parts: Iterator[slice] | Iterator[IntArray],
        stack: IntArray,
        beside: IntArray,
        own: tuple[IntArray, IntArray],
    ) -> tuple[IntArray, IntArray]:
        """Counts and bytes; ``beside`` of the rows have an operator that is not on their stack.

        What is of no operator (``own``) is inside of none.
        """
        stacks, width = self.stacks, len(self.stacks.names) + 1
        by_stack = _tally(parts, stack, self.amount, len(stacks.innermost), shift=1)
        extra = _tally(iter([beside]), self.owners.made, self.amount, width)
        found = []
        for of_stack, more, alone in zip(by_stack, extra, own, strict=True):
            sums = exact.sum_by(stacks.op, of_stack[1:][stacks.stack], width) + more
            sums[-1] = alone[-1]
            found.append(sums)
        return found[0], found[1]


def _tally(
    parts: Iterator[slice] | Iterator[IntArray],
    ids: IntArray,
    amount: IntArray,
    width: int,
    shift: int = 0,
) -> tuple[IntArray, IntArray]:
    """How many of the rows in ``parts`` have each of the ``ids`` (``shift`` added), and bytes."""
    count, total = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    for rows in parts:
        own = ids[rows] + shift if shift else ids[rows]
        count += np.bincount(own, minlength=width)
        try:
            total += exact.sum_by(own, amount[rows], width)
        except OverflowError:
            total[:] = -1
        if total.min(initial=0) < 0:  # of two that fit, a sum that does not is negative
            raise QueryError("More was allocated in this window than 64 bits can count.")
    return count, total
