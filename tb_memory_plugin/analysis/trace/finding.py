"""Spans found by name: where they are, and which comes next."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.matching import matching_texts
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording

_PART = 1 << 18


def named(recording: Recording, text: str, *, exactly: bool = False) -> IntArray:
    """A truth value a name of spans, and last for none: whether it holds ``text``, in any case.

    ``text`` may be an ``/expression/``; ``exactly``: whether it is the name. Raises QueryError.
    """
    words = arrays.dictionary(recording.table("spans"), "name")
    if exactly:
        return np.array([*(word == text for word in words.to_pylist()), False], dtype=bool)
    return np.append(matching_texts(words, text), False)


def found_before(recording: Recording, text: str) -> IntArray:
    """How many of the first n rows of ``span_order`` are found, for n from none to all."""
    return memo(recording, ("spans_before", text), lambda: _before(recording, text))


def _before(recording: Recording, text: str) -> IntArray:
    is_named = named(recording, text)
    name, span = recording.values("spans", "name"), recording.values("span_order", "span")
    before = np.zeros(len(span) + 1, dtype=np.int32)
    for begin in range(0, len(span), _PART):
        part = slice(begin, begin + _PART)
        before[begin + 1 : begin + 1 + _PART] = is_named[name[span[part]]]
    return np.cumsum(before, dtype=np.int32)


def found(recording: Recording, text: str, *, kind: str | None = None, exactly: bool) -> IntArray:
    """The rows of ``spans`` that are found, in order of time; ``kind`` None is any."""
    return memo(
        recording,
        ("spans_found", text, kind, exactly),
        lambda: _found(recording, text, kind, exactly),
    )


def _found(recording: Recording, text: str, kind: str | None, exactly: bool) -> IntArray:
    is_named = named(recording, text, exactly=exactly)
    chosen = is_named[recording.values("spans", "name")]
    if kind is not None:
        kinds = arrays.words(recording.table("spans"), "kind")
        is_kind = np.array([*(word == kind for word in kinds), False], dtype=bool)
        chosen &= is_kind[recording.values("spans", "kind")]
    rows = np.flatnonzero(chosen)
    begin = recording.values("spans", "begin")[rows]
    return rows[np.argsort(begin, kind="stable")].astype(np.int32)
