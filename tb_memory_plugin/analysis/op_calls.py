"""How often every operator ran in a window, from the spans of a recording."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.op_stacks import OpStacks
from tb_memory_plugin.analysis.windows import EventWindow
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording

_PART = 1 << 16


def calls(
    recording: Recording, stacks: OpStacks, window: EventWindow, *, everything: bool
) -> IntArray | None:
    """Spans of operators that begin in the window (or anywhere), on any thread, by operator.

    One element an operator of ``stacks.names`` and one more for none; -1 where there are no spans
    of that name in the whole recording. None where there are no spans of operators at all, or no
    time stamps to place the window by.
    """
    spans = recording.table("spans")
    wanted = [code for code, kind in enumerate(arrays.words(spans, "kind")) if kind == "op"]
    if not wanted or not (everything or window.timed):
        return None
    known = {name: number for number, name in enumerate(stacks.names)}
    none = len(known)
    number = np.array([known.get(name, none) for name in [*arrays.words(spans, "name"), ""]])
    kind, name, begin = (arrays.values(spans, column) for column in ("kind", "name", "begin"))
    found, ever = np.zeros(none + 1, dtype=np.int64), np.zeros(none + 1, dtype=np.int64)
    for first in range(0, len(kind), _PART):
        part = slice(first, first + _PART)
        chosen = np.isin(kind[part], wanted)
        ever += np.bincount(number[name[part][chosen]], minlength=none + 1)
        if not everything:
            chosen &= (begin[part] >= window.begin) & (begin[part] < window.end)
        found += np.bincount(number[name[part][chosen]], minlength=none + 1)
    found[ever == 0] = -1
    found[-1] = -1
    return found
