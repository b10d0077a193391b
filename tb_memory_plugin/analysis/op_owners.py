"""The operator that every allocation of a device was made in, and the one it was freed in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.op_stacks import OpStacks, op_stacks
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER

_PART = 1 << 16


@dataclass(frozen=True)
class OpOwners:
    """A number of ``OpStacks.names`` for every allocation of a device, or one more for none.

    ``made`` is the operator of its label, or else the innermost on its stack. ``freed`` is the
    innermost on the stack of its death where the source says where anything was freed
    (``freed_where``), also if that was outside every operator; else it is ``made``.
    ``beside`` are the allocations whose operator is not on their stack.
    """

    made: IntArray
    freed: IntArray
    freed_where: bool
    beside: IntArray


def op_owners(recording: Recording, device: Device) -> OpOwners:
    """The operators of a device's allocations, worked out once."""
    return memo(recording, ("op_owners", device.index), lambda: _owners(recording, device))


def _owners(recording: Recording, device: Device) -> OpOwners:
    stacks = op_stacks(recording)
    label = recording.values("allocations", "op", device)
    birth_stack = stacks.around_births(recording, device)
    made = _numbers(stacks, label, birth_stack)
    freed = _freed(recording, device, stacks)
    # Where no stack holds operators, nobody asks whether it holds this one.
    beside = [
        begin + _beside(stacks, made[begin : begin + _PART], birth_stack[begin : begin + _PART])
        for begin in range(0, len(made) if stacks.nested else 0, _PART)
    ]
    return OpOwners(
        made,
        made if freed is None else freed,
        freed is not None,
        np.concatenate([np.zeros(0, dtype=np.int64), *beside]),
    )


def _numbers(stacks: OpStacks, label: IntArray, stack: IntArray) -> IntArray:
    none = len(stacks.names)
    # They are kept, and sorted: the narrower, the faster.
    kind = np.uint8 if none < 1 << 8 else np.uint16 if none < 1 << 16 else np.int32
    found = np.empty(len(stack), dtype=kind)
    for begin in range(0, len(stack), _PART):
        part = slice(begin, begin + _PART)
        number = label[part]
        if stacks.nested:
            number = np.where(number >= 0, number, stacks.innermost[stack[part]])
        found[part] = np.where(number >= 0, number, none)
    return found


def _freed(recording: Recording, device: Device, stacks: OpStacks) -> IntArray | None:
    """Where allocations were freed; None where the source tells that of none of them."""
    if not stacks.nested or stacks.by_span:
        return None
    stack = recording.values("allocations", "death_stack", device)
    death = recording.values("allocations", "death", device)
    is_said = False
    for begin in range(0, len(stack), _PART):
        part = slice(begin, begin + _PART)
        is_said |= bool(((death[part] < AFTER) & (stacks.innermost[stack[part]] >= 0)).any())
        if is_said:
            break
    if not is_said:
        return None
    return _numbers(stacks, np.full(len(stack), -1, dtype=np.int8), stack)


def _beside(stacks: OpStacks, made: IntArray, stack: IntArray) -> IntArray:
    numbers = made.astype(np.int64)
    other = np.flatnonzero((numbers < len(stacks.names)) & (numbers != stacks.innermost[stack]))
    return other[~stacks.holds(stack[other], numbers[other])]
