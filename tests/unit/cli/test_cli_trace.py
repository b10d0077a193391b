"""``tb-memory spans``, ``steps`` and ``trace`` on a real trace."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.cli import main
from tests.conftest import SHARED_DATA
from tests.fixtures import chrome

Capture = pytest.CaptureFixture[str]
TRACE = SHARED_DATA / "traces" / "h100_bert_small.json.gz"
pytestmark = pytest.mark.skipif(not TRACE.exists(), reason="needs the shared traces")


def answer(capsys: Capture, *arguments: object) -> Any:
    assert main([*map(str, arguments), "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return json.loads(printed.out)


def test_spans_add_up_to_what_the_file_says(capsys: Capture) -> None:
    events = json.loads(gzip.decompress(TRACE.read_bytes()))["traceEvents"]
    told = answer(capsys, "spans", TRACE, "--device", "1:0", "--limit", 10_000)
    changes = [
        event["args"]["Bytes"]
        for event in events
        if event.get("name") == "[memory]" and event["args"]["Device Type"] == 1
    ]
    allocated = sum(change for change in changes if change > 0)
    assert told["total"]["allocated"] + told["outside"]["allocated"] == allocated
    assert sum(row["self_allocated"] for row in told["rows"]) == told["total"]["allocated"]
    calls: dict[str, int] = {}
    for event in events:
        if event.get("cat") == "cpu_op":
            calls[event["name"]] = calls.get(event["name"], 0) + 1
    assert {row["name"]: row["calls"] for row in told["rows"]} == {
        name: count for name, count in calls.items() if not name.startswith("ProfilerStep")
    }


def test_spans_as_csv(capsys: Capture) -> None:
    assert main(["spans", str(TRACE), "--csv", "--sort", "name", "--limit", "1"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    told = answer(capsys, "spans", TRACE, "--sort", "name", "--limit", 10_000)["rows"]
    assert [(row["name"], int(row["allocated"])) for row in rows] == [
        (row["name"], row["allocated"]) for row in told
    ]


def test_spans_in_words(capsys: Capture) -> None:
    assert main(["spans", str(TRACE), "--kind", "module", "--limit", "2"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("cuda:0 ") and "allocated" in head
    assert any(row.split()[:1] == ["calls"] for row in rows) and rows[-1].endswith("more (--limit)")
    assert main(["spans", str(TRACE), "--kind", "kind"]) == 1
    assert "There are no spans of kind 'kind'" in capsys.readouterr().err


def test_steps(capsys: Capture) -> None:
    (step,) = answer(capsys, "steps", TRACE, "--device", "1:0")["steps"]
    assert step["peak"] >= max(step["before"], step["after"])
    assert step["after"] - step["before"] == step["allocated"] - step["freed"]
    assert main(["steps", str(TRACE)]) == 0
    assert step["name"] in capsys.readouterr().out


def test_a_trace_is_written_packed_or_not(tmp_path: Path, capsys: Capture) -> None:
    plain, packed = tmp_path / "t.json", tmp_path / "t.json.gz"
    for path in (plain, packed):
        assert main(["trace", str(TRACE), "-o", str(path)]) == 0
    assert str(plain) in capsys.readouterr().out
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    told = chrome.check(json.loads(plain.read_bytes()))
    assert {event["ph"] for event in told} == {"M", "X", "C"}
    assert main(["trace", str(TRACE), "-o", str(tmp_path)]) == 1


def test_the_trace_that_is_read_is_not_written_over(tmp_path: Path, capsys: Capture) -> None:
    source, link = tmp_path / "mine.pt.trace.json.gz", tmp_path / "link.json.gz"
    source.write_bytes(TRACE.read_bytes())
    link.symlink_to(source)
    for target in (source, link, tmp_path / "." / source.name):
        for command in ("trace", "flame"):
            assert main([command, str(source), "-o", str(target)]) == 1
            assert "is what is read" in capsys.readouterr().err
    assert source.read_bytes() == TRACE.read_bytes()


@pytest.mark.parametrize("command", ["spans", "trace"])
@pytest.mark.parametrize("word", ["soon", "1.5", "9" * 30])
def test_a_window_is_of_whole_ns(command: str, word: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, str(TRACE), f"--begin={word}"])
    assert ended.value.code == 2
    assert "whole number of ns" in capsys.readouterr().err
