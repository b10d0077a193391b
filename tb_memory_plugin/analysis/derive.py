"""Recorded tables, made into the derived ones: lives, curves, what stacks tell."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from tb_memory_plugin.analysis.columns import joined
from tb_memory_plugin.analysis.device_part import DevicePart
from tb_memory_plugin.analysis.metadata import Metadata
from tb_memory_plugin.analysis.plan_devices import plan_tables
from tb_memory_plugin.analysis.plans import plans
from tb_memory_plugin.analysis.positions import positions
from tb_memory_plugin.analysis.telling import frame_kinds, stack_names
from tb_memory_plugin.analysis.trace.tables import trace_tables
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.aside import let_go, set_aside
from tb_memory_plugin.recording.recording import Recording

#: Events of which the tables are made one after the other.
_MANY = 1 << 20


def derive(recording: Recording) -> Recording:
    """``recording`` with the derived tables of ``schema.DERIVED`` worked out from the recorded.

    What is odd about the history is added to ``meta["problems"]``. Columns, no loop over events;
    tables are made beside each other, in a few threads (numpy lets go of Python's lock).
    Where there are very many events, one after the other, in half of the memory. Raises SourceError
    where the history cannot be counted: negative sizes, sums over 64 bits.
    """
    tables, problems = _of_memory(recording)
    let_go()
    kinds = frame_kinds(recording)
    tables |= plans(recording)
    tables |= plan_tables(recording.with_tables(tables))
    tables |= trace_tables(recording.with_tables(tables))
    tables |= {"frame_kinds": kinds, "stack_names": stack_names(recording, kinds)}
    known = dict.fromkeys([*recording.meta.get("problems", []), *problems])
    meta = {**recording.meta, "problems": list(known)}
    return Recording(meta, {**recording.tables, **tables})


def _of_memory(recording: Recording) -> tuple[dict[str, pa.Table], list[str]]:
    """The tables that follow from events, and what is odd about these."""
    let_go()
    parts = [DevicePart.of(recording, device) for device in recording.devices]
    makers: list[Callable[[], pa.Table]] = [  # those that take longest first
        lambda: set_aside(_allocations(recording, parts)),
        lambda: positions(parts),
        lambda: _usage(parts),
        lambda: _segment_lives(recording, parts),
    ]
    many = recording.table("events").num_rows > _MANY
    made = _one_by_one(makers) if many else _beside_each_other(makers)
    names = ("allocations", "positions", "usage", "segment_lives")
    tables = dict(zip(names, made, strict=True))
    return tables, [problem for part in parts for problem in part.tables.problems]


def _allocations(recording: Recording, parts: Sequence[DevicePart]) -> pa.Table:
    before = itertools.accumulate((len(part.segments.birth) for part in parts), initial=0)
    metadata = Metadata(arrays.words(recording.table("events"), "user_metadata"))
    rows = [part.allocations(row, metadata) for part, row in zip(parts, before, strict=False)]
    words = {
        **_words(recording, "labels", "name", "dtype", "shape", "op", "module", "region"),
        **_words(recording, "events", "compile_context"),
        "annotation": arrays.words(recording.table("spans"), "name"),
    }
    return joined("allocations", rows, {**words, "user_metadata": metadata.words})


def _usage(parts: Sequence[DevicePart]) -> pa.Table:
    before = itertools.accumulate((len(part.lives.birth) for part in parts), initial=0)
    return joined("usage", [part.curve(row) for part, row in zip(parts, before, strict=False)], {})


def _segment_lives(recording: Recording, parts: Sequence[DevicePart]) -> pa.Table:
    rows = [part.segment_lives() for part in parts]
    return joined("segment_lives", rows, _words(recording, "segments", "kind"))


def _one_by_one(makers: Sequence[Callable[[], pa.Table]]) -> list[pa.Table]:
    made = []
    for make in makers:
        made.append(make())
        let_go()
    return made


def _beside_each_other(makers: Sequence[Callable[[], pa.Table]]) -> list[pa.Table]:
    """What ``makers`` make, in two threads; in turn where there is no memory for threads."""
    with ThreadPoolExecutor(2) as pool:
        try:
            made = [pool.submit(make) for make in makers]
        except RuntimeError:  # can't start new thread
            pool.shutdown(cancel_futures=True)
            return [make() for make in makers]
        return [table.result() for table in made]


def _words(recording: Recording, table: str, *columns: str) -> dict[str, list[str]]:
    return {column: arrays.words(recording.table(table), column) for column in columns}
