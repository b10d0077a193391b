"""What the writer adds to the tables of an allocator's history: steps, failures, names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.recorder.labels import Name, Storage
from tb_memory_plugin.recorder.matching import match
from tb_memory_plugin.recorder.profiler.told import TEXTS, Profiled, Witness
from tb_memory_plugin.recorder.sighted import Addresses, Sighted
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.recording import Device, Recording

#: A failure that was noticed: unix ns, words, values.
Noted = tuple[int, str, dict[str, int]]


def marks(recording: Recording, noted: list[Noted]) -> pa.Table:
    """The marks, with the failures that were ``noted`` where the history has none."""
    origin, found = recording.meta["time_origin_ns"], recording.table("marks")
    if not noted or origin is None or "out_of_memory" in found.column("kind").to_pylist():
        return found
    device = recording.devices[0] if len(recording.devices) == 1 else None
    last = -1 if device is None else len(recording.values("events", "action", device)) - 1
    more = builder.table(
        "marks",
        {
            "device": [None if device is None else device.index] * len(noted),
            "event": [last if last >= 0 else None] * len(noted),
            "time": [time - origin for time, _, _ in noted],
            "kind": ["out_of_memory"] * len(noted),
            "text": [text for _, text, _ in noted],
            "values": [json.dumps(values) for *_, values in noted],
        },
    )
    return appended(found, more)


def appended(table: pa.Table, more: pa.Table) -> pa.Table:
    """The rows of both."""
    joined = pa.concat_tables([table, more])
    return joined.unify_dictionaries().combine_chunks()


def labels(
    recording: Recording, sighted: Sighted, storages: list[Storage], witnesses: Sequence[Witness]
) -> pa.Table:
    """Categories and names: of ``storages``, alive now, of what was ``sighted`` before, and what
    other engines that saw the same births know of them."""
    return _joined(
        [_of_device(recording, each, sighted, storages, witnesses) for each in recording.devices]
    )


def _joined(tables: list[pa.Table]) -> pa.Table:
    """The rows of all, in order."""
    if not tables:
        return builder.table("labels", {})
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def _of_device(
    recording: Recording,
    device: Device,
    sighted: Sighted,
    storages: list[Storage],
    witnesses: Sequence[Witness],
) -> pa.Table:
    origin = recording.meta["time_origin_ns"]
    now = [storage for storage in storages if storage.device == device.name]
    seen = sighted.births(recording, device, origin, now)
    rows: dict[tuple[int, int], dict[str, Any]] = {}
    for profiled in (each(device.name) for each in witnesses) if origin is not None else ():
        if profiled is not None:
            rows |= _profiled(recording, device, profiled, origin)
    for event, address, name in zip(
        seen.event.tolist(), seen.address.tolist(), seen.names, strict=True
    ):
        rows[event, address] = {**rows.get((event, address), {}), **_named(name)}
    keys = sorted(rows)
    columns = ("category", "inferred", *TEXTS)
    return builder.table(
        "labels",
        {
            "device": np.full(len(keys), device.index),
            "event": [event for event, _ in keys],
            "address": np.array([address for _, address in keys], dtype=np.uint64),
            **{column: [rows[key].get(column) for key in keys] for column in columns},
        },
    )


def _profiled(
    recording: Recording, device: Device, profiled: Profiled, origin: int
) -> dict[tuple[int, int], dict[str, Any]]:
    """What a profiler knows of the births in a history, by event and address."""
    ours, theirs = match(recording, device, profiled, origin)
    texts = {
        column: [words[code] if code >= 0 else None for code in codes[theirs].tolist()]
        for column, (codes, words) in profiled.texts.items()
    }
    facts = zip(
        profiled.category[theirs].tolist(),
        profiled.guessed[theirs].astype(bool).tolist(),
        *(texts[column] for column in TEXTS),
        strict=True,
    )
    columns = ("category", "inferred", *TEXTS)
    address: Addresses = profiled.address[theirs]
    return {
        key: dict(zip(columns, fact, strict=True))
        for key, fact in zip(zip(ours.tolist(), address.tolist(), strict=True), facts, strict=True)
    }


def _named(name: Name) -> dict[str, Any]:
    return {
        "category": int(name.category),
        "inferred": False,
        "name": name.name,
        "dtype": name.dtype,
        "shape": name.shape,
    }
