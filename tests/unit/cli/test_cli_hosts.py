"""``tb-memory info`` and ``peak`` of folders: a line a host, and which is highest."""

from __future__ import annotations

import json
import shutil
import statistics
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.api import load
from tb_memory_plugin.cli import main
from tests.conftest import SHARED_DATA
from tests.fixtures.hlo import heap
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.fixtures.xplane import capture

Capture = pytest.CaptureFixture[str]
MIB = 1 << 20
SIZES = {"w-2": (40, 8, 4), "w-10": (40, 100), "w-0": (40, 30)}
PEAKS = {"w-2": 48 * MIB, "w-10": 140 * MIB, "w-0": 70 * MIB}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TB_MEMORY_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of an XPlane session of three hosts, in a run under a misleading name."""
    made = tmp_path / "rank0" / "job" / "plugins" / "profile" / "2026_11_30"
    made.mkdir(parents=True)
    for host, sizes in SIZES.items():
        data = capture(host, [size * MIB for size in sizes], begin_ns=1, capacity=1 << 30)
        (made / f"{host}.xplane.pb").write_bytes(data)
    return made


def asked(capsys: Capture, *arguments: object, status: int = 0) -> list[dict[str, Any]]:
    assert main([*map(str, arguments), "--json"]) == status
    sessions: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["sessions"]
    return sessions


@pytest.mark.parametrize("up", range(5))
def test_every_host_has_its_peak_and_one_is_highest(up: int, folder: Path, capsys: Capture) -> None:
    (session,) = asked(capsys, "info", [folder, *folder.parents][up])
    assert (session["label"], session["of"]) == ("2026_11_30", "host")
    assert [host["host"] for host in session["hosts"]] == ["w-0", "w-2", "w-10"]
    assert {host["host"]: host["bytes"] for host in session["hosts"]} == PEAKS
    assert (session["highest"], session["lowest"]) == ("w-10", "w-2")
    assert session["highest_to_median"] == 2.0
    for host in session["hosts"]:
        alone = load(host["path"]).devices["GPU_0_bfc"]
        assert host["bytes"] == alone.allocated_peak
        assert (host["event"], host["capacity"]) == (alone.allocated_peak_event, 1 << 30)


def test_text_is_a_line_a_host(folder: Path, capsys: Capture) -> None:
    assert main(["info", str(folder)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    title, head, *lines = printed.out.splitlines()
    assert title == "2026_11_30: 3 hosts"
    assert head.split() == ["host", "allocated", "of", "device", "moment"]
    assert lines[0].split()[:3] == ["w-0", "70.0", "MiB"]
    assert lines[2].split()[:4] == ["w-10", "▲", "140", "MiB"]
    assert lines[3:] == [
        "  highest: w-10, 140 MiB (146 800 640 bytes), 2.00 × the median",
        "  lowest: w-2, 48.0 MiB (50 331 648 bytes)",
    ]


def test_peak_says_what_is_largest_on_each(folder: Path, capsys: Capture) -> None:
    (session,) = asked(capsys, "peak", folder, "--by", "op", "--at", "event:1")
    for host in session["hosts"]:
        answer = load(host["path"]).breakdown("op", "event:1")
        assert host["bytes"] == answer["total_bytes"]
        assert (host["by"], host["group"]) == ("op", answer["groups"][0])
    assert main(["peak", str(folder), "--by", "op"]) == 0
    head, first = capsys.readouterr().out.splitlines()[1:3]
    assert head.split()[-2:] == ["largest", "op"]
    assert first.split()[-3:] == ["40.0", "MiB", "step/op0"]


def test_a_host_that_cannot_be_read_is_a_sentence_of_its_own(folder: Path, capsys: Capture) -> None:
    path = folder / "w-10.xplane.pb"
    path.write_bytes(path.read_bytes()[:-100])
    (session,) = asked(capsys, "info", folder, status=1)
    assert [bool(host["error"]) for host in session["hosts"]] == [False, False, True]
    assert (session["highest"], session["lowest"]) == ("w-0", "w-2")
    assert main(["info", str(folder)]) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("tb-memory: w-10.xplane.pb: ")
    assert printed.err.count("\n") == 1
    for host in ("w-0", "w-2"):
        (folder / f"{host}.xplane.pb").write_bytes(b"")
    (session,) = asked(capsys, "info", folder, status=1)
    assert (session["highest"], session["highest_to_median"]) == (None, None)
    assert main(["peak", str(folder)]) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("2026_11_30: 3 hosts\n", 3)


def test_several_sessions_are_told_one_after_the_other(tmp_path: Path, capsys: Capture) -> None:
    for run in ("a", "b"):
        for rank in range(2):
            path = tmp_path / "runs" / run / f"rank{rank}.pickle"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_pickle(snapshot(events=40 + 30 * rank, seed=rank), path)
    found = asked(capsys, "info", tmp_path / "runs")
    assert [[host["rank"] for host in one["hosts"]] for one in found] == [[0, 1], [0, 1]]
    assert [Path(one["hosts"][0]["path"]).parent.name for one in found] == ["a", "b"]


def test_a_folder_without_a_session_is_one_sentence(tmp_path: Path, capsys: Capture) -> None:
    write_pickle(snapshot(events=40), tmp_path / "rank0.pickle")
    # Modules that XLA dumped have no device: tb-memory modules tells of them.
    for number in (1, 2):
        name = f"module_000{number}.jit_f.cpu_after_optimizations.hlo.pb"
        (tmp_path / name).write_bytes(heap([8], "+1 -1").bytes())
    for command in ("info", "peak"):
        assert main([command, str(tmp_path)]) == 1
        printed = capsys.readouterr()
        assert printed.out == ""
        assert "no session of several hosts or ranks is in it" in printed.err
        assert printed.err.count("\n") == 1


def test_copies_of_real_snapshots_as_ranks(tmp_path: Path, capsys: Capture) -> None:
    real = SHARED_DATA / "snapshots"
    if not real.exists():
        pytest.skip("no real snapshots beside the checkout")
    facts = json.loads((real / "facts.json").read_text())
    names = ("adam_small", "small_train", "no_time_us")
    for rank, name in enumerate(names):
        shutil.copyfile(real / f"{name}.pickle", tmp_path / f"mem_rank_{rank}.pickle")
    (session,) = asked(capsys, "info", tmp_path)
    told = {host["rank"]: host["bytes"] for host in session["hosts"]}
    expected = {
        rank: max(
            device["allocated_peak"] for device in facts[f"{name}.pickle"]["devices"].values()
        )
        for rank, name in enumerate(names)
    }
    assert told == expected
    highest = max(expected, key=lambda rank: expected[rank])
    assert session["highest"] == f"rank {highest}"
    ratio = expected[highest] / statistics.median(expected.values())
    assert session["highest_to_median"] == pytest.approx(ratio)
