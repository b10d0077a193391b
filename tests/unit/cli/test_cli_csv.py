"""What commands print with ``--csv``: what the page saves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tb_memory_plugin.cli import main
from tb_memory_plugin.recording.recording import Recording, save
from tb_memory_plugin.views import csv, lives, modules, operators, segments_csv
from tests.fixtures.histories import history
from tests.fixtures.training import training

Capture = pytest.CaptureFixture[str]


def saved(command: str, recording: Recording) -> Iterator[str]:
    """What the page saves of the same."""
    device = recording.devices[0]
    if command == "peak":
        return csv.groups(recording, device, by="stack", at="event:5", filter="", sort="-bytes")
    if command == "allocations":
        return lives.whole(recording, device, begin=2, end=9, sort="birth", minimum=600)
    if command == "operators":
        return operators.whole(recording, device, end=4)
    if command == "module-runs":
        return modules.whole(recording, device, begin=1)
    if command == "events":
        return segments_csv.listed(recording, device, "action:alloc")
    return segments_csv.state(recording, device, "event:3")


@pytest.mark.parametrize(
    "words",
    [
        ("peak", "--at", "event:5", "--by", "stack", "--limit", "1"),
        ("allocations", "--begin", "2", "--end", "9", "--sort=birth", "--minimum", "600"),
        ("operators", "--end", "4", "--limit", "1"),
        ("module-runs", "--begin", "1"),
        ("events", "--filter", "action:alloc", "--limit", "1"),
        ("segments", "--at", "event:3"),
    ],
    ids=lambda words: words[0],
)
def test_it_is_what_the_page_saves(words: tuple[str, ...], source: Path, capsys: Capture) -> None:
    command, *others = words
    assert main([command, str(source), *others, "--csv"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    expected = "".join(saved(command, training())).replace("\r\n", "\n")
    assert printed.out == expected
    assert command == "module-runs" or printed.out.count("\n") > 2


def test_names_cannot_move_the_cursor(tmp_path: Path, capsys: Capture) -> None:
    op = "\033[2Jgone\nand on"
    made = history(
        [("alloc", 0x3000, 512)],
        blocks=[{"address": 0x3000, "requested": 512}],
        segments=[{"address": 0x3000, "size": 4096}],
        labels=[{"event": 0, "address": 0x3000, "op": op}],
    )
    save(made, tmp_path / "named.tbmem", compress=True)
    assert main(["operators", str(tmp_path / "named.tbmem"), "--csv"]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.startswith("label,") and row.startswith('"\\x1b[2Jgone\\nand on",')


def test_of_a_folder_there_is_none(tmp_path: Path, capsys: Capture) -> None:
    assert main(["peak", str(tmp_path), "--csv"]) == 1
    assert "one recording" in capsys.readouterr().err


def test_it_is_csv_or_json(source: Path, capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["events", str(source), "--csv", "--json"])
    assert "not allowed with" in capsys.readouterr().err
