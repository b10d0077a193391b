"""Allocator events of a Kineto trace as compact columns that grow batch by batch."""

from __future__ import annotations

from array import array
from typing import Any

import msgspec
import numpy as np

from tb_memory_plugin.readers.checked import UINT64_MAX, Malformed
from tb_memory_plugin.readers.kineto_times import nanoseconds
from tb_memory_plugin.readers.trace_stream import NOT_JSON, Event
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.vocabulary import Vocabulary

_INT64 = (1 << 63) - 1


class MemoryArgs(msgspec.Struct, gc=False):
    """The arguments of a ``[memory]`` event; those of the first era have three of them."""

    device_type: int = msgspec.field(name="Device Type", default=1)
    device: int = msgspec.field(name="Device Id", default=-1)
    bytes: int = msgspec.field(name="Bytes", default=0)
    address: int | None = msgspec.field(name="Addr", default=None)
    allocated: int | None = msgspec.field(name="Total Allocated", default=None)
    reserved: int | None = msgspec.field(name="Total Reserved", default=None)
    index: int | None = msgspec.field(name="Ev Idx", default=None)


_arguments = msgspec.json.Decoder(list[MemoryArgs]).decode
#: Columns of which a device has all values or, for what matters, none.
_OPTIONAL = {"address": "Addr", "allocated": "Total Allocated", "reserved": "Total Reserved"}


class Instants:
    """A row an event, in the order of the file.

    ``devices`` are pairs of a type and an ordinal; ``without`` says by name of a column
    (``address``, ``allocated``, ``reserved``) of which devices, by code, not every event has it.
    """

    def __init__(self, tracks: Vocabulary) -> None:
        self.tracks, self.devices = tracks, Vocabulary()
        self.without: dict[str, set[int]] = {name: set() for name in _OPTIONAL}
        self._columns = {
            "track": array("i"),
            "time": array("q"),
            "device": array("h"),
            "bytes": array("q"),
            "index": array("q"),
            "address": array("Q"),
            "allocated": array("q"),
            "reserved": array("q"),
        }
        self._tracks: list[int] = []
        self._times: list[Any] = []
        self._waiting: list[bytes] = []

    def add(self, event: Event) -> None:
        """One more."""
        self._tracks.append(self.tracks.code((str(event.pid), str(event.tid))))
        self._times.append(event.ts)
        self._waiting.append(bytes(event.args) or b"{}")

    def settle(self) -> None:
        """Take in those that came since the last time. Raises Malformed."""
        if not self._waiting:
            return
        try:
            found = _arguments(b"[" + b",".join(self._waiting) + b"]")
        except NOT_JSON as error:
            raise Malformed(f"has a [memory] event that makes no sense: {error}") from None
        self._columns["track"].extend(self._tracks)
        self._columns["time"].frombytes(nanoseconds(self._times).tobytes())
        self._take(found)
        for waiting in (self._waiting, self._times, self._tracks):
            waiting.clear()

    def _take(self, found: list[MemoryArgs]) -> None:
        types = _checked([each.device_type for each in found], "Device Type")
        ordinals = _checked([each.device for each in found], "Device Id")
        codes = [self.devices.code(key) for key in zip(types, ordinals, strict=True)]
        if len(self.devices.codes) > np.iinfo(np.int16).max:
            raise Malformed(f"has {len(self.devices.codes)} devices")
        self._columns["device"].extend(codes)
        self._columns["bytes"].extend(_checked([each.bytes for each in found], "Bytes"))
        index = [-1 if each.index is None else each.index for each in found]
        self._columns["index"].extend(_checked(index, "Ev Idx"))
        for name, what in _OPTIONAL.items():
            values = [getattr(each, name) for each in found]
            if None in values:
                lacking = [code for code, value in zip(codes, values, strict=True) if value is None]
                self.without[name].update(lacking)
                values = [0 if value is None else value for value in values]
            self._columns[name].extend(
                _addresses(values) if name == "address" else _checked(values, what)
            )

    def __len__(self) -> int:
        return len(self._columns["track"])

    def column(self, name: str) -> IntArray:
        """A column as it is so far: ``track``, ``time``, ``device``, a field of MemoryArgs."""
        values = self._columns[name]
        return np.frombuffer(values, values.typecode) if values else np.zeros(0, values.typecode)

    def take(self, name: str) -> IntArray:
        """A column, which is not kept here."""
        values = self.column(name)
        del self._columns[name]
        return values


def _checked(values: list[int], what: str) -> list[int]:
    if min(values) < -_INT64 or max(values) > _INT64:
        raise Malformed(f"has a [memory] event whose {what} is out of range")
    return values


def _addresses(values: list[int]) -> list[int]:
    if min(values) < 0 or max(values) > UINT64_MAX:
        raise Malformed("has a [memory] event whose Addr is no address of 64 bits")
    return values
