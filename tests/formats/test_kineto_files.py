"""Files of traces: which are ones, what is wrong with damaged ones, and ones of any size."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import kineto_trace
from tests.fixtures.kineto import Json, memory, span, totals
from tests.formats.mutating import ODD, cut, damaged, tried, with_odd_values
from tests.formats.test_kineto_trace import FACTS, TRACES, read, refused, rows
from tests.formats.test_snapshot_fuzz import check


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"args": {"Device Type": "x"}}, "makes no sense"),
        ({"args": {"Bytes": 1 << 70}}, "Bytes is out of range"),
        ({"args": {"Bytes": 1.5}}, "makes no sense"),
        ({"args": {"Bytes": None}}, "makes no sense"),
        ({"args": {"Addr": -1}}, "no address of 64 bits"),
        ({"args": {"Addr": 1 << 64}}, "no address of 64 bits"),
        ({"args": {"Device Id": 1 << 80}}, "Device Id is out of range"),
        ({"ts": 1e300}, "time stamps that are none"),
        ({"ts": 1 << 80}, "time stamps that are none"),
        ({"name": 5}, "is none"),
    ],
)
def test_impossible_values_are_refused(tmp_path: Path, change: Json, fault: str) -> None:
    event = memory(1, 512, 0x1000)
    event["args"] |= change.pop("args", {})
    event |= change
    said = refused(tmp_path, json.dumps({"traceEvents": [event]}).encode())
    assert fault in said and "export the trace again" in said


def test_what_holds_no_memory_events_says_how_to_record_them(tmp_path: Path) -> None:
    said = refused(tmp_path, json.dumps({"traceEvents": [span("aten::add", 1, 2)]}).encode())
    assert "holds no memory events" in said and "profile_memory=True" in said


def test_gzip_is_read_and_damage_to_it_is_told(tmp_path: Path) -> None:
    text = json.dumps({"traceEvents": [memory(i, 512, 512 * (i + 1)) for i in range(50)]}).encode()
    data = gzip.compress(text, mtime=0)
    path = tmp_path / "a.pt.trace.json.gz"
    path.write_bytes(data)
    assert kineto_trace.read(path).table("events").num_rows == 50
    assert kineto_trace.probe(path) == {"compressed": True, "bytes": len(data), "meta": {}}
    for length in range(2, len(data), 7):
        assert "ends in the middle" in refused(tmp_path, data[:length], path.name)
    with pytest.raises(SourceError, match="unpacks to more than"):
        kineto_trace.read(path, limit=100)


@pytest.mark.parametrize(
    ("name", "head", "is_ours"),
    [
        ("worker.1.pt.trace.json", b"", True),
        ("worker.1.pt.trace.json.gz", b"\x1f\x8b", True),
        ("trace.json", b'{"schemaVersion": 1, "traceEvents": [', True),
        ("trace.json.gz", gzip.compress(b'{ "traceEvents": [', mtime=0), True),
        ("trace.json", b'[ {"name": "x", "ph": "X"}', True),
        ("trace.json", b'{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},', False),
        ("metadata.json", b'{"a": 1}', False),
        ("snapshot.json", b'{"segments": [], "device_traces": []}', False),
        ("traceEvents.txt", b'{"traceEvents": [', False),
    ],
)
def test_which_files_are_traces(name: str, head: bytes, is_ours: bool) -> None:
    assert kineto_trace.matches(name, head) == is_ours


def test_mutated_traces_hold_together_or_are_refused(tmp_path: Path) -> None:
    chance = random.Random(9)
    events = [span(f"op{i}", i, 5) for i in range(20)]
    events += [
        memory(i + 0.5, 512, 512 * (i + 1), args=totals(512 * (i + 1), 1 << 20, i))
        for i in range(20)
    ]
    files = (
        json.dumps(
            {"traceEvents": with_odd_values(events, chance), "deviceProperties": chance.choice(ODD)}
        ).encode()
        for _ in range(300)
    )
    read, refused = tried(kineto_trace.read, tmp_path / "mutant.pt.trace.json", files)
    assert read > 50 and refused > 100, (read, refused)


@pytest.mark.skipif(not FACTS, reason="the shared real files (../shared/data) are not here")
@pytest.mark.parametrize("name", ["h100_bert_small.json.gz", "mi300_vit.json.gz"])
def test_damaged_real_traces_hold_together_or_are_refused(tmp_path: Path, name: str) -> None:
    chance = random.Random(name)
    packed = (TRACES / name).read_bytes()
    text = gzip.decompress(packed)
    whole = json.loads(text)
    path = tmp_path / name
    assert tried(kineto_trace.read, path, cut(packed, 12))[0] == 0
    path = path.with_suffix("")
    assert tried(kineto_trace.read, path, cut(text[:-1_000], 5))[0] == 0
    if name.startswith("h100"):  # a megabyte: larger ones take longer to give up
        outcomes = tried(kineto_trace.read, path, (damaged(text, chance) for _ in range(8)))
        assert outcomes[0] and outcomes[1], outcomes
    values = (
        json.dumps({**whole, "traceEvents": with_odd_values(whole["traceEvents"], chance)}).encode()
        for _ in range(8)
    )
    outcomes = tried(kineto_trace.read, path, values)
    assert outcomes[0] > 1, outcomes


def test_memory_goes_by_what_is_kept(tmp_path: Path) -> None:
    """A trace is never held whole: of many events that are not looked at nothing stays."""
    import tracemalloc

    path = tmp_path / "long.pt.trace.json"
    with path.open("w") as file:
        file.write('{"traceEvents": [')
        filler = json.dumps({"ph": "s", "name": "x" * 1_000}) + ","
        for _ in range(70_000):
            file.write(filler)
        file.write(json.dumps(memory(1, 512, 0x1000)) + "]}")
    assert path.stat().st_size > 60 << 20
    tracemalloc.start()
    try:
        kineto_trace.read(path)
        assert tracemalloc.get_traced_memory()[1] < 60 << 20
    finally:
        tracemalloc.stop()


def test_an_event_may_be_larger_than_a_piece(tmp_path: Path) -> None:
    """Arguments that nobody looks at, such as the dimensions of thousands of tensors."""
    from tb_memory_plugin.readers import trace_stream

    large = {"Input Dims": [[1] * 1_000] * (3 * trace_stream.PIECE // 2_000), "x": "}, {" * 9}
    recording = read(
        tmp_path,
        span("aten::add", 0, 9, args=large),
        memory(1, 512, 0x1000),
        span("aten::mul", 10, 9, args=large),
        memory(11, 1_024, 0x2000),
    )
    found = {row["address"]: row["op"] for row in rows(recording, "allocations")}
    assert found == {0x1000: "aten::add", 0x2000: "aten::mul"}
    assert not any("not quite JSON" in each for each in recording.meta["problems"])


def test_a_list_of_events_without_its_end(tmp_path: Path) -> None:
    """As tracers write that flush now and then; nothing stands around the events."""
    path = tmp_path / "a.pt.trace.json"
    events = [span("aten::add", 0, 9), memory(1, 512, 0x1000), memory(2, -512, 0x1000)]
    path.write_text("[\n" + "".join(json.dumps(each) + ",\n" for each in events))
    recording = derive(kineto_trace.read(path))
    check(recording)
    assert [row["allocated"] for row in rows(recording, "usage")] == [0, 512, 0]
    assert recording.meta["clock"] == "monotonic" and recording.meta["time_origin_ns"] == 0


def test_what_is_not_quite_json_is_read_and_told(tmp_path: Path) -> None:
    text = json.dumps({"traceEvents": [span("C:/x", 0, 9), memory(1, 512, 0x1000)]}).encode()
    path = tmp_path / "a.pt.trace.json"
    path.write_bytes(text.replace(b"C:/x", b"C:\\Users\\\xff"))
    recording = derive(kineto_trace.read(path))
    check(recording)
    assert [row["op"] for row in rows(recording, "allocations")] == ["C:/Users/?"]
    assert any("not quite JSON" in each for each in recording.meta["problems"])


@pytest.mark.parametrize("base", [None, "soon", -1, 1.5, 1 << 63, True, []])
def test_a_base_that_is_no_time_is_none(tmp_path: Path, base: Any) -> None:
    recording = read(tmp_path, memory(7, 512, 0x1000), baseTimeNanoseconds=base)
    assert recording.meta["clock"] == "monotonic"
    assert recording.meta["time_origin_ns"] == 7_000
