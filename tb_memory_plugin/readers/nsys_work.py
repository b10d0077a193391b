"""Calls of CUDA, and what they had a GPU do, as Nsight Systems exports them: a row each."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.readers.checked import Malformed, text
from tb_memory_plugin.readers.nsys_database import (
    Database,
    Rows,
    combinations,
    enumeration,
    strings,
)
from tb_memory_plugin.readers.nsys_events import KINDS as MEMORY_KINDS
from tb_memory_plugin.readers.nsys_events import TID_BITS
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.vocabulary import Vocabulary

_KIND = "CUPTI_ACTIVITY_KIND_"
CALLS = f"{_KIND}RUNTIME"
#: Rows of one table that become spans, the longest, and bytes of what they say of themselves.
MOST_ROWS, MOST_WORDS = 1_000_000, 64 << 20
#: CUDA's functions are exported with the version that they came with: cudaMalloc_v3020.
VERSION = re.compile(r"_v\d+(_ptsz|_ptds)?$")
KINDS = ["runtime", "kernel", "copy"]
RUNTIME, _KERNEL, _COPY = range(3)
_LATEST = 1 << 62
_OF_ALL = ("start", "end", "correlationId")
_ON_DEVICES = ("globalPid", "deviceId", "streamId")
#: What is told of each, in words of the export; of kernels below what they are called.
_SHAPE = ("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ")
_NEEDS = ("registersPerThread", "staticSharedMemory", "dynamicSharedMemory")
#: Ways of copying as exports number them, for those without a table of their names.
_COPIES = {
    1: "host-to-device",
    2: "device-to-host",
    3: "host-to-array",
    4: "array-to-host",
    5: "array-to-array",
    6: "array-to-device",
    7: "device-to-array",
    8: "device-to-device",
    9: "host-to-host",
    10: "peer-to-peer",
    11: "unified host-to-device",
    12: "unified device-to-host",
    13: "unified device-to-device",
}

Value = int | str | list[int]


@dataclass(frozen=True)
class Part:
    """Rows of one table. ``place`` is of calls the global thread id, else device and stream.

    ``name`` and ``said`` are codes of the ``names`` and ``words`` of ``Work``, -1 for nothing.
    """

    kind: int
    begin: IntArray
    end: IntArray
    process: IntArray
    correlation: IntArray
    place: tuple[IntArray, ...]
    name: IntArray
    said: IntArray


class Work:
    """All calls and all work of an export; ``left_out`` says how many rows of which are not here.

    ``unsaid`` counts those of which there was no room for what they say of themselves.
    """

    def __init__(self, database: Database) -> None:
        self.names, self.words = Vocabulary(), Vocabulary()
        self.left_out: dict[str, int] = {}
        self.unsaid = self._spent = 0
        self._database = database
        self.parts: list[Part] = []
        self._add(CALLS, RUNTIME, "calls of CUDA", ("globalTid",), "nameId", ("returnValue",))
        kernel = (*_SHAPE, *_NEEDS, "demangledName")
        self._add(f"{_KIND}KERNEL", _KERNEL, "kernels", _ON_DEVICES, "shortName", kernel)
        self._add(f"{_KIND}GRAPH_TRACE", _KERNEL, "graphs", _ON_DEVICES, "graphId")
        copied, filled = ("bytes", "srcKind", "dstKind"), ("bytes", "value", "memKind")
        self._add(f"{_KIND}MEMCPY", _COPY, "copies", _ON_DEVICES, "copyKind", copied)
        self._add(f"{_KIND}MEMSET", _COPY, "copies", _ON_DEVICES, "", filled)

    def _add(
        self,
        table: str,
        kind: int,
        what: str,
        place: Sequence[str],
        called: str,
        said: Sequence[str] = (),
    ) -> None:
        if not self._database.has(table, "start", "end"):
            return
        columns = dict.fromkeys([*_OF_ALL, *place, *([called] if called else []), *said])
        rows, left_out = longest(self._database, table, list(columns))
        self.left_out[what] = self.left_out.get(what, 0) + left_out
        begin, end = rows["start"], rows["end"]
        if not len(begin):
            return
        if max(int(begin.max()), int(end.max())) > _LATEST:
            raise Malformed("has time stamps that are none")
        of = [rows[name] for name in place]
        process = of[0] >> TID_BITS
        name = self._called(table, rows, called)
        codes = self._said(rows, said)
        keys = tuple(of) if kind == RUNTIME else tuple(of[1:])
        end = np.maximum(begin, end)
        correlation = rows["correlationId"]
        self.parts.append(Part(kind, begin, end, process, correlation, keys, name, codes))

    def _called(self, table: str, rows: Rows, column: str) -> IntArray:
        if not column:
            return np.full(len(rows["start"]), self.names.code("memset"))
        numbers, place = np.unique(rows[column], return_inverse=True)
        if column == "graphId":
            words = [f"CUDA graph {number}" for number in numbers.tolist()]
        elif column == "copyKind":
            ways = enumeration(self._database, "ENUM_CUDA_MEMCPY_OPER", "label", _COPIES)
            words = [f"memcpy {ways.get(each, f'of kind {each}')}" for each in numbers.tolist()]
        else:
            known = strings(self._database, numbers.tolist())
            none = "call" if table == CALLS else "kernel"
            words = [VERSION.sub("", known.get(each, none)) for each in numbers.tolist()]
        codes = [self.names.code(text(word)) for word in words]
        found: IntArray = np.array(codes, dtype=np.int64)[place.reshape(-1)]
        return found

    def _said(self, rows: Rows, columns: Sequence[str]) -> IntArray:
        """Codes of the JSON objects of what ``columns`` say."""
        if not columns:
            return np.full(len(rows["start"]), -1)
        distinct, of = combinations(*(rows[name] for name in columns))
        longer = distinct[:, -1].tolist() if columns[-1] == "demangledName" else []
        known = strings(self._database, longer)
        kinds = enumeration(self._database, "ENUM_CUDA_MEM_KIND", "label", MEMORY_KINDS)
        codes = np.full(len(distinct), -1)
        for place, values in enumerate(distinct.tolist()):
            said = _object(dict(zip(columns, values, strict=True)), known, kinds)
            if not said:
                continue
            word = json.dumps(said, ensure_ascii=False)
            self._spent += 0 if word in self.words.codes else len(word)
            if self._spent > MOST_WORDS:
                self.unsaid += int((of >= place).sum())
                break
            codes[place] = self.words.code(word)
        return codes[of]


def longest(database: Database, table: str, columns: Sequence[str]) -> tuple[Rows, int]:
    """Rows of a table with a ``start`` and an ``end``, of too many the longest; how many are not.

    In the order of the file; what is null in the other columns is -1.
    """
    times = database.columns(table, (), ("start", "end"))
    timed = times["start"] >= 0
    count, where = int(timed.sum()), 'WHERE "start" >= 0'
    if count > MOST_ROWS:
        length = np.sort((times["end"] - times["start"])[timed])
        where += f' AND "end" - "start" >= {int(length[-MOST_ROWS])}'
    del times
    rows = database.columns(table, (), columns, where=where)
    if len(rows["start"]) > MOST_ROWS:  # of as long ones the first
        length = rows["end"] - rows["start"]
        kept = np.sort(np.argsort(-length, kind="stable")[:MOST_ROWS])
        rows = Rows({name: rows[name][kept] for name in columns}, {}, {})
    return rows, count - len(rows["start"])


def _object(
    values: dict[str, int], known: dict[int, str], kinds: dict[int, str]
) -> dict[str, Value]:
    """What the columns of a row say: of -1, and of a call that returned 0, nothing."""
    said: dict[str, Value] = {}
    for name in ("grid", "block"):
        shape = [values.pop(f"{name}{axis}", -1) for axis in "XYZ"]
        if min(shape) >= 0:
            said[name] = shape
    for name, value in values.items():
        if name == "demangledName":
            if value in known:
                said[name] = text(known[value])[:1_000]
        elif value < 0 or (name == "returnValue" and not value):
            continue
        else:
            said[name] = kinds.get(value, value) if name.endswith("Kind") else value
    return said
