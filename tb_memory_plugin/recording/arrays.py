"""Integer columns between numpy and Arrow without losing exactness, and without a copy."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tb_memory_plugin.recording.schema import sentinel

IntArray = npt.NDArray[Any]

#: Bytes that the texts of a column may have together: Arrow's offsets have 32 bits.
_MOST_TEXT = (1 << 31) - 1


class TooMuchText(OverflowError):
    """Texts that are longer together than a column can hold."""


def column(
    data: npt.ArrayLike, kind: pa.DataType, missing: npt.ArrayLike | None = None, name: str = ""
) -> pa.Array:
    """An Arrow array of integer type ``kind`` over ``data``.

    ``missing`` is a boolean mask of the null rows; under each of them the value buffer holds
    ``sentinel(name)``, which :func:`values` gives back.
    """
    array = np.array(data, dtype=_numpy_type(kind), order="C")
    if missing is None:
        return pa.Array.from_buffers(kind, len(array), [None, pa.py_buffer(array)])
    mask = np.asarray(missing, dtype=bool)
    if not mask.any():
        return pa.Array.from_buffers(kind, len(array), [None, pa.py_buffer(array)])
    if mask.all():
        return nulls(len(array), kind, name)
    array[mask] = _held(sentinel(name), array.dtype)
    validity = np.packbits(~mask, bitorder="little")
    return pa.Array.from_buffers(
        kind,
        len(array),
        [pa.py_buffer(validity), pa.py_buffer(array)],
        null_count=int(mask.sum()),
    )


def adopted(data: IntArray, kind: pa.DataType) -> pa.Array:
    """An Arrow array of ``data`` itself, of the numpy type of ``kind``: nobody may change it."""
    whole = np.ascontiguousarray(data, dtype=_numpy_type(kind))
    return pa.Array.from_buffers(kind, len(whole), [None, pa.py_buffer(whole)])


def _held(value: int, dtype: np.dtype[Any]) -> int:
    """``value``, or what comes nearest to it in a column of ``dtype``."""
    return min(max(value, int(np.iinfo(dtype).min)), int(np.iinfo(dtype).max))


def _numpy_type(kind: pa.DataType) -> np.dtype[Any]:
    # They share their names. (``to_pandas_dtype`` needs pandas in older pyarrows.)
    return np.dtype(str(kind))


def nulls(length: int, kind: pa.DataType, name: str = "") -> pa.Array:
    """``length`` nulls of type ``kind``, their value buffer holding the sentinel."""
    if pa.types.is_dictionary(kind) and length:
        codes = _all_null(length, kind.index_type, b"\0")
        return pa.DictionaryArray.from_arrays(codes, strings([]))
    if pa.types.is_float64(kind) and length:
        return _all_null(length, kind, b"\0")
    if not pa.types.is_integer(kind) or not length:
        return pa.nulls(length, kind)
    dtype = _numpy_type(kind)
    return _all_null(length, kind, dtype.type(_held(sentinel(name), dtype)).tobytes())


def _all_null(length: int, kind: pa.DataType, held: bytes) -> pa.Array:
    """Nulls over as many bytes ``held`` as there have to be."""
    validity = pa.py_buffer(_repeated(b"\0", (length + 7) // 8))
    values = pa.py_buffer(_repeated(held, length * (kind.bit_width // 8)))
    return pa.Array.from_buffers(kind, length, [validity, values], null_count=length)


#: Bytes that whole columns of nulls share as long as there are any, by what is repeated in them.
_shared: weakref.WeakValueDictionary[bytes, IntArray] = weakref.WeakValueDictionary()


def _repeated(pattern: bytes, size: int) -> IntArray:
    pattern = pattern[:1] if len({*pattern}) == 1 else pattern
    found = _shared.get(pattern)
    if found is None or len(found) < size:
        if pattern == b"\0":
            found = np.zeros(size, dtype=np.uint8)  # which costs nothing until it is written to
        else:
            count = -(-size // len(pattern))
            found = np.repeat(np.frombuffer(pattern, f"V{len(pattern)}"), count).view(np.uint8)
        found.flags.writeable = False
        _shared[pattern] = found
    return found[:size]


def values(table: pa.Table, name: str) -> IntArray:
    """The integers of a column as they lie in memory; nulls read as ``sentinel(name)``.

    For a dictionary column, its codes (-1 for null). Read-only; no copy for a table of one chunk,
    which is what a recording's file holds.
    """
    chunks = table.column(name).chunks
    arrays = [_chunk_values(chunk, name) for chunk in chunks]
    if len(arrays) == 1:
        return arrays[0]
    if not arrays:
        kind = table.schema.field(name).type
        if pa.types.is_dictionary(kind):
            kind = kind.index_type
        return np.zeros(0, dtype=_numpy_type(kind))
    return np.concatenate(arrays)


def distinct(values: IntArray) -> IntArray:
    """The distinct ``values`` in order.

    Not ``np.unique``: without places it imports ``numpy.ma``, which takes longer than an answer.
    """
    ordered = np.sort(values, axis=None)
    found: IntArray = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return found


def _chunk_values(chunk: pa.Array, name: str) -> IntArray:
    if pa.types.is_dictionary(chunk.type):
        codes = chunk.indices
        array = _buffer_values(codes)
        if codes.null_count:
            array = np.where(_bits(codes, 0), array, -1)
        return array
    if not pa.types.is_integer(chunk.type):
        raise TypeError(f"column {name!r} is {chunk.type}, not an integer or a dictionary")
    return _buffer_values(chunk)


def _buffer_values(chunk: pa.Array) -> IntArray:
    dtype = _numpy_type(chunk.type)
    if len(chunk) == 0:
        return np.zeros(0, dtype=dtype)
    array = np.frombuffer(chunk.buffers()[1], dtype=dtype)
    return array[chunk.offset : chunk.offset + len(chunk)]


def lists(table: pa.Table, name: str) -> tuple[IntArray, IntArray]:
    """The integers of a column of lists in a row, and where each list begins (one more than rows).

    Not by ``np.asarray``, for which Arrow imports pandas.
    """
    chunks = table.column(name).chunks
    if not chunks:
        return np.zeros(0, np.int32), np.zeros(1, np.int64)
    column = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
    return _buffer_values(column.values), _buffer_values(column.offsets).astype(np.int64)


def text(codes: npt.ArrayLike, words: Sequence[str]) -> pa.DictionaryArray:
    """A dictionary column of ``words``, one code a row, -1 for null."""
    indices = np.asarray(codes, dtype=np.int32)
    return pa.DictionaryArray.from_arrays(column(indices, pa.int32(), indices < 0), strings(words))


def encoded_text(values: Iterable[str | None]) -> pa.DictionaryArray:
    """A dictionary column of ``values``, its words in order of appearance."""
    known: dict[str, int] = {}
    codes = [-1 if value is None else known.setdefault(value, len(known)) for value in values]
    return text(codes, list(known))


def strings(values: Sequence[str]) -> pa.StringArray:
    """An Arrow array of text. (``pa.array`` of a list imports pandas where it is installed.)

    Raises TooMuchText.
    """
    encoded = [value.encode() for value in values]
    lengths = [len(value) for value in encoded]
    if sum(lengths) > _MOST_TEXT:
        raise TooMuchText(f"holds more than {_MOST_TEXT} bytes of different texts of one kind")
    offsets = np.zeros(len(encoded) + 1, dtype=np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.StringArray.from_buffers(
        len(encoded), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))
    )


def booleans(values: Iterable[bool | None]) -> pa.BooleanArray:
    """An Arrow array of truth values, None for null."""
    codes = np.array([-1 if value is None else int(value) for value in values], dtype=np.int8)
    return masked_booleans(codes > 0, codes < 0)


def masked_booleans(values: npt.ArrayLike, missing: npt.ArrayLike) -> pa.BooleanArray:
    """An Arrow array of truth values; ``missing`` is a mask of the null ones."""
    true, valid = np.asarray(values, dtype=bool), ~np.asarray(missing, dtype=bool)
    buffers = [pa.py_buffer(np.packbits(bits, bitorder="little")) for bits in (valid, true)]
    return pa.BooleanArray.from_buffers(pa.bool_(), len(true), buffers)


def real_column(values: npt.NDArray[np.float64]) -> pa.DoubleArray:
    """An Arrow array of ``values``; what is not finite is null."""
    finite = np.isfinite(values)
    kept = np.where(finite, values, 0.0)
    validity = pa.py_buffer(np.packbits(finite, bitorder="little"))
    return pa.Array.from_buffers(pa.float64(), len(kept), [validity, pa.py_buffer(kept)])


def reals(table: pa.Table, name: str) -> npt.NDArray[np.float64]:
    """The numbers of a column of reals; null is NaN."""
    parts = [np.zeros(0)]
    for chunk in table.column(name).chunks:
        if len(chunk):
            found = np.frombuffer(chunk.buffers()[1], dtype=np.float64)
            parts.append(found[chunk.offset : chunk.offset + len(chunk)])
    return np.where(valid(table, name), np.concatenate(parts), np.nan)


def valid(table: pa.Table, name: str) -> npt.NDArray[np.bool_]:
    """Which rows of a column are not null. (Arrow's ``is_valid`` imports pandas on its way out.)"""
    return _joined_bits([_bits(chunk, 0) for chunk in table.column(name).chunks])


def truths(table: pa.Table, name: str) -> npt.NDArray[np.bool_]:
    """The rows of a truth value column that are true; null is not."""
    chunks = table.column(name).chunks
    return _joined_bits([_bits(chunk, 1) for chunk in chunks]) & valid(table, name)


def _bits(chunk: pa.Array, place: int) -> npt.NDArray[np.bool_]:
    codes = chunk.indices if pa.types.is_dictionary(chunk.type) else chunk
    buffer = codes.buffers()[place]
    if buffer is None:
        return np.ones(len(codes), dtype=bool)
    bits = np.unpackbits(np.frombuffer(buffer, dtype=np.uint8), bitorder="little")
    return bits[codes.offset : codes.offset + len(codes)].astype(bool)


def _joined_bits(parts: list[npt.NDArray[np.bool_]]) -> npt.NDArray[np.bool_]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=bool)


def words(table: pa.Table, name: str) -> list[str]:
    """The dictionary of a text column, in code order."""
    chunks = table.column(name).chunks
    return chunks[0].dictionary.to_pylist() if chunks else []


def dictionary(table: pa.Table, name: str) -> pa.StringArray:
    """The dictionary of a text column, in code order, as it lies in memory."""
    chunks = table.column(name).chunks
    return chunks[0].dictionary if chunks else strings([])


def words_of(table: pa.Table, name: str, rows: IntArray) -> list[str | None]:
    """The texts of some ``rows`` of a text column, without making words of the others.

    None for a row that is -1.
    """
    # Of these rows alone: where a column has nulls its codes are a copy.
    return all_words(table.select([name]).take(column(rows, pa.int64(), rows < 0)), name)


def all_words(table: pa.Table, name: str) -> list[str | None]:
    """The texts of a text column, one a row; made once where they are the same."""
    codes = values(table, name).tolist()
    known = dictionary(table, name)
    words = {code: known[code].as_py() for code in {*codes} - {-1}}
    return [words.get(code) for code in codes]
