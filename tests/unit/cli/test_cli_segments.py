"""``tb-memory events`` and ``tb-memory segments``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.cli import main
from tb_memory_plugin.recording.recording import save
from tests.fixtures.histories import Event, history
from tests.fixtures.snapshots import snapshot, write_pickle

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return snapshot(events=900, seed=7, private_pools=True)


@pytest.fixture(scope="module")
def path(made: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pickle(made, tmp_path_factory.mktemp("source") / "snapshot.pickle")


def answer(capsys: Capture, *arguments: object) -> Any:
    assert main([*map(str, arguments), "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return json.loads(printed.out)


def test_events_are_those_of_the_file(made: Any, path: Path, capsys: Capture) -> None:
    trace = made["device_traces"][0]
    found = answer(capsys, "events", path, "--limit", 2000)
    assert found["count"] == found["events"] == len(trace) == len(found["rows"])
    for row, event in zip(found["rows"], trace, strict=True):
        assert (row["action"], row["size"]) == (event["action"], event.get("size"))
        assert row["address"] == (hex(event["addr"]) if event["addr"] else row["address"])


def test_events_are_filtered_and_cut(made: Any, path: Path, capsys: Capture) -> None:
    trace = made["device_traces"][0]
    large = [
        place
        for place, event in enumerate(trace)
        if event["action"] == "alloc" and event["size"] > 1 << 20
    ]
    assert len(large) > 10
    words = ("events", path, "--filter", "action:alloc size>1MiB", "--offset", 3, "--limit", 4)
    found = answer(capsys, *words)
    assert found["count"] == len(large)
    assert [row["event"] for row in found["rows"]] == large[3:7]
    assert main(list(map(str, words))) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 2 + 4
    assert str(large[3]) in printed[2] and "alloc" in printed[2]
    assert main(["events", str(path), "--filter", "action:what"]) == 1
    assert "not an action" in capsys.readouterr().err


def test_segments_at_the_end_are_those_of_the_file(made: Any, path: Path, capsys: Capture) -> None:
    last = len(made["device_traces"][0]) - 1
    found = answer(capsys, "segments", path, "--at", f"event:{last}")
    theirs = {hex(segment["address"]): segment for segment in made["segments"]}
    assert {segment["address"] for segment in found["segments"]} == set(theirs)
    assert found["reserved"] == sum(segment["total_size"] for segment in made["segments"])
    assert len(found["pools"]) == 2
    for segment in found["segments"]:
        blocks = theirs[segment["address"]]["blocks"]
        begin = int(segment["address"], 16)
        assert [
            (begin + block["offset"], block["size"], block["requested"])
            for block in segment["blocks"]
        ] == [
            (block["address"], block["size"], block["requested_size"])
            for block in blocks
            if block["state"] != "inactive"
        ]


def test_segments_are_told_to_people(path: Path, capsys: Capture) -> None:
    assert main(["segments", str(path), "--limit", "3"]) == 0
    printed = capsys.readouterr().out
    for word in ("reserved", "pending free", "1 − allocated ÷ reserved", "1 − largest free ÷ free"):
        assert word in printed
    assert "private pool 0,1, default stream" in printed
    assert "more segments (--limit)" in printed
    assert main(["segments", str(path), "--at", "event:99999"]) == 1
    assert "they go from -1 to 899" in capsys.readouterr().err


def test_long_names_of_files_are_cut_in_their_middle(tmp_path: Path, capsys: Capture) -> None:
    long = "deep_" * 30
    stacks = [[("forward", f"/x/{long}model.py", 88)], [("f", "b.py", 1)]]
    events: list[Event] = [("alloc", 512, 8, {"stack": 0}), ("alloc", 1024, 8, {"stack": 1})]
    path = tmp_path / "a.tbmem"
    save(history(events, stacks=stacks), path, compress=True)
    assert main(["events", str(path)]) == 0
    _, head, first, second = capsys.readouterr().out.splitlines()
    at = head.index("where")
    assert second[at:] == "f · b.py:1"
    assert len(first[at:]) == 64
    assert first[at:].startswith("forward · deep_") and first.endswith("_model.py:88")
    assert answer(capsys, "events", path)["rows"][0]["label"] == f"forward · {long}model.py:88"
