"""Where lives are that take the lowest free slot of their class of sizes, in shared segments."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

import numpy as np

_BASE = 0x7F << 40
_APART = 1 << 30
_SEGMENT = 32 << 20
#: How often all that is empty is given back in a recording.
_TIMES = 60


@dataclass(frozen=True)
class Segments:
    """One element a segment: address and bytes, and the lives before which it came and went.

    It goes with ``closer``, -1 where it never does.
    """

    begin: np.ndarray
    size: np.ndarray
    opener: np.ndarray
    closer: np.ndarray


@dataclass
class _Class:
    """Slots of one size: the free ones, and the taken ones by when they are free again."""

    free: list[int] = field(default_factory=list)
    taken: list[tuple[float, int]] = field(default_factory=list)

    def release(self, moment: float) -> None:
        """Free what is free again by a moment."""
        while self.taken and self.taken[0][0] < moment:
            heappush(self.free, heappop(self.taken)[1])


def slots(
    born: list[float], died: list[float], size: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Segments]:
    """Address and segment of every life, in order of birth, and the segments in order of theirs."""
    power = np.frexp(size.astype(np.float64))[1].tolist()
    classes: dict[int, _Class] = {}
    address, owner = [], []
    begin: list[int] = []
    extent: list[int] = []
    opener: list[int] = []
    closer: list[int] = []
    of_address: dict[int, int] = {}
    unmapped: dict[int, list[int]] = {}
    often = max(len(born) // _TIMES, 1)
    for life, (birth, death, wide) in enumerate(zip(born, died, power, strict=True)):
        if life % often == often - 1:
            for of, each in classes.items():
                each.release(birth)
                free = Counter(of_address[slot] for slot in each.free)
                empty = {one for one, slots in free.items() if slots << of == extent[one]}
                each.free = [slot for slot in each.free if of_address[slot] not in empty]
                heapify(each.free)
                for one in sorted(empty):
                    closer[one] = life
                    unmapped.setdefault(extent[one], []).append(begin[one])
        mine = classes.setdefault(wide, _Class())
        mine.release(birth)
        if not mine.free:
            slot = 1 << wide
            whole = max(_SEGMENT, slot)
            again = unmapped.get(whole)
            start = again.pop() if again else _BASE + len(begin) * _APART
            for place in range(start, start + whole, slot):
                heappush(mine.free, place)
                of_address[place] = len(begin)
            for column, value in ((begin, start), (extent, whole), (opener, life), (closer, -1)):
                column.append(value)
        place = heappop(mine.free)
        heappush(mine.taken, (death, place))
        address.append(place)
        owner.append(of_address[place])
    mapped = Segments(*(np.array(each) for each in (begin, extent, opener, closer)))
    return np.array(address), np.array(owner), mapped
