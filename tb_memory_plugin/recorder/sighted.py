"""Tracked storages as they were seen while the history ran, and the births these sightings tell of.

What is alive when a history is written is known then. What died before, gradients that are set to
None at every step among it, is told by where and when it was seen.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from tb_memory_plugin.recorder.labels import Name, Sighting, Storage
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Action, BlockState

#: Of what was seen, so many storages are remembered. One that is born anew for every sighting has
#: three entries in the history for each, and a history has 100 000.
MOST = 200_000

Numbers = npt.NDArray[np.int64]
Addresses = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Births:
    """Births of one device's history: -1 for before the window, then by address."""

    event: Numbers
    address: Addresses
    names: list[Name]


@dataclass
class Sighted:
    """The sightings of late, to be listened with to a ``Tracker``.

    Of what is looked at again and again, only the last look before it is gone is kept.
    """

    looked: float = 0.0  # time.monotonic() of the last look at everything
    _seen: deque[tuple[int, Addresses, list[Name]]] = field(default_factory=deque)
    _count: int = 0
    _last: Sighting | None = None

    def append(self, sighting: Sighting) -> None:
        """Take in a sighting."""
        if sighting.storages is None:
            self._remember(sighting)
            return
        self.looked = time.monotonic()
        if self._last is not None:
            now = {(each.address, each.name.name) for each in sighting.storages}
            old = self._last.storages or ()
            gone = [each for each in old if (each.address, each.name.name) not in now]
            if gone:
                names, addresses = [each.name for each in gone], [each.address for each in gone]
                self._remember(replace(self._last, names=names, addresses=addresses))
        self._last = sighting

    def births(
        self, recording: Recording, device: Device, origin: int | None, now: list[Storage]
    ) -> Births:
        """Whom of the births in a history were seen, and ``now`` are alive; one row each.

        ``origin`` is of the recording's times (unix ns); without it only ``now`` tells.
        """
        seen = [*self._seen] if origin is not None else []
        if self._last is not None and origin is not None:
            last = np.array(self._last.addresses, dtype=np.uint64)
            seen.append((self._last.time, last, self._last.names))
        moments = np.array([moment for moment, *_ in seen], dtype=np.int64) - (origin or 0)
        moment = np.repeat(moments, [len(addresses) for _, addresses, _ in seen])
        alive = np.array([storage.address for storage in now], dtype=np.uint64)
        address = np.concatenate([alive, *(addresses for _, addresses, _ in seen)])
        names = list(chain((s.name for s in now), chain.from_iterable(n for *_, n in seen)))
        before = np.full(len(address), len(recording.values("events", "action", device)))
        if origin is not None:
            times = recording.values("events", "time", device)
            before[len(now) :] = np.searchsorted(times, moment, side="right")
        event, known = _born(recording, device, address, before)
        row = np.flatnonzero(known)
        # Of several names the first: what is alive now, then what was seen first.
        row = row[np.lexsort((address[row], event[row]))]  # stable
        first = np.ones(len(row), dtype=bool)
        first[1:] = (np.diff(event[row]) != 0) | (address[row[1:]] != address[row[:-1]])
        row = row[first]
        return Births(event[row], address[row], [names[place] for place in row.tolist()])

    def _remember(self, sighting: Sighting) -> None:
        # No loops in Python: gradients are seen while the profiler runs (see Tracker).
        addresses = np.array(sighting.addresses, dtype=np.uint64)
        self._seen.append((sighting.time, addresses, sighting.names))
        self._count += len(addresses)
        while self._count > MOST:
            self._count -= len(self._seen.popleft()[1])


def _born(
    recording: Recording, device: Device, address: Addresses, before: Numbers
) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """The birth of what is alive at ``address`` after the first ``before`` events, if known."""
    action = recording.values("events", "action", device)
    allocs = np.append(action == Action.ALLOC, False)  # so that of no event (-1) it is false
    event = np.flatnonzero(allocs[:-1] | (action == Action.FREE_COMPLETED))
    places = recording.values("events", "address", device)[event]
    _, code = np.unique(np.concatenate([places, address]), return_inverse=True)
    there, asked = code[: len(places)], code[len(places) :]
    span = len(action) + 1
    key = there * span + event
    order = np.argsort(key)
    place = np.searchsorted(key[order], asked * span + before)

    def at(place: Numbers) -> Numbers:
        """The event at a place in that order, -1 if it is not of the address asked for."""
        if not len(order):
            return np.full(len(asked), -1)
        row = order[np.clip(place, 0, len(order) - 1)]
        same = (place >= 0) & (place < len(order)) & (there[row] == asked)
        return np.where(same, event[row], -1)

    last, following = at(place - 1), at(place)
    active = recording.values("blocks", "state", device) != BlockState.INACTIVE
    blocks = recording.values("blocks", "address", device)[active]
    # Without an event before it, it is older than the window if it ends or stays within it. What
    # was seen before the window may have been another's since.
    ends = np.where(following >= 0, ~allocs[following], np.isin(address, blocks))
    older = (last < 0) & ends & ((before > 0) | (len(action) == 0))
    return np.where(older, -1, last), allocs[last] | older
