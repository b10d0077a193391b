"""``tb-memory index``: what is read, what is said, what is left behind."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tb_memory_plugin.cli import main
from tb_memory_plugin.cli.progress import Progress
from tests.fixtures.snapshots import snapshot, write_pickle

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with two runs, one of them with a file that cannot be read, and a stranger."""
    folder = tmp_path / "runs"
    for run in ("one", "two"):
        (folder / run).mkdir(parents=True)
        write_pickle(snapshot(events=200), folder / run / "snapshot.pickle")
    (folder / "two" / "cut.pickle").write_bytes(b"\x80\x04\x95nonsense")
    (folder / "two" / "notes.txt").write_text("nothing to do with memory")
    return folder


def test_folders_are_read_whole_and_faults_are_named(
    runs: Path, own_cache: Path, capsys: Capture
) -> None:
    assert main(["index", str(runs)]) == 1
    printed = capsys.readouterr()
    assert [line.split(":")[0] for line in printed.out.splitlines()] == [
        str(runs / "one" / "snapshot.pickle"),
        str(runs / "two" / "snapshot.pickle"),
    ]
    assert "200 events, peak " in printed.out
    assert printed.err.count("\n") == 1
    assert "cut.pickle" in printed.err
    assert "notes.txt" not in printed.out + printed.err
    assert any(own_cache.rglob("*"))


def test_what_is_read_once_is_taken_from_the_cache(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    path = str(runs / "one" / "snapshot.pickle")
    assert main(["index", path]) == 0

    def never(*_: object) -> None:
        raise RuntimeError("read again")

    monkeypatch.setattr("tb_memory_plugin.store.children.read", never)
    assert main(["index", path]) == 0


def test_json_lists_every_source(runs: Path, capsys: Capture) -> None:
    assert main(["index", str(runs), str(runs / "nowhere.pickle"), "gs://b/c", "--json"]) == 1
    printed = capsys.readouterr()
    assert printed.err == ""
    found = json.loads(printed.out)["sources"]
    assert [(Path(each["path"]).name, each["error"] is None) for each in found] == [
        ("snapshot.pickle", True),
        ("cut.pickle", False),
        ("snapshot.pickle", True),
        ("nowhere.pickle", False),
        ("c", False),
    ]
    assert found[0]["events"] == 200
    assert found[0]["peak_bytes"] > 0


@pytest.mark.parametrize("path", ["x" * 5000, "a\0b"])
def test_what_is_no_name_of_a_file_is_one_sentence(path: str, capsys: Capture) -> None:
    assert main(["index", path]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("tb-memory: ") and path[:100].replace("\0", r"\x00") in said


def test_an_empty_folder_is_no_failure(tmp_path: Path, capsys: Capture) -> None:
    assert main(["index", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "No recordings or snapshots there.\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_for_terminals_and_cleans_up_after_itself() -> None:
    for stream, hidden, shown in (
        (Terminal(), False, True),
        (Terminal(), True, False),
        (io.StringIO(), False, False),
    ):
        with Progress("a.pickle", stream, hidden=hidden) as progress:
            progress.report(0.5, "reading")
            progress.report(0.51, "reading")  # too soon after the other to be drawn
        written = stream.getvalue()
        assert (written != "") is shown
        if shown:
            assert written.count("█" * 12 + "░" * 12) == 1
            assert "50 %  a.pickle: reading" in written
            assert written.endswith("\r\033[K")
