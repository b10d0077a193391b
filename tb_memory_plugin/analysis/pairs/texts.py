"""Columns of two recordings, made into one: equal words have one code, rows their new places."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import arrays


def texts(*parts: tuple[list[str], IntArray]) -> pa.DictionaryArray:
    """A column of the words and codes (-1: null) of several, one after the other."""
    known: dict[str, int] = {}
    codes = [recoded(words, own, known) for words, own in parts]
    return arrays.text(np.concatenate(codes), list(known))


def recoded(words: list[str], codes: IntArray, known: dict[str, int]) -> IntArray:
    """``codes`` of ``words`` as codes of those ``known``, which words that are new are added to."""
    new = np.array([known.setdefault(word, len(known)) for word in words] + [-1], dtype=np.int64)
    found: IntArray = new[codes]
    return found


def moved(new: IntArray, rows: IntArray) -> IntArray:
    """What ``rows`` are now, by ``new``, -1 for those that there are none of."""
    there = (rows >= 0) & (rows < len(new))
    found: IntArray = np.append(new, -1)[np.where(there, rows, -1)]
    return found
