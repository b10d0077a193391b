"""Births and frees of two recordings, made into columns that can be held against each other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.ordering import stable_order
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import MOST_MEMORY, Action

#: What allocators of accelerators round sizes up to.
ROUNDING = 512
#: What a block may have beyond that, as it was not worth splitting (or twice what was asked for).
_UNSPLIT = 20 << 20
#: No recording goes on for as long (ns, 52 days): times further apart are wrong.
_LONGEST = 1 << 52


@dataclass(frozen=True)
class Moves:
    """Births and frees of one recording, by ``code`` and then by time.

    ``code`` is of the device, of whether it is a free and of the address, and the same in both
    recordings. ``row`` is of the table ``events``, ``bytes`` is 0 where it is not known, else what
    was ``asked`` for or what was given.
    """

    code: IntArray
    time: IntArray
    bytes: IntArray
    row: IntArray
    asked: bool = False

    def __len__(self) -> int:
        return len(self.code)

    def some(self, chosen: IntArray) -> Moves:
        """Those ``chosen``, by place in order or by mask."""
        code, time, size, row = (c[chosen] for c in (self.code, self.time, self.bytes, self.row))
        return Moves(code, time, size, row, self.asked)

    def at(self, times: IntArray) -> Moves:
        """The same at other ``times``, which come in the same order."""
        return replace(self, time=times)


def counterparts(ours: Recording, theirs: Recording) -> list[tuple[Device, Device]]:
    """The devices that both recordings have: accelerators by number, the CPU."""
    known = {_place(ours, device): device for device in ours.devices}
    pairs = ((known.get(_place(theirs, device)), device) for device in theirs.devices)
    return [(own, other) for own, other in pairs if own is not None]


def _place(recording: Recording, device: Device) -> tuple[str, int]:
    """What is the same in both. Snapshots do not say what kind of accelerator they are of."""
    about = recording.meta["devices"][device.index]
    name, _, number = device.name.partition(":")
    ordinal, kind = about.get("ordinal"), about.get("type") or name
    if ordinal is None and number.isdecimal():
        ordinal = int(number)
    if kind == "host" or ordinal is None:
        return (name, ordinal or 0)
    return ("accelerator", ordinal)


def moves(ours: Recording, theirs: Recording) -> tuple[Moves, Moves]:
    """The births and frees of both on the devices that both have.

    What only one of them tells at all (frees may be left out) is left out.
    """
    devices = counterparts(ours, theirs)
    sides = [
        _columns(recording, [pair[place] for pair in devices])
        for place, recording in enumerate((ours, theirs))
    ]
    told = [np.bincount(side["freed"], minlength=2) > 0 for side in sides]
    both = told[0] & told[1]
    sides = [_kept(side, both[side["freed"]]) for side in sides]
    codes = _codes(sides, len(devices))
    asked = (recording.meta["basis"] == "requested" for recording in (ours, theirs))
    one, other = map(_ordered, codes, sides, asked)
    return one, other


def _columns(recording: Recording, devices: list[Device]) -> dict[str, IntArray]:
    table = recording.table("events")
    timed = arrays.valid(table, "time")
    action = recording.values("events", "action")
    moved = (action == Action.ALLOC) | (action == Action.FREE_COMPLETED)
    moved &= timed & arrays.valid(table, "address")
    rows, places = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for place, device in enumerate(devices):
        own = recording.rows("events", device)
        rows.append(own.start + np.flatnonzero(moved[own]))
        places.append(np.full(len(rows[-1]), place))
    row = np.concatenate(rows)
    found = {
        "row": row,
        "place": np.concatenate(places),
        "freed": (action[row] != Action.ALLOC).astype(np.int64),
        "address": recording.values("events", "address")[row].astype(np.uint64),
        "bytes": np.clip(recording.values("events", "size")[row], 0, MOST_MEMORY),
        "time": recording.values("events", "time")[row],
    }
    if not len(row):
        return found
    middle = int(np.partition(found["time"], len(row) // 2)[len(row) // 2])
    found["time"] = np.clip(found["time"], middle - _LONGEST, middle + _LONGEST)
    if (np.diff(found["time"]) < 0).any():
        found = _kept(found, np.argsort(found["time"], kind="stable"))
    return found


def _kept(columns: dict[str, IntArray], chosen: IntArray) -> dict[str, IntArray]:
    return {name: column[chosen] for name, column in columns.items()}


def _codes(sides: list[dict[str, IntArray]], devices: int) -> list[IntArray]:
    """Numbers of what is the same in both, from 0 on, of each side."""
    address, place, freed = (
        np.concatenate([side[name] for side in sides]) for name in ("address", "place", "freed")
    )
    if not len(address):
        return [place, place]
    used = int(np.bitwise_or.reduce(address))
    key = address >> np.uint64(max((used & -used).bit_length() - 1, 0))
    # Modulo 2⁶⁴: that two addresses at the ends of the space are taken for one does not matter.
    key *= np.uint64(2 * max(devices, 1))
    key += (2 * place + freed).astype(np.uint64)
    order = stable_order(key)
    key = key[order]
    code: IntArray = np.empty(len(key), dtype=np.int64)
    code[order] = np.cumsum(np.append(False, key[1:] != key[:-1]))
    count = len(sides[0]["row"])
    return [code[:count], code[count:]]


def _ordered(code: IntArray, side: dict[str, IntArray], asked: bool) -> Moves:
    order = stable_order(code)
    time, size, row = (side[name][order] for name in ("time", "bytes", "row"))
    return Moves(code[order], time, size, row, asked)


def fits(ours: Moves, mine: IntArray, theirs: Moves, its: IntArray) -> IntArray:
    """Whether moves of both, by their places, can be of one block, as far as sizes tell."""
    return sizes_fit((ours.bytes[mine], theirs.bytes[its]), (ours.asked, theirs.asked))


def sizes_fit(sizes: tuple[IntArray, IntArray], asked: tuple[bool, bool]) -> IntArray:
    """Whether two sizes can be of one block, where each is what was asked for or what was given.

    What is given may be more than what was asked for, rounded: a block that was not split. A size
    of 0 is not known.
    """
    one, other = ((size + (ROUNDING - 1)) // ROUNDING * ROUNDING for size in sizes)
    if asked[1] and not asked[0]:
        one, other = other, one
    if asked[0] == asked[1]:
        found = one == other
    else:
        found = (other >= one) & (other <= np.maximum(2 * one, one + _UNSPLIT))
    known: IntArray = found | (sizes[0] == 0) | (sizes[1] == 0)
    return known
