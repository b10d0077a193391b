"""What an allocator reports beside its events: its peak, and requested bytes and regions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_memory_plugin.analysis.alive import sums_only
from tb_memory_plugin.analysis.allocator_said import allocator_said
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views.breakdown import page
from tb_memory_plugin.views.summary import summary
from tests.fixtures.histories import history

EVENTS = [("alloc", 0x100, 512), ("alloc", 0x200, 256), ("free", 0x100, 512)]


def reporting(**columns: Any) -> Recording:
    made = history(EVENTS, basis="size")
    count = len(columns["allocated"])
    device, event = np.zeros(count, np.int16), np.arange(count)
    table = builder.table("reported", {"device": device, "event": event, **columns})
    return made.with_tables({"reported": table})


def said(recording: Recording) -> Any:
    return allocator_said(recording, recording.devices[0])


def test_the_peak_is_of_stack_and_heap_together() -> None:
    nan = float("nan")
    recording = reporting(
        allocated=[512, 768, 256],
        stack=[100, 0, 1_000],
        free=[5, None, 7],
        fragmentation=arrays.real_column(np.array([0.5, nan, 0.25])),
        lifetime_peak=[900, 2_000, 900],
    )
    assert said(recording) == {
        "peak": 1_256,
        "event": 2,
        "stack": 1_000,
        "heap": 256,
        "free": 7,
        "fragmentation": 0.25,
        "lifetime_peak": 2_000,
    }
    assert facts(derive(recording))["devices"]["0"]["allocator"] == said(recording)


def test_what_is_not_said_is_none() -> None:
    recording = reporting(allocated=[512, 768, 256], lifetime_peak=[1, None, 3])
    assert said(recording) == {
        "peak": 768,
        "event": 1,
        "stack": None,
        "heap": 768,
        "free": None,
        "fragmentation": None,
        "lifetime_peak": 3,
    }
    assert said(reporting(allocated=[512, 768, 256])) is None
    assert said(history(EVENTS)) is None


def test_nothing_reported_as_reserved_is_no_reserved() -> None:
    usage = derive(reporting(allocated=[512, 768, 256], stack=[1, 2, 3])).table("usage")
    assert usage.column("reserved").null_count == len(usage)


def test_reals_are_read_as_they_were_written() -> None:
    values = np.array([0.5, np.nan, np.inf, -0.0])
    table = builder.table(
        "reported", {"event": np.arange(4), "fragmentation": arrays.real_column(values)}
    )
    assert table.column("fragmentation").to_pylist() == [0.5, None, None, 0.0]
    assert np.array_equal(
        arrays.reals(table, "fragmentation"), [0.5, np.nan, np.nan, 0.0], equal_nan=True
    )
    part = arrays.reals(table.slice(2, 2), "fragmentation")
    assert np.isnan(part[0]) and part[1] == 0
    assert not len(arrays.reals(builder.table("reported", {}), "fragmentation"))


def test_labels_say_what_was_requested_and_the_region_where_the_basis_is_size() -> None:
    labels = [
        {"event": -1, "address": 0x300, "requested": 60},
        {"event": 0, "address": 0x100, "requested": 500, "region": "temp"},
        {"event": 1, "address": 0x200, "region": "output"},
    ]
    recording = derive(history([*EVENTS, ("free", 0x300, 64)], labels=labels, basis="size"))
    table = recording.table("allocations")
    rows = [(row["size"], row["requested"], row["region"]) for row in table.to_pylist()]
    assert rows == [(64, 60, None), (512, 500, "temp"), (256, None, "output")]
    answer = page(recording, recording.devices[0], at="1", by="region")
    assert {group["label"]: group["bytes"] for group in answer["groups"]} == {
        "temp": 512,
        "output": 256,
        "before the window": 64,
    }
    requested = derive(history(EVENTS, labels=labels[1:])).table("allocations")
    assert requested.column("requested").to_pylist() == [512, 256]


def test_a_sum_of_what_was_there_before_is_told_from_blocks() -> None:
    sum_only = [{"address": None, "requested": 70, "segment": None}]
    recording = derive(history([("alloc", 0x100, 5), ("free", 0x900, 30)], blocks=sum_only))
    device = recording.devices[0]
    rows = recording.table("allocations").to_pylist()
    assert [rows[row]["requested"] for row in sums_only(recording, device)] == [70]
    found = page(recording, device, at="event:0", by="op")
    assert (found["total_count"], found["sums"]) == (3, 1)
    assert [(group["bytes"], group["count"], group["sums"]) for group in found["groups"]] == [
        (100, 2, 1),
        (5, 1, 0),
    ]
    assert page(recording, device, at="event:0", by="op", filter="size<70")["sums"] == 0
    # Of one moment without a history every row is what the source lists.
    listed = derive(history(blocks=sum_only))
    assert not len(sums_only(listed, listed.devices[0]))


def test_the_peak_has_its_moment_and_step() -> None:
    bare = reporting(allocated=[512, 768, 256], stack=[1, 2, 3], free=[1, 1, 1])
    steps = [{"kind": "step", "name": "s", "begin": 0, "end": 2000, "step": 7}]
    spans = history(EVENTS, spans=steps).table("spans")
    recording = derive(bare.with_tables({"spans": spans}))
    (found,) = summary(recording, version="", run="", name="")["devices"]
    expected = {**said(recording), "time": 1000, "step": 7}
    assert found["allocator"] == expected and expected["peak"] == 770
    assert found["areas"] == ["stack", "heap", "free"]
