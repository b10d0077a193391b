"""Rows of allocations, made into the JSON that the page takes and the words it shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.alive import addresses_known
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.frames import frame_labels, named_by
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Category

_PLAIN = (
    "requested",
    "size",
    "name",
    "op",
    "module",
    "region",
    "dtype",
    "shape",
    "annotation",
    "step",
    "birth",
    "death",
    "birth_time",
    "death_time",
)
_TEXTS = ("name", "op", "module", "region", "dtype", "shape", "annotation")
_NUMBERS = tuple(name for name in _PLAIN if name not in _TEXTS)


def allocation_rows(recording: Recording, rows: IntArray) -> list[dict[str, Any]]:
    """Rows of the whole table ``allocations`` as objects of ``GET allocations``."""
    wanted = [*_PLAIN, "category", "address"]
    table = recording.table("allocations").select(wanted).take(arrays.column(rows, pa.int64()))
    columns = {name: table.column(name).to_pylist() for name in _NUMBERS}
    columns |= {name: arrays.all_words(table, name) for name in _TEXTS}
    known = addresses_known(recording)
    address = table.column("address").to_pylist() if known else [None] * len(table)
    words = {int(category): category.label for category in Category}
    category = [words.get(code) for code in table.column("category").to_pylist()]
    labels = allocation_labels(recording, rows)
    return [
        {
            "id": str(row),
            **{name: columns[name][place] for name in _PLAIN},
            "category": category[place],
            "address": hexadecimal(address[place]),
            "label": labels[place],
        }
        for place, row in enumerate(rows.tolist())
    ]


def allocation_labels(recording: Recording, rows: IntArray) -> list[str]:
    """How people call allocations: by name, else by where they were made, else by op."""
    table = recording.table("allocations")
    names, ops = (arrays.words_of(table, column, rows) for column in ("name", "op"))
    own = np.append(named_by(recording), -1)
    frames = own[arrays.values(table, "birth_stack")[rows]].tolist()
    before = (arrays.values(table, "birth")[rows] < 0).tolist()
    made_at = frame_labels(recording, set(frames))
    return [
        name or made_at.get(frame) or op or ("before the window" if older else "no stack recorded")
        for name, frame, op, older in zip(names, frames, ops, before, strict=True)
    ]


def lines(recording: Recording, rows: IntArray) -> list[str | None]:
    """The frame that names the stack of each allocation: ``loss · train.py:25``; None without."""
    own = np.append(named_by(recording), -1)
    frames = own[arrays.values(recording.table("allocations"), "birth_stack")[rows]].tolist()
    told = frame_labels(recording, set(frames))
    return [told.get(frame) for frame in frames]


def hexadecimal(address: int | None) -> str | None:
    """An address as the page takes it: JavaScript's numbers end before addresses do."""
    return None if address is None else f"{address:#x}"


def device_of_row(recording: Recording, row: int) -> Device:
    """The device that a row of the whole table ``allocations`` is of."""
    return recording.devices[int(recording.values("allocations", "device")[row])]
