"""The allocations of one memory space of a module: their sums, and where buffers lie in them."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.heap_simulation import Heap
from tb_memory_plugin.recording.plan_schema import BufferKind
from tb_memory_plugin.recording.schema import AFTER

#: Allocations that are told one by one.
_MOST_TOLD = 3


class Columns(Protocol):
    """Columns of recorded tables."""

    @property
    def bare(self) -> IntArray:
        """The bytes of buffers without padding; where not known, with."""

    def rows(self, table: str, module: int) -> slice: ...
    def of(self, table: str, column: str) -> IntArray: ...
    def true(self, table: str, column: str) -> IntArray: ...


class Held:
    """The allocations of a space: sums by kind, those held all the time, and where each lies."""

    def __init__(self, columns: Columns, module: int, space: int, traced: IntArray) -> None:
        self._columns = columns
        part = self._part = columns.rows("buffer_allocations", module)
        rows = np.arange(part.start, part.stop)
        self.rows = rows[columns.of("buffer_allocations", "space")[rows] == space]
        self._size = columns.of("buffer_allocations", "size")
        kind = columns.of("buffer_allocations", "kind")[self.rows]
        lies = columns.of("buffers", "allocation")
        self._traced = np.isin(self.rows, lies[traced])
        temporary = kind == int(BufferKind.TEMPORARY)
        local = kind == int(BufferKind.THREAD_LOCAL)  # on the stacks of threads: counted nowhere
        self._counted = ~local
        self._always = (~temporary & ~local) | (temporary & ~self._traced)
        size = self._size[self.rows]
        self.untraced = temporary & ~self._traced & (size > 0)
        self._buffers = columns.rows("buffers", module)
        self._largest = self._largest_buffers(lies)
        padding = self._padding()
        self.size = int(size[self._always].sum())
        self.unpadded = self.size - int(padding[self._always].sum())
        both = self._true("is_parameter") & self._true("is_output")
        sums = {each.name.lower(): int(size[kind == int(each)].sum()) for each in BufferKind}
        self.numbers = {
            **sums,
            # One may be several: told as in XProf, each for itself.
            "parameter": int(size[self._true("is_parameter")].sum()),
            "output": int(size[self._true("is_output")].sum()),
            "total": int(size[~local].sum()),
            "indefinite": int(size[~temporary & ~local].sum()),
            "untraced": int(size[self.untraced].sum()),
            "aliased": int(size[both].sum()),
        }

    def _true(self, name: str) -> IntArray:
        return np.asarray(self._columns.true("buffer_allocations", name)[self.rows])

    def _largest_buffers(self, lies: IntArray) -> IntArray:
        """The row of the largest buffer in each allocation, the first of equals; -1 for none."""
        rows = np.arange(self._buffers.start, self._buffers.stop)
        rows = rows[lies[rows] >= 0]
        size = self._columns.of("buffers", "size")[rows]
        order = rows[np.lexsort((rows, -size, lies[rows]))]
        of = lies[order]
        first = np.append(True, of[1:] != of[:-1]) if len(of) else np.zeros(0, dtype=bool)
        found = np.full(self._part.stop - self._part.start, -1, dtype=np.int64)
        found[of[first] - self._part.start] = order[first]
        return np.asarray(found[self.rows - self._part.start])

    def _padding(self) -> IntArray:
        """What of each allocation's largest buffer is padding."""
        known = self._largest >= 0
        rows = np.maximum(self._largest, 0)
        size = self._columns.of("buffers", "size")
        if not len(size):
            return np.zeros(len(self.rows), dtype=np.int64)
        padding = np.maximum(size[rows] - self._columns.bare[rows], 0)
        return np.where(known, np.minimum(padding, self._size[self.rows]), 0)

    def fragmentation(self, root: IntArray, moved: IntArray) -> int:
        """What the traced allocations are larger than the most that is ever in use in them."""
        traced = self.rows[self._counted & ~self._always]
        most = np.zeros(self._part.stop - self._part.start, dtype=np.int64)
        if len(root):
            of = self._columns.of("buffers", "allocation")[root] - self._part.start
            order = np.argsort(of, kind="stable")
            order = order[of[order] >= 0]
            of = of[order]
            heads = np.flatnonzero(np.append(True, of[1:] != of[:-1])[: len(of)])
            whole = np.cumsum(moved[order])
            before = whole[heads] - moved[order][heads]  # of the allocations before
            if len(heads):
                most[of[heads]] = np.maximum(np.maximum.reduceat(whole, heads) - before, 0)
        rest = self._size[traced] - most[traced - self._part.start]
        return int(np.maximum(rest, 0).sum())

    def _below(self) -> IntArray:
        """Where each allocation begins: what is held all the time at the bottom, as it lies."""
        size = np.where(self._counted, self._size[self.rows], 0)
        order = np.argsort(~self._always, kind="stable")
        found = np.empty_like(size)
        found[order] = np.cumsum(size[order]) - size[order]
        return found

    def lives(self, heap: Heap, size: IntArray, unpadded: IntArray) -> dict[str, IntArray]:
        """The columns of ``buffer_lives``: what is held all the time first."""
        always = np.flatnonzero(self._always & (self._size[self.rows] > 0))
        held = self.rows[always]
        below = self._below()
        base = np.zeros(self._part.stop - self._part.start + 1, dtype=np.int64)
        base[self.rows - self._part.start] = below
        buffer = np.array(heap.buffer, dtype=np.int64)
        root = np.array(heap.root, dtype=np.int64)
        holds = np.array(heap.holds, dtype=bool)
        # Where the buffer itself is assigned; where it cannot be, as the memory is that it shares.
        assigned = self._columns.of("buffers", "allocation")[buffer] >= 0
        whose = np.where(assigned & (size[buffer] == size[root]), buffer, root)
        lies = self._columns.of("buffers", "allocation")[whose].astype(np.int64)
        # The last is of what lies nowhere.
        place = base[np.where(lies >= 0, lies - self._part.start, -1)]
        place = place + self._columns.of("buffers", "offset")[whose]
        padding = self._padding()[always]
        count = len(always)
        return {
            "buffer": np.concatenate([self._largest[always], buffer]),
            "holds": np.concatenate([np.ones(count, dtype=bool), holds]),
            "birth": np.concatenate([np.full(count, -1), np.array(heap.birth, dtype=np.int64)]),
            "death": np.concatenate([np.full(count, AFTER), np.array(heap.death, dtype=np.int64)]),
            "size": np.concatenate([self._size[held], size[root]]),
            "unpadded": np.concatenate([self._size[held] - padding, unpadded[root]]),
            "allocation": np.concatenate([held, lies]),
            "offset": np.concatenate([below[always], place]),
        }

    def faults(self, trace: IntArray, buffer: IntArray) -> list[str]:
        """What is odd about the allocations and the traces that are of them."""
        index = self._columns.of("buffer_allocations", "index")
        untraced = self.rows[self.untraced]
        found = [
            f"Temporary allocation {index[row]} has no heap trace: its {self._size[row]} bytes are "
            "counted as held all the time."
            for row in untraced[:_MOST_TOLD]
        ]
        if len(untraced) > _MOST_TOLD:
            rest = int(self._size[untraced[_MOST_TOLD:]].sum())
            found.append(
                f"{len(untraced) - _MOST_TOLD} more temporary allocations, {rest} bytes, have none."
            )
        lies = self._columns.of("buffers", "allocation")[buffer]
        pairs = np.unique(np.stack([trace, lies]), axis=1) if len(trace) else np.zeros((2, 0))
        counts = np.bincount(pairs[0].astype(np.int64))
        several = np.flatnonzero(counts > 1)
        found += [
            f"Heap trace {each} is of {counts[each]} allocations: they are shown together."
            for each in several[:_MOST_TOLD]
        ]
        if len(several) > _MOST_TOLD:
            found.append(
                f"{len(several) - _MOST_TOLD} more heap traces are of several allocations."
            )
        return found
