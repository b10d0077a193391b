"""Which allocations a question about stacks is about: alive at a moment, or seen in a window."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tb_memory_plugin.analysis.alive import alive_rows
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.instants import of_row, resolve
from tb_memory_plugin.analysis.windows import EventWindow
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording

#: What stacks can be weighed by, and what that means.
OF = {
    "alive": "bytes alive after one event, the peak or another",
    "highest": "bytes alive at the first moment of the window at which allocated is highest in it",
    "lifetime": "bytes × the time they were alive within the window",
    "allocations": "how many allocations were born in the window",
    "kept": "bytes born in the window and still alive at its end",
    "passing": "bytes born in the window and freed in it",
}

#: Rows that are weighed at a time: they stay in the processor's cache.
_PART = 1 << 15

#: Some rows of a device's allocations.
Rows = IntArray | slice


def rows_of(
    recording: Recording,
    device: Device,
    of: str,
    window: EventWindow,
    at: str = "peak",
    wanted: IntArray | None = None,
) -> tuple[int | None, Iterator[Rows]]:
    """The moment, where ``of`` is about one, and what is weighed, part by part. Raises QueryError.

    Only ``alive`` looks at ``at``, only the others at ``window``. ``wanted`` is a mask over the
    device's allocations, which leaves others out.
    """
    if of in ("alive", "highest"):
        if of == "alive":
            event = resolve(recording, device, at).event
        else:
            event = highest(recording, device, window)
        return event, iter([_only(alive_rows(recording, device, event), wanted)])
    if of not in OF:
        raise QueryError(f"There is no {of!r} to weigh stacks by; choose one of {', '.join(OF)}.")
    birth = recording.values("allocations", "birth", device)
    if of == "lifetime":
        first = window.first - 1 if window.carried else window.first
        return None, _seen(recording, device, first, window.stop, wanted)
    begin, end = np.searchsorted(birth, (window.first, window.stop)).tolist()
    if of == "allocations":
        return None, _slices(begin, end, wanted)
    kept = recording.values("allocations", "death", device)[begin:end] >= window.stop
    of_it = kept if of == "kept" else ~kept
    return None, iter([_only(begin + np.flatnonzero(of_it), wanted)])


def highest(recording: Recording, device: Device, window: EventWindow) -> int:
    """The first event of the window after which allocated is at its highest in it.

    What was carried into the window is seen in it unless an event is right at its beginning.
    """
    moved = recording.values("usage", "event", device)
    seen = window.first - 1 if window.carried else window.first
    start = int(np.searchsorted(moved, seen, side="right")) - 1
    stop = max(int(np.searchsorted(moved, window.stop - 1, side="right")), start + 1)
    allocated = recording.values("usage", "allocated", device)[start:stop]
    return of_row(recording, device, start + int(allocated.argmax())).event


def _seen(
    recording: Recording, device: Device, first: int, stop: int, wanted: IntArray | None
) -> Iterator[Rows]:
    """The rows alive after ``first`` or born later, before ``stop``, so many at a time.

    Slices, which are not copied, where all of a part are.
    """
    older = _only(alive_rows(recording, device, first), wanted)
    for begin in range(0, len(older), _PART):
        yield older[begin : begin + _PART]
    birth = recording.values("allocations", "birth", device)
    # Births are in order, and nothing dies before it is born.
    young, end = np.searchsorted(birth, (first + 1, stop)).tolist()
    yield from _slices(young, end, wanted)


def _slices(begin: int, end: int, wanted: IntArray | None) -> Iterator[Rows]:
    for start in range(begin, end, _PART):
        part = slice(start, min(start + _PART, end))
        yield part if wanted is None else start + np.flatnonzero(wanted[part])


def _only(rows: IntArray, wanted: IntArray | None) -> IntArray:
    return rows if wanted is None else rows[wanted[rows]]
