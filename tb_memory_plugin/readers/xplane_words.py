"""Texts of an XPlane, which events refer to by number, as codes of words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tb_memory_plugin.readers.checked import text
from tb_memory_plugin.recording.arrays import IntArray

_SPARSE = 4


def word(data: bytes) -> str:
    """Text of a file; what is not UTF-8 is spelled out."""
    return text(data.decode("utf-8", "backslashreplace"))


def spelled(code: int, texts: Sequence[bytes], stat_names: Mapping[int, bytes]) -> str:
    """What a text's code of ``xplane_events`` stands for; nothing for none."""
    return word(texts[code] if code >= 0 else stat_names.get(-2 - code, b""))


def mapped(codes: IntArray, change: Callable[[int], int]) -> IntArray:
    """``change`` of every code, asked once for each distinct one."""
    if not len(codes):
        return codes
    low, high = int(codes.min()), int(codes.max())
    if high - low < _SPARSE * len(codes) + 1024:
        places = codes - low
        distinct = np.flatnonzero(np.bincount(places))
        changed: IntArray = np.zeros(high - low + 1, dtype=np.int64)
        changed[distinct] = [change(code + low) for code in distinct.tolist()]
    else:
        distinct, places = np.unique(codes, return_inverse=True)
        changed = np.array([change(code) for code in distinct.tolist()], dtype=np.int64)
    found: IntArray = changed[places]
    return found
