"""Stack, heap and free as an allocator reports them, against a look at every report."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views.usage import window
from tests.fixtures.histories import history

Report = dict[str, Any]

_byte = st.integers(0, 5_000)
reports = st.lists(
    st.one_of(
        st.none(),
        st.fixed_dictionaries(
            {
                "allocated": _byte,
                "stack": st.one_of(st.none(), _byte),
                "free": st.one_of(st.none(), _byte),
                "fragmentation": st.one_of(st.just(math.nan), st.floats(0, 1)),
            }
        ),
    ),
    min_size=1,
    max_size=40,
)


def reporting(said: list[Report | None]) -> Recording:
    """A recording with an allocation an event, after which the allocator says that, or nothing."""
    events = [("alloc", 0x100 * (place + 1), 10 * (place % 7)) for place in range(len(said))]
    there = [(event, report) for event, report in enumerate(said) if report is not None]
    columns: dict[str, Any] = {
        name: [report[name] for _, report in there] for name in ("allocated", "stack", "free")
    }
    parts = np.array([report["fragmentation"] for _, report in there], dtype=np.float64)
    table = builder.table(
        "reported",
        {
            "device": np.zeros(len(there), np.int16),
            "event": [event for event, _ in there],
            "fragmentation": arrays.real_column(parts),
            **columns,
        },
    )
    return derive(history(events, basis="size").with_tables({"reported": table}))


def ask(recording: Recording, **question: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    whole = {"axis": "event", "width": 4, "by": "stack", **question}
    table = pa.ipc.open_stream(window(recording, recording.devices[0], **whole)).read_all()
    return table.to_pylist(), json.loads(table.schema.metadata[b"window"])


def standing(said: list[Report | None], event: int) -> Report | None:
    """What the last report up to an event says."""
    known = [report for report in said[: event + 1] if report is not None]
    return known[-1] if known else None


def told(said: list[Report | None]) -> list[str]:
    """The areas that are told apart."""
    known = [report for report in said if report is not None]
    stack = any(report["stack"] is not None for report in known)
    free = any(report["free"] for report in known)
    if not stack and not free:
        return []
    return [*(["stack"] if stack else []), "heap", *(["free"] if free else [])]


def level(report: Report | None) -> int:
    return -1 if report is None else int(report["allocated"]) + (report["stack"] or 0)


@given(reports, st.sampled_from(["groups", "allocator"]), st.integers(1, 12))
def test_instants_and_their_numbers(said: list[Report | None], areas: str, width: int) -> None:
    recording = reporting(said)
    if areas == "allocator" and not told(said):
        with pytest.raises(QueryError, match="does not say what of cuda:0 is stack, heap and free"):
            ask(recording, areas=areas)
        return
    rows, about = ask(recording, areas=areas, width=width)
    assert about["areas"] == told(said)
    assert about["has_fragmentation"] == any(
        report is not None and not math.isnan(report["fragmentation"]) for report in said
    )
    for row in rows:
        # States seen in a bin: those its events lead to; before the first, that of event -1.
        seen = [event for event in range(len(said)) if row["begin"] <= event < row["end"]]
        if row["begin"] <= 0:
            seen.insert(0, -1)
        if areas == "allocator":
            levels = [level(standing(said, event)) for event in seen]
            assert row["event"] == seen[levels.index(max(levels))]
        else:
            assert row["event"] in seen
        report = standing(said, row["event"])
        for area, column in (("stack", "stack"), ("heap", "allocated"), ("free", "free")):
            if area in about["areas"]:
                assert row[area] == (None if report is None else report[column])
        if about["has_fragmentation"]:
            part = math.nan if report is None else report["fragmentation"]
            assert row["fragmentation"] == (None if math.isnan(part) else part)


def test_areas_are_groups_of_their_own() -> None:
    report = {"allocated": 5, "stack": 2, "free": 9, "fragmentation": 0.5}
    recording = reporting([report, None, report])
    rows, about = ask(recording, areas="allocator", width=100)
    assert about["by"] == "area"
    assert [group["key"] for group in about["groups"]] == ["stack", "heap", "free"]
    assert "g0" not in rows[0]
    assert [(row["stack"], row["heap"], row["free"]) for row in rows] == [(2, 5, 9)] * 3


def test_an_allocator_that_always_has_nothing_free_does_not_know() -> None:
    report = {"allocated": 5, "stack": 0, "free": 0, "fragmentation": math.nan}
    rows, about = ask(reporting([report, report]), areas="allocator")
    assert about["areas"] == ["stack", "heap"]
    assert "free" not in rows[0] and "fragmentation" not in rows[0]


def test_there_are_no_other_areas() -> None:
    with pytest.raises(QueryError, match="no areas 'colour'; choose one of groups, allocator"):
        ask(reporting([None]), areas="colour")
