"""Events of a heap, replayed: who holds memory from when to when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tb_memory_plugin.recording.plan_schema import HeapKind
from tb_memory_plugin.recording.schema import AFTER

_DEEPEST = 1_000


@dataclass
class Heap:
    """What a replay found. Lives are lists side by side; rows are of ``buffers``.

    ``changes`` has, for every event, the buffer whose memory it takes or gives back: (row, +1 or
    -1), or None.
    """

    buffer: list[int] = field(default_factory=list)
    root: list[int] = field(default_factory=list)  # whose memory it is
    birth: list[int] = field(default_factory=list)
    death: list[int] = field(default_factory=list)
    holds: list[bool] = field(default_factory=list)
    changes: list[tuple[int, int] | None] = field(default_factory=list)
    freed_twice: list[int] = field(default_factory=list)
    made_twice: list[int] = field(default_factory=list)
    adrift: list[int] = field(default_factory=list)  # shares with what it cannot

    def _begin(self, buffer: int, root: int, at: int, holds: bool) -> int:
        self.buffer.append(buffer)
        self.root.append(root)
        self.birth.append(at)
        self.death.append(AFTER)
        self.holds.append(holds)
        return len(self.buffer) - 1


def replay(kinds: Sequence[int], buffers: Sequence[int], shares: Sequence[int]) -> Heap:
    """Replay the events of a heap, in order.

    A buffer that shares holds its own reference to the memory of the buffer at the root; memory is
    given back with the last one. Sharing what was given back takes it again, under the name of who
    shares. What makes no sense (freed twice, allocated while alive, shared with itself) changes
    nothing and is told.
    """
    heap = Heap()
    root_of: dict[int, int] = {}
    users: dict[int, int] = {}  # by root
    lives: dict[int, int] = {}  # of buffers that are alive
    holder: dict[int, int] = {}  # by root: the life that counts its memory
    for at, (kind, buffer, other) in enumerate(zip(kinds, buffers, shares, strict=True)):
        change = None
        if kind == HeapKind.FREE:
            life = lives.pop(buffer, None)
            if life is None:
                heap.freed_twice.append(buffer)
            else:
                root = heap.root[life]
                users[root] -= 1
                # Who holds the memory holds it until nobody uses it.
                if holder[root] != life:
                    heap.death[life] = at
                if not users[root]:
                    heap.death[holder.pop(root)] = at
                    change = (root, -1)
        elif buffer in lives:
            heap.made_twice.append(buffer)
        else:
            root = buffer
            if kind == HeapKind.SHARE_WITH:
                root = root_of.get(other, other)
                if root < 0 or root == buffer:
                    heap.adrift.append(buffer)
                    root = buffer
            root_of[buffer] = root
            count = users.get(root, 0)
            users[root] = count + 1
            lives[buffer] = heap._begin(buffer, root, at, holds=not count)
            if not count:
                holder[root] = lives[buffer]
                change = (root, 1)
        heap.changes.append(change)
    return heap


def compiler_peak(
    kinds: Sequence[int],
    buffers: Sequence[int],
    shares: Sequence[int],
    size: Callable[[int], int],
    held: Collection[int],
) -> int:
    """The most that all traces of a module hold, one after the other, as the compiler counts.

    ``held`` are the buffers that it holds all the time: they have a user from the start. It is
    ``ComputePeakMemoryImpl`` of XLA's ``buffer_assignment.cc``, also where a trace makes no sense:
    what is allocated twice has two users.
    """
    users = Counter(dict.fromkeys(held, 1))
    shared: dict[int, int] = {}
    most = now = sum(map(size, held))
    for kind, buffer, other in zip(kinds, buffers, shares, strict=True):
        root = other if kind == HeapKind.SHARE_WITH and other >= 0 else buffer
        if kind != HeapKind.ALLOC:
            root = _underlying(root, shared)
        if kind == HeapKind.FREE:
            shared.pop(buffer, None)
            users[root] -= 1
            now -= size(root) if users[root] == 0 else 0
        else:
            if root != buffer:
                shared[buffer] = root
            users[root] += 1
            now += size(root) if users[root] == 1 else 0
        most = max(most, now)
    return most


def _underlying(buffer: int, shared: Mapping[int, int]) -> int:
    """Whose memory a buffer has; chains of more than a few are in no real module."""
    for _ in range(_DEEPEST):
        if buffer not in shared:
            break
        buffer = shared[buffer]
    return buffer
