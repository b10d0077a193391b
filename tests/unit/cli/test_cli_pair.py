"""``tb-memory pair``: a match in words and numbers, and both as one file for all commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.cli import main
from tests.fixtures.pairs import Shown, write_pair
from tests.sharing import made_once

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pair, and in ``other`` that of another process."""

    def make(folder: Path) -> None:
        write_pair(folder, shown=Shown(behind=5_000_000, ppm=20))
        (folder / "other").mkdir()
        write_pair(folder / "other", seed=9, base=0x7E00_0000_0000)

    return made_once(tmp_path_factory, "cli-pair", make)


def run(capsys: Capture, *arguments: object) -> tuple[int, str, str]:
    status = main([str(each) for each in arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def answer(capsys: Capture, *arguments: object) -> dict[str, Any]:
    status, out, err = run(capsys, *arguments, "--json")
    assert (status, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def test_a_match_is_told_and_both_are_written_as_one(
    files: Path, tmp_path: Path, capsys: Capture
) -> None:
    snapshot, trace = files / "snapshot.pickle", files / "profile.pt.trace.json"
    status, out, err = run(capsys, "pair", snapshot, trace)
    assert (status, err) == (0, "") and "of one process" in out and "millionths" in out
    target = tmp_path / "both.tbmem"
    found = answer(capsys, "pair", snapshot, trace, "--out", target)
    assert found["out"] == str(target)
    assert abs(found["match"]["offset_ns"] - 5_000_000) < 10_000
    assert found["match"]["drift_ppm"] == pytest.approx(20, abs=1)
    assert found["match"]["residual_ns"]["p95"] <= 1_000
    whole, alone = answer(capsys, "info", target), answer(capsys, "info", snapshot)
    assert whole["devices"] == alone["devices"]
    assert whole["pair"] == found["match"] and "pair" not in alone
    assert "profile.pt.trace.json" in run(capsys, "info", target)[1]
    by_op = answer(capsys, "peak", target, "--by", "op")
    assert {group["label"] for group in by_op["groups"]} & {f"operator_{n}_0" for n in range(24)}
    operators = answer(capsys, "operators", target)
    assert operators["total"]["operators"] > 3


def test_a_file_that_is_there_is_kept(files: Path, tmp_path: Path, capsys: Capture) -> None:
    pair = ("pair", files / "snapshot.pickle", files / "profile.pt.trace.json")
    target = tmp_path / "both.tbmem"
    target.write_text("mine")
    status, _, err = run(capsys, *pair, "--out", target)
    assert status == 1 and "--force" in err and target.read_text() == "mine"
    assert (
        answer(capsys, *pair, "--out", target, "--force", "--shift=-40")["match"]["shift_ns"] == -40
    )
    status, _, err = run(capsys, *pair, "--out", tmp_path / "both.txt")
    assert status == 1 and ".tbmem" in err


def test_what_a_pair_is_made_of_is_kept(files: Path, tmp_path: Path, capsys: Capture) -> None:
    snapshot, trace = files / "snapshot.pickle", files / "profile.pt.trace.json"
    both = tmp_path / "both.tbmem"
    answer(capsys, "pair", snapshot, trace, "--out", both)
    before = both.read_bytes()
    status, _, err = run(capsys, "pair", both, trace, "--out", both, "--force")
    assert status == 1 and "is what is read" in err and both.read_bytes() == before


def test_what_is_no_pair_is_said(files: Path, tmp_path: Path, capsys: Capture) -> None:
    snapshot, trace = files / "snapshot.pickle", files / "other" / "profile.pt.trace.json"
    for more in ([], ["--out", tmp_path / "no.tbmem"]):
        status, out, err = run(capsys, "pair", snapshot, trace, *more)
        assert (status, out) == (1, "") and "not of one process" in err
        status, out, _ = run(capsys, "pair", snapshot, trace, *more, "--json")
        assert status == 1 and json.loads(out)["match"] is None
    assert not (tmp_path / "no.tbmem").exists()
    status, _, err = run(capsys, "pair", files / "profile.pt.trace.json", snapshot)
    assert status == 1 and "name it first" in err
    forced = answer(capsys, "pair", snapshot, trace, "--shift", "0")
    assert forced["match"]["matched"] == 0
    status, out, _ = run(capsys, "pair", snapshot, trace, "--shift", "0")
    assert status == 0 and "what their clocks show" in out


@pytest.mark.parametrize("word", ["later", "1.5", "9" * 30])
def test_a_shift_is_a_number(word: str, files: Path, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["pair", "a", "b", f"--shift={word}"])
    assert ended.value.code == 2
    assert "ns" in capsys.readouterr().err
