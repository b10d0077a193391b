"""Traces of a PyTorch snapshot to the tables ``events``, ``labels`` and ``marks``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.checked import Malformed, integer, string
from tb_memory_plugin.readers.torch_events import TraceReader
from tb_memory_plugin.readers.torch_spans import Entry, Span, pair
from tb_memory_plugin.readers.torch_state import Segment, nullable
from tb_memory_plugin.readers.torch_trace import Special, Trace
from tb_memory_plugin.readers.torch_words import Words
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.schema import Action, BlockState, Category

_CATEGORIES = {category.name.lower(): int(category) for category in Category}
_UINT64 = 1 << 64


def events(traces: dict[int, Trace], origin_us: int | None, reader: TraceReader) -> pa.Table:
    """The table ``events``; ``traces`` by row of the device, times from ``origin_us``."""
    if not traces:
        return builder.table("events", {})
    rows = sorted(traces)

    def whole(name: str) -> IntArray:
        parts = [traces[row].columns[name] for row in rows]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def missing(name: str) -> IntArray | None:
        if not any(name in traces[row].missing for row in rows):
            return None
        return np.concatenate(
            [
                traces[row].missing.get(name, np.zeros(len(traces[row].columns[name]), bool))
                for row in rows
            ]
        )

    def masked(name: str, values: IntArray) -> Any:
        empty = missing(name)
        return values if empty is None else (values, empty)

    counts = [len(traces[row].columns["action"]) for row in rows]
    return builder.table(
        "events",
        {
            "device": np.repeat(np.array(rows, np.int16), counts),
            "time": masked("time", (whole("time") - (origin_us or 0)) * 1_000),
            "action": whole("action"),
            "address": masked("address", whole("address")),
            "size": masked("size", whole("size")),
            "stream": masked("stream", whole("stream")),
            "pool": nullable(whole("pool")),
            "stack": nullable(whole("stack")),
            "forward_stack": nullable(whole("forward_stack")),
            "compile_context": _text(whole("compile_context"), reader.contexts),
            "user_metadata": _text(whole("user_metadata"), reader.metadata),
        },
    )


def labels(traces: dict[int, Trace], segments: list[Segment], devices: dict[int, int]) -> pa.Table:
    """The table ``labels``: categories, which only snapshots made from a profile have."""
    rows: list[tuple[int, int, int, str]] = []
    for device, trace in traces.items():
        rows += [(device, event, address, word) for event, address, word in trace.categories]
    born = {device: _births(trace) for device, trace in traces.items()}
    for segment in segments:
        device = devices[segment.ordinal]
        rows += [
            (device, -1, block.address, block.category)
            for block in segment.blocks
            if block.category is not None
            and block.state != BlockState.INACTIVE
            and block.address not in born.get(device, ())
        ]
    rows.sort()
    return builder.table(
        "labels",
        {
            "device": np.array([device for device, *_ in rows], np.int16),
            "event": np.array([event for _, event, *_ in rows], np.int64),
            "address": np.array([address for _, _, address, _ in rows], np.uint64),
            "category": np.array([_category(word) for *_, word in rows], np.int8),
            "inferred": [False] * len(rows),
        },
    )


def marks(traces: dict[int, Trace], origin_us: int | None) -> pa.Table:
    """The table ``marks``: out of memory, and snapshots taken."""
    found = [
        (device, special, *_mark(special))
        for device in sorted(traces)
        for special in traces[device].special
        if special.action in (Action.OOM, Action.SNAPSHOT)
    ]
    times = [special.time_us for _, special, *_ in found]
    return builder.table(
        "marks",
        {
            "device": np.array([device for device, *_ in found], np.int16),
            "event": np.array([special.event for _, special, *_ in found], np.int64),
            "time": [None if time is None else (time - (origin_us or 0)) * 1_000 for time in times],
            "kind": [kind for _, _, kind, _, _ in found],
            "text": [words for _, _, _, words, _ in found],
            "values": [json.dumps(values) for *_, values in found],
        },
    )


def nightly_spans(traces: dict[int, Trace], ordinals: list[int]) -> list[Span]:
    """Spans of ``user_defined`` entries, which nightly builds of torch of mid 2024 wrote.

    The annotation's name and stage stand where the innermost frame's file and function would.
    """
    found: list[Entry] = []
    for device, trace in traces.items():
        for special in trace.special:
            frames = special.entry["frames"]
            if special.action != Action.USER_DEFINED or not frames or special.time_us is None:
                continue
            frame = frames[0] if type(frames[0]) is dict else {}
            if frame.get("name") in ("START", "END"):
                name = string(frame.get("filename"), "the name of a user_defined entry")
                found.append(Entry(name, frame["name"], ordinals[device], special.time_us))
    return pair(found)[0]


def _text(codes: IntArray, words: Words) -> pa.DictionaryArray:
    return arrays.text(codes, list(words.known))


def _births(trace: Trace) -> set[int]:
    """The addresses that are allocated in a trace."""
    births = trace.columns["action"] == Action.ALLOC
    return set(arrays.distinct(trace.columns["address"][births]).tolist())


def _category(word: Any) -> int:
    return _CATEGORIES.get(string(word, "a category"), int(Category.UNKNOWN))


def _mark(special: Special) -> tuple[str, str, dict[str, int]]:
    """Kind, sentence and values of a mark. Raises Malformed."""
    entry, event = special.entry, special.event
    if special.action == Action.SNAPSHOT:
        size = entry["size"]
        known = type(size) is int and 0 <= size < _UINT64
        return "snapshot", "A snapshot was taken", {"allocated": size} if known else {}
    values = {}
    for key, name in (("size", "requested"), ("device_free", "device_free")):
        if entry[key] is not None:
            what = f"{key} of the out-of-memory entry {event}"
            values[name] = integer(entry[key], what, 0, _UINT64 - 1)
    if "requested" not in values:
        raise Malformed(f"the out-of-memory entry {event} has no size")
    return "out_of_memory", _failure(values.values()), values


def _failure(values: Iterable[int]) -> str:
    requested, *free = values
    sentence = f"An allocation of {requested} bytes failed"
    return sentence + (f" with {free[0]} bytes free on the device" if free else "")
