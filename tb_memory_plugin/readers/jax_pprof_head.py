"""Whether the first bytes of a file are those of a JAX device memory profile."""

from __future__ import annotations

from collections.abc import Iterator

#: Field numbers of Profile and Sample, wire types of protobuf.
_SAMPLE_TYPE, _SAMPLE, _STRING_TABLE = 1, 2, 6
_VALUES, _LABELS = 2, 3
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_FIXED = {_FIXED64: 8, _FIXED32: 4}
_MOST_VARINT = 10

Field = tuple[int, int, int, int]  # number, wire type, begin, end


class _Cut(Exception):
    """The bytes end inside a field."""


class _NotProtobuf(Exception):
    """No message is written like this."""


def is_device_memory(start: bytes) -> bool:
    """Whether ``start``, inflated, begins as JAX writes such a profile.

    The words that tell it for sure are at the end of the file, which a head need not reach. What
    begins it are two sample types and samples with two values and labels of text; profiles of
    other tools have no such labels, other protobufs no such fields.
    """
    types, strings = 0, set()
    try:
        for number, kind, begin, end in _fields(start, 0, len(start)):
            if number == _SAMPLE_TYPE:
                if not _is_pair(start, begin, end, kind):
                    return False
                types += 1
            elif number == _SAMPLE:
                return types == 2 and kind == _LENGTH and _is_sample(start, begin, end)
            elif number == _STRING_TABLE and kind == _LENGTH:
                strings.add(start[begin:end])
    except (_Cut, _NotProtobuf):
        return False
    # Whole, and nothing is alive in it.
    return types == 2 and {b"allocations", b"space"} <= strings


def _is_pair(data: bytes, begin: int, end: int, kind: int) -> bool:
    """A ValueType: type and unit, nothing else."""
    if kind != _LENGTH:
        return False
    fields = [(number, kind) for number, kind, _, _ in _fields(data, begin, end)]
    return fields == [(1, _VARINT), (2, _VARINT)]


def _is_sample(data: bytes, begin: int, end: int) -> bool:
    values, labelled = 0, False
    for number, kind, first, stop in _fields(data, begin, end):
        if number == _VALUES and kind == _LENGTH:  # packed
            values += sum(byte < 0x80 for byte in data[first:stop])
        elif number == _VALUES and kind == _VARINT:
            values += 1
        elif number == _LABELS and kind == _LENGTH:
            labelled |= _is_pair(data, first, stop, kind)
        elif number > _LABELS:
            return False
    return values == 2 and labelled


def _fields(data: bytes, place: int, stop: int) -> Iterator[Field]:
    while place < stop:
        tag, place = _varint(data, place, stop)
        kind, begin = tag & 7, place
        if kind == _VARINT:
            _, place = _varint(data, place, stop)
        elif kind == _LENGTH:
            length, begin = _varint(data, place, stop)
            place = begin + length
        elif kind in _FIXED:
            place += _FIXED[kind]
        else:
            raise _NotProtobuf
        if place > stop:
            raise _Cut
        if tag >> 3 == 0:
            raise _NotProtobuf
        yield tag >> 3, kind, begin, place


def _varint(data: bytes, place: int, stop: int) -> tuple[int, int]:
    value = 0
    for shift in range(_MOST_VARINT):
        if place + shift >= stop:
            raise _Cut
        byte = data[place + shift]
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return value, place + shift + 1
    raise _NotProtobuf
