"""Live buffers of a JAX device memory profile to the tables of a recording: an end state."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.jax_pprof_samples import BUFFER, Sample
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.schema import BlockState

_Device = tuple[str, str]  # as the file names it; what is in it unless it is buffers
_ORDINAL = re.compile(r"([A-Za-z]+)[:_](\d{1,9})(?!\d)")
_NO_HISTORY = {
    "what": "history",
    "why": "A device memory profile holds what was alive at one moment and has no timeline: "
    "neither when buffers were made, nor what was freed before, nor the peak",
    "remedy": "Save more of them, at other moments of the run, to see what grows",
}
_NO_ADDRESSES = {
    "what": "addresses",
    "why": "A device memory profile does not say where in memory its buffers are, nor what the "
    "allocator holds beside them",
    "remedy": "Look at them stacked",
}


def device_of(sample: Sample) -> _Device:
    """The memory that a sample is in. What is no buffer is kept apart: it names no device."""
    return sample.device, "" if sample.kind == BUFFER else sample.kind


def devices(found: Sequence[Sample]) -> list[_Device]:
    """The memories in the order that people count them in, those without a name last."""
    return sorted(set(map(device_of, found)), key=lambda one: (not one[0], _natural(one[0]), one))


def meta_of(device: _Device) -> dict[str, Any]:
    """An entry of ``meta["devices"]``."""
    named, kind = device
    if not named:
        key = f"{kind}s" if kind else "no device named"
        return {"key": key, "name": key}
    key = f"{named} {kind}s" if kind else named
    told = _ORDINAL.search(named)
    entry: dict[str, Any] = {"key": key, "name": key}
    if told is not None:
        entry |= {"type": told[1].lower(), "ordinal": int(told[2])}
    return entry


def tables(found: Sequence[Sample], order: Sequence[_Device]) -> dict[str, pa.Table]:
    """The tables ``events`` (without rows), ``blocks`` and ``labels``. Raises Malformed.

    There is a block for every buffer. None has an address, as the file has none; a label without
    an address is about all that have none on its device.
    """
    rows = {device: row for row, device in enumerate(order)}
    if len(rows) > np.iinfo(np.int16).max:
        raise Malformed(f"it has {len(rows)} devices")
    held = sorted(found, key=lambda sample: rows[device_of(sample)])
    count = np.array([sample.count for sample in held], np.int64)
    of = np.repeat(np.array([rows[device_of(sample)] for sample in held], np.int16), count)
    stack = np.repeat(np.array([sample.stack for sample in held], np.int32), count)
    size = sizes(np.array([sample.bytes for sample in held], np.int64), count)
    # Buffers need no name: what made them tells more.
    named = {rows[device_of(one)]: one.kind for one in held if one.kind not in ("", BUFFER)}
    return {
        "events": builder.table("events", {}),
        "blocks": builder.table(
            "blocks",
            {
                "device": of,
                "size": size,
                "state": np.full(len(of), BlockState.ACTIVE, np.uint8),
                "stack": (stack, stack < 0),
            },
        ),
        "labels": builder.table(
            "labels",
            {
                "device": np.array(sorted(named), np.int16),
                "event": np.full(len(named), -1, np.int64),
                "name": [named[row] for row in sorted(named)],
            },
        ),
    }


def sizes(held: IntArray, count: IntArray) -> IntArray:
    """The bytes of every single buffer, which add up to ``held`` in each sample.

    Where ``count`` does not divide them, some buffers have a byte more than the others.
    """
    each, left = np.divmod(held, np.maximum(count, 1))
    place = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    found: IntArray = np.repeat(each, count) + (place < np.repeat(left, count))
    return found


def missing(found: Sequence[Sample]) -> list[dict[str, str]]:
    """What the file does not say, for ``meta``."""
    lacks = [_NO_HISTORY, _NO_ADDRESSES]
    if any(sample.stack < 0 for sample in found):
        lacks.append(
            {
                "what": "stacks",
                "why": "Some buffers have no call stack: they were not made from Python, or "
                "tracebacks were switched off",
                "remedy": "Leave jaxlib's Traceback enabled in the job",
            }
        )
    unsized = sum(sample.count for sample in found if not sample.sized)
    if unsized:
        lacks.append(
            {
                "what": "sizes of executables",
                "why": f"The runtime did not say how large {unsized} of the executables are (it "
                "wrote -1): they are counted, with 0 bytes",
                "remedy": "Look at the compiled module itself for the memory that it needs",
            }
        )
    return lacks


def problems(found: Sequence[Sample]) -> list[str]:
    """What is odd about the file, for ``meta``."""
    uneven = [sample for sample in found if sample.bytes % sample.count]
    if not uneven:
        return []
    buffers = sum(sample.count for sample in uneven)
    return [
        f"Buffers of different sizes were merged after JAX wrote the profile: sums are exact, but "
        f"the sizes of {buffers} single buffers are averages."
    ]


def _natural(name: str) -> list[tuple[int, int, str]]:
    """For sorting: numbers by value, among text."""
    return [
        (1, int(part), "") if part.isdecimal() and part.isascii() else (0, 0, part)
        for part in re.split(r"([0-9]+)", name)
    ]
