"""Allocator events of an XPlane, a history a device, checked and sized."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.xplane_order import in_order
from tb_memory_plugin.readers.xplane_planes import Events
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.schema import MOST_MEMORY

UNNAMED = "unnamed allocator"


@dataclass(frozen=True)
class Memory:
    """The events of all devices, by device and, within one, in the order of the allocator.

    Attributes:
        keys: of every device its memory id, as XProf calls it; they count from 0.
        size: of every event, positive.
        first: of every event whether it is the first at its address.
        rest: of every device the bytes alive before its first event that no event frees.
        breaks: of every device how often what is allocated moves by other than the event's size.
        unsized: how many events have a size of 0 because nothing tells it.
    """

    keys: list[str]
    device: IntArray
    ordinal: IntArray
    events: Events
    size: IntArray
    first: IntArray
    rest: list[int]
    breaks: list[int]
    unsized: int

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """Where the events of every device begin and end."""
        edges = np.searchsorted(self.device, np.arange(len(self.keys) + 1)).tolist()
        return list(pairwise(edges))


def histories(events: Events, words: list[str], last: Collection[str] = ()) -> Memory:
    """The histories in ``events``, whose devices are codes of ``words``; the ``last`` come last.

    Raises Malformed.
    """
    device, keys = _devices(events, words, last)
    order, size = in_order(events, device)
    events.reorder(order)
    device = device[order]
    starts = np.searchsorted(device, np.arange(len(keys)))
    ordinal = np.arange(len(device)) - starts[device]
    first = _first(events.column("address"), device)
    found = [
        _rest(events, size, first, slice(begin, end))
        for begin, end in zip(starts.tolist(), [*starts[1:].tolist(), len(device)], strict=True)
    ]
    unsized = int((~events.seen("size") & (size == 0)).sum())
    return Memory(
        keys,
        device,
        ordinal,
        events,
        size,
        first,
        [rest for rest, _ in found],
        [breaks for _, breaks in found],
        unsized,
    )


def natural(name: str) -> list[tuple[int, int, str]]:
    """For sorting: numbers by value, among text."""
    return [
        (1, int(part), "") if part.isdecimal() and part.isascii() else (0, 0, part)
        for part in re.split(r"([0-9]{1,18})", name)
    ]


def _devices(events: Events, words: list[str], last: Collection[str]) -> tuple[IntArray, list[str]]:
    code = events.column("device")
    used = {words[each] if each >= 0 else "" for each in np.flatnonzero(np.bincount(code + 1)) - 1}
    named = sorted(used, key=lambda name: (name in last, not name, natural(name), name))
    if len(named) > np.iinfo(np.int16).max:
        raise Malformed(f"has {len(named)} allocators")
    place = {name: index for index, name in enumerate(named)}
    of_code = np.array([place.get(name, 0) for name in [*words, ""]], dtype=np.int16)
    keys = [name or UNNAMED for name in named]
    if keys.count(UNNAMED) > 1:
        keys[named.index("")] = f"{UNNAMED} (2)"
    return of_code[code], keys


def check(events: Events) -> None:
    """Raises Malformed where counts of bytes cannot be ones."""
    for name, words in (("size", "an allocation"), ("allocated", "an allocator")):
        values = events.column(name)
        wrong = (values < 0) | (values >= MOST_MEMORY)
        if wrong.any():
            raise Malformed(f"says of {words} that it has {int(values[wrong][0])} bytes")


def _first(address: IntArray, device: IntArray) -> IntArray:
    order = np.lexsort((address.view(np.uint64), device))
    address, of = address[order], device[order]
    new = np.append(True, (address[1:] != address[:-1]) | (of[1:] != of[:-1]))[: len(order)]
    found = np.zeros(len(order), dtype=bool)
    found[order[new]] = True
    return found


def _rest(events: Events, size: IntArray, first: IntArray, part: slice) -> tuple[int, int]:
    """Bytes that were there before and are never freed, and how often the counts do not fit."""
    allocated, said = events.column("allocated")[part], events.seen("allocated")[part]
    born = events.born[part]
    moved = np.where(born, size[part], -size[part])
    fits = allocated[1:] == allocated[:-1] + moved[1:]
    breaks = int((~fits & said[1:] & said[:-1]).sum())
    if not said[0]:
        return 0, breaks
    freed = size[part][first[part] & ~born & events.seen("address")[part]]
    rest = int(allocated[0]) - int(moved[0]) - sum(freed.tolist())
    return max(rest, 0), breaks
