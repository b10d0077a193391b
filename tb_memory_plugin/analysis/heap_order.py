"""Heap traces of one memory space, put into one order: that of the program."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording.plan_schema import HeapKind


def program_order(trace: IntArray, kind: IntArray, position: IntArray) -> IntArray:
    """The order of events: where each stands among all.

    Events of a ``trace`` keep their order; ``position`` is the place in the program of the
    instruction that each is of, -1 where that is not known. Where one instruction is met by
    several traces, what it asks for comes before what it lets go, so that no peak is lost. Traces
    none of whose events can be placed cannot be set against each other: all stay one after another.
    """
    if not len(trace) or (trace == trace[0]).all():
        return np.arange(len(trace))
    place = position.copy()
    bounds = np.flatnonzero(np.append(True, trace[1:] != trace[:-1]))
    for begin, end in zip(bounds, [*bounds[1:], len(trace)], strict=True):
        here = place[begin:end]
        if (here < 0).all():
            return np.arange(len(trace))
        np.maximum.accumulate(here, out=here)
        here[here < 0] = here[here >= 0][0]  # before the first that is known: with it
    freed = kind == HeapKind.FREE
    late = _since(freed, trace, place)
    return np.lexsort((np.arange(len(trace)), late, place))


def _since(freed: IntArray, trace: IntArray, place: IntArray) -> IntArray:
    """Whether, at its place and in its trace, something has been let go: then order is kept."""
    new = np.append(True, (trace[1:] != trace[:-1]) | (place[1:] != place[:-1]))
    group = np.cumsum(new) - 1
    count = np.cumsum(freed)
    before = (count - freed)[new][group]
    found: IntArray = count > before
    return found
