"""``tb-memory info`` and ``peak`` on what profilers write, against values found by other means."""

from __future__ import annotations

import gzip
import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.cli import main
from tests.fixtures import pprof
from tests.fixtures.nsys import GIB, export, memory, nvtx
from tests.formats.pprof_reading import where

DATA = Path(__file__).parents[3] / "../shared/data"
TRACES, TIMELINES, XLA = DATA / "traces", DATA / "timelines", DATA / "xla"
FACTS: dict[str, Any] = json.loads((TRACES / "facts.json").read_text()) if TRACES.is_dir() else {}

needs_files = pytest.mark.skipif(not FACTS, reason="../shared/data is not here")
Capture = pytest.CaptureFixture[str]


def said(capsys: Capture, *arguments: object) -> str:
    assert main([str(each) for each in arguments]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


def both(capsys: Capture, path: Path) -> tuple[dict[str, Any], str]:
    """What ``info`` says, as JSON and as text."""
    found: dict[str, Any] = json.loads(said(capsys, "info", path, "--json"))
    return found, said(capsys, "info", path)


def plain(text: str) -> str:
    """``text`` without blanks: digits are in groups."""
    return "".join(text.split())


@needs_files
@pytest.mark.parametrize("name", sorted(FACTS) or ["none"])
def test_traces(name: str, capsys: Capture) -> None:
    path = TRACES / name
    found, text = both(capsys, path)
    assert set(found["devices"]) == set(FACTS[name])
    for key, facts in FACTS[name].items():
        device = found["devices"][key]
        assert {field: device[field] for field in facts} == facts
        assert f"{facts['events']}({facts['allocs']}allocation" in plain(text)
        peak = json.loads(said(capsys, "peak", path, "--device", key, "--json"))
        if facts["allocated_peak"] is not None:
            assert (peak["total_bytes"], peak["event"]) == (
                facts["allocated_peak"],
                facts["allocated_peak_event"],
            )
            expected = [facts["allocated_peak"], facts["allocated_end"], facts["allocated_start"]]
        else:  # nothing was there before but what the trace frees, as far as anybody can tell
            assert peak["total_bytes"] == facts["net_peak"]
            expected = [facts["net_peak"], facts["net_end"]]
            assert "allocatedatpeaknotknown" in plain(text)
        for size in expected:
            assert f"{size}byte" in plain(text)
        told = plain(said(capsys, "peak", path, "--device", key))
        assert f"{peak['total_bytes']}byte" in told


@needs_files
@pytest.mark.parametrize("name", ["tl.json", "tl.raw.json.gz"])
def test_timelines(name: str, capsys: Capture) -> None:
    levels = [sum(level) for level in json.loads((TIMELINES / "tl.json").read_text())[1]]
    moves = json.loads(gzip.decompress((TIMELINES / "tl.raw.json.gz").read_bytes()))
    running = list(itertools.accumulate(size for _, _, size, _ in moves))
    expected = levels if name == "tl.json" else running[sum(move[0] == -1 for move in moves) - 1 :]

    found, text = both(capsys, TIMELINES / name)
    device = found["devices"]["device"]
    assert (device["allocated_start"], device["allocated_peak"], device["allocated_end"]) == (
        expected[0],
        max(expected),
        expected[-1],
    )
    assert f"{max(expected)}byte" in plain(text)
    peak = json.loads(said(capsys, "peak", TIMELINES / name, "--by", "category", "--json"))
    assert peak["total_bytes"] == sum(group["bytes"] for group in peak["groups"]) == max(expected)


@pytest.mark.parametrize(
    "name", ["jax_device_memory.prof", "jax_cuda_device_memory.prof", "jax_tpu8_device_memory.prof"]
)
def test_device_memory_profiles_of_jax(name: str, capsys: Capture) -> None:
    path = XLA / name
    if not path.exists():
        pytest.skip("../shared/data is not here")
    expected: Counter[str] = Counter()
    for sample in pprof.read(path.read_bytes()):
        expected[where(sample)] += max(sample.bytes, 0)  # of an executable -1: not known
    found, text = both(capsys, path)
    peaks = {key: device["allocated_peak"] for key, device in found["devices"].items()}
    assert peaks == dict(expected)
    for key, total in expected.items():
        peak = json.loads(said(capsys, "peak", path, "--device", key, "--json"))
        assert peak["total_bytes"] == total
        assert f"{total}byte" in plain(text)


def test_an_export_of_nsight_systems(tmp_path: Path, capsys: Capture) -> None:
    path = export(
        tmp_path / "report.sqlite",
        [
            memory(10, 3 * GIB, 0x1000),
            memory(20, GIB, 0x2000, memKind=1),
            memory(30, GIB, 0x3000),
            memory(40, -3 * GIB, 0x1000),
        ],
        NVTX_EVENTS=[nvtx("step 3", 5, 50)],
    )
    found, text = both(capsys, path)
    device, pinned = (found["devices"][key] for key in ("device:0", "pinned"))
    assert (device["events"], device["allocs"], device["frees"]) == (3, 2, 1)
    assert (device["allocated_peak"], device["allocated_end"]) == (4 * GIB, GIB)
    assert (pinned["allocated_peak"], pinned["allocated_end"]) == (GIB, GIB)
    assert "cuda:0 driver" in text and f"{4 * GIB}byte" in plain(text)
    peak = json.loads(said(capsys, "peak", path, "--device", "device:0", "--by", "step", "--json"))
    assert peak["total_bytes"] == 4 * GIB
    assert [(group["label"], group["bytes"]) for group in peak["groups"]] == [("step 3", 4 * GIB)]
    assert found["basis"] == "requested"


def test_a_report_of_nsight_systems_says_how_to_export_it(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "report1.nsys-rep"
    path.write_bytes(b"\1\2\3")
    assert main(["info", str(path)]) == 1
    assert "nsys export --type sqlite report1.nsys-rep" in capsys.readouterr().err
