"""A word or /pattern/ that a user typed, looked up in what is known of allocations."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.content import stack_layout
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording

_LONGEST = 1000


def matching_texts(texts: pa.Array, pattern: str) -> IntArray:
    """Which of ``texts`` hold ``pattern``: case does not matter; ``/…/`` is a regular expression.

    Expressions are RE2's, whose time is linear in the text. Raises QueryError.
    """
    if len(pattern) > _LONGEST:
        raise QueryError(f"A pattern may have {_LONGEST} characters; this one has {len(pattern)}.")
    try:
        pattern.encode()
    except UnicodeEncodeError:  # what a shell makes of bytes that are no text
        raise QueryError(f"{pattern!r} holds bytes that are no text.") from None
    # Imported where it is used: a tenth of a second, which reading a source can do without.
    import pyarrow.compute as pc

    expression = as_expression(pattern)
    try:
        if expression is None:
            found = pc.match_substring(texts, pattern, ignore_case=True)
        else:
            # Arrow looks at the expression only where there is a text.
            pc.match_substring_regex(arrays.strings([""]), expression)
            found = pc.match_substring_regex(texts, expression, ignore_case=True)
    except pa.ArrowInvalid as error:
        reason = str(error).partition(": ")[2].strip()
        raise QueryError(f"{pattern} is not a regular expression: {reason}.") from None
    return arrays.truths(pa.table([found], ["hits"]), "hits")


def as_expression(pattern: str) -> str | None:
    """What stands between the slashes of ``/…/``, None for plain words."""
    if len(pattern) > 2 and pattern.startswith("/") and pattern.endswith("/"):
        return pattern[1:-1]
    return None


def matching_column(recording: Recording, device: Device, column: str, pattern: str) -> IntArray:
    """Which of a device's allocations match ``pattern`` in a text column; nulls do not."""
    words = arrays.dictionary(recording.table("allocations"), column)
    return _of_codes(matching_texts(words, pattern), recording, device, column)


def equal_column(recording: Recording, device: Device, column: str, word: str) -> IntArray:
    """Which of a device's allocations have exactly ``word`` in a text column."""
    words = arrays.words(recording.table("allocations"), column)
    hits = np.array([each == word for each in words], dtype=bool)
    return _of_codes(hits, recording, device, column)


def matching_stacks(recording: Recording, device: Device, pattern: str) -> IntArray:
    """Which of a device's allocations have a frame that matches ``pattern`` in their stack."""
    return _of_codes(stacks_with(recording, pattern), recording, device, "birth_stack")


def _of_codes(hits: IntArray, recording: Recording, device: Device, column: str) -> IntArray:
    """Which of a device's allocations have a code in ``column`` that is one of the ``hits``."""
    if not hits.any():
        rows = recording.rows("allocations", device)
        return np.zeros(rows.stop - rows.start, dtype=bool)
    return np.append(hits, False)[recording.values("allocations", column, device)]


def stacks_with(recording: Recording, pattern: str) -> IntArray:
    """Which stacks hold a frame that matches ``pattern``, see :func:`matching_frames`."""
    hits = matching_frames(recording, pattern)
    frames, offsets = stack_layout(recording)
    running = np.concatenate([[0], np.cumsum(hits[frames])])
    found: IntArray = running[offsets[1:]] > running[offsets[:-1]]
    return found


def matching_frames(recording: Recording, pattern: str) -> IntArray:
    """Which frames have a text ``function file:line`` that matches ``pattern``.

    Remembered: moving about asks for the same words again and again.
    """
    key = ("frames_matching", pattern)
    return memo(recording, key, lambda: _matching_frames(recording, pattern))


def _matching_frames(recording: Recording, pattern: str) -> IntArray:
    import pyarrow.compute as pc

    table = recording.table("frames")
    # Scalars from an array: made from Python's text they would bring in pandas.
    nothing, space, colon = arrays.strings(["", " ", ":"])
    columns = [
        pc.fill_null(table.column(name).cast(pa.string()), nothing)
        for name in ("function", "file", "line")
    ]
    called = pc.binary_join_element_wise(*columns[:2], space)
    text = pc.binary_join_element_wise(called, columns[2], colon)
    if isinstance(text, pa.ChunkedArray):
        text = text.combine_chunks() if text.num_chunks else arrays.strings([])
    return matching_texts(text, pattern)


def matching(recording: Recording, device: Device, pattern: str) -> IntArray:
    """Which of a device's allocations match in a stack frame, op, name or module."""
    found = matching_stacks(recording, device, pattern)
    for column in ("op", "name", "module"):
        found |= matching_column(recording, device, column, pattern)
    return found
