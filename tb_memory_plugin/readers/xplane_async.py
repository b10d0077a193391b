"""Operations of XLA that start and are done apart, on the lines of a device, as pairs of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np

from tb_memory_plugin.recording.arrays import IntArray

#: ``%copy-done.1 = f32[4]{0} copy-done((f32[4]{0}, f32[4]{0}, u32[]) %copy-start.1), …``: names of
#: instructions, and what is done. Types hold no ``%``.
_INSTRUCTION = re.compile(rb"%?(?P<name>[^ =]+)")
_DONE = re.compile(rb" [a-z-]+-done\([^%]*%(?P<start>[^ ,)]+)")


def pairs_of_kinds(
    names: Mapping[int, bytes], program: Callable[[int], object]
) -> dict[int, tuple[int, bool]]:
    """Of kinds of events that are a start or the end of one: a number for both, and which it is.

    ``names`` are those of HLO instructions, or their whole text, which says what is done;
    ``program`` tells of a kind what it is a part of.
    """
    found: dict[int, tuple[int, bool]] = {}
    starts: dict[tuple[object, bytes], int] = {}
    for kind, text in names.items():
        if b"-done" in text:
            done = _DONE.search(text)
            name = done["start"] if done else _name(text).replace(b"-done", b"-start")
            if done or b"-done" in _name(text):
                key = (program(kind), name)
                found[kind] = (starts.setdefault(key, len(starts)), True)
    begun = {name for _, name in starts}
    for kind, text in names.items() if begun else ():
        if kind not in found and _name(text) in begun:
            number = starts.get((program(kind), _name(text)))
            if number is not None:
                found[kind] = (number, False)
    return found


def _name(text: bytes) -> bytes:
    found = _INSTRUCTION.match(text)
    return found["name"] if found else b""


def pairs(
    kinds: Mapping[int, tuple[int, bool]], kind: IntArray, offset: IntArray, run: IntArray
) -> tuple[IntArray, IntArray]:
    """Rows of starts and of what is done, of events in the order of the file.

    A start is done by the next of its instruction, if that is in the same ``run`` of the program.
    """
    rows = np.flatnonzero(np.isin(kind, list(kinds)))
    told = [kinds[each] for each in kind[rows].tolist()]
    number = np.array([each[0] for each in told], dtype=np.int64)
    done = np.array([each[1] for each in told], dtype=bool)
    order = np.lexsort((offset[rows], number))
    first, second = order[:-1], order[1:]
    fits = (number[first] == number[second]) & ~done[first] & done[second]
    fits &= run[rows[first]] == run[rows[second]]
    return rows[first[fits]], rows[second[fits]]
