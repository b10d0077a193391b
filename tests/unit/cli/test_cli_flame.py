"""``tb-memory flame``, ``lines`` and ``export``."""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest

from tb_memory_plugin.analysis.flame_rows import OF
from tb_memory_plugin.cli import main, weighing
from tb_memory_plugin.cli.writing import written
from tb_memory_plugin.recording.schema import SCHEMAS
from tb_memory_plugin.store.load import load_path
from tests.conftest import REPOSITORY
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.fixtures.training import MODEL, TORCH, TRAIN
from tests.speedscope import checked

Capture = pytest.CaptureFixture[str]


def said(capsys: Capture, *arguments: object) -> str:
    """What a command that succeeds prints."""
    assert main(list(map(str, arguments))) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


def complaint(capsys: Capture, *arguments: object) -> str:
    """The one sentence of a command that fails."""
    assert main(list(map(str, arguments))) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    return printed.err


def test_flame_prints_a_line_a_stack(source: Path, capsys: Capture) -> None:
    assert sorted(said(capsys, "flame", source).splitlines()) == [
        "?? (??);at::_ops::mm::call(at::Tensor const&) 700",
        "before the window 1300",
        f"main ({TRAIN}:41);forward ({MODEL}:88);linear ({TORCH}:9) 512",
        f"main ({TRAIN}:41);forward ({MODEL}:90);softmax ({TORCH}:7) 2048",
    ]
    inverted = said(capsys, "flame", source, "--inverted", "--filter", "stack:softmax")
    assert inverted.startswith("softmax (")
    assert inverted.endswith(f";main ({TRAIN}:41) 2048\n")


@pytest.mark.parametrize(
    ("arguments", "total"),
    [
        (["--at", "event:5"], 2512),
        (["--of", "allocations"], 4),
        (["--of", "kept", "--begin", "0", "--end", "4"], 512 + 2048 + 700),
        (["--of", "passing"], 2048),
        (["--of", "highest", "--begin", "6"], 2512),
        (["--of", "highest", "--axis", "time", "--begin", "5001", "--end", "7000"], 2512),
        (["--device", "1", "--at", "event:-1"], 5),
    ],
)
def test_flame_of_windows_and_moments(
    arguments: list[str], total: int, source: Path, capsys: Capture
) -> None:
    lines = said(capsys, "flame", source, *arguments).splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == total


def test_flame_writes_a_file(source: Path, tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "memory.speedscope.json"
    printed = said(capsys, "flame", source, "--format", "speedscope", "-o", target)
    assert str(target) in printed
    assert checked(target.read_text())["profiles"][0]["endValue"] == 4560
    answer = json.loads(said(capsys, "flame", source, "--format", "json", "--fold-libraries"))
    assert answer["total"] == 4560
    assert "No such file" in complaint(capsys, "flame", source, "-o", tmp_path / "no" / "x")
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_flame_says_what_is_wrong(source: Path, capsys: Capture) -> None:
    assert "beginning before its end" in complaint(
        capsys, "flame", source, "--begin", "5", "--end", "5"
    )
    assert "is not a moment" in complaint(capsys, "flame", source, "--at", "noon")
    assert tuple(OF) == weighing.OF


def test_lines_add_up(source: Path, capsys: Capture) -> None:
    answer = json.loads(said(capsys, "lines", source, "--json"))
    made = sum(line["made"] for file in answer["files"] for line in file["lines"])
    assert made + sum(row["value"] for row in answer["nowhere"]) == answer["total"] == 4560
    printed = said(capsys, "lines", source, "--limit", "1").splitlines()
    assert printed[0] == "cuda:0: 4.45 KiB"
    assert re.fullmatch(rf" +2.00 KiB +44.9 % +2.00 KiB +1  {MODEL}:90 forward", printed[2])
    assert "before the window" in printed[3]
    assert printed[4].endswith("6 more lines (--limit)")


@pytest.mark.parametrize("of", OF)
def test_lines_have_a_unit(of: str, source: Path, capsys: Capture) -> None:
    head = said(capsys, "lines", source, "--of", of).splitlines()[0]
    units = {"allocations": r"\d+", "lifetime": r"\d+ B · ns"}
    assert re.fullmatch(rf"cuda:0: {units.get(of, r'[0-9.]+ KiB')}", head), head


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_pipes_links_and_folders_stay_what_they_are(tmp_path: Path) -> None:
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
    os.mkfifo(pipe)
    with written(pipe) as path:
        assert path == pipe
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    link.symlink_to(target)
    with written(link) as path:
        path.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    with pytest.raises(IsADirectoryError) as refused, written(tmp_path):
        pass
    assert refused.value.filename == str(tmp_path)
    assert sorted(tmp_path.iterdir()) == [link, pipe, target]


def test_a_file_that_fails_to_be_written_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("before")
    with pytest.raises(ZeroDivisionError), written(target) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert target.read_text() == "before"
    with written(target) as temporary:
        temporary.write_text("after")
    assert target.read_text() == "after"
    assert target.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


#: Tables whose kinds are codes.
OF_CODES = ("frame_kinds", "buffer_allocations", "heap", "plan_events")


def test_export_writes_every_table_and_replaces_none(
    source: Path, tmp_path: Path, capsys: Capture
) -> None:
    folder = tmp_path / "out" / "deep"
    listed = json.loads(said(capsys, "export", source, "-o", folder, "--json"))
    files = {f"{name}.parquet" for name in SCHEMAS} | {"meta.json"}
    assert set(listed["files"]) == files == {path.name for path in folder.iterdir()}
    recording = load_path(source)
    for name in SCHEMAS:
        table = parquet.read_table(folder / f"{name}.parquet")
        expected = recording.table(name)
        assert table.column("row").to_pylist() == list(range(len(expected)))
        assert table.column_names == ["row", *expected.column_names]
        words = {"action", "state", "category", *(["kind"] if name in OF_CODES else [])}
        for column in set(expected.column_names) - words:
            assert table.column(column).to_pylist() == expected.column(column).to_pylist()
    events = parquet.read_table(folder / "events.parquet").column("action").to_pylist()
    assert events[:4] == ["alloc", "alloc", "segment_alloc", "alloc"]
    categories = parquet.read_table(folder / "allocations.parquet").column("category")
    assert Counter(categories.to_pylist())["activation"] == 2
    kinds = parquet.read_table(folder / "frame_kinds.parquet").column("kind").to_pylist()
    assert set(kinds) == {"own", "library", "op", "plumbing"}
    about = json.loads((folder / "meta.json").read_text())
    assert about["tables"]["allocations"] == len(recording.table("allocations"))
    assert about["meta"]["pools"] == [[0, 0], [0, 1]]

    refused = complaint(capsys, "export", source, "-o", folder)
    assert "events.parquet already" in refused and "--force" in refused
    said(capsys, "export", source, "-o", folder, "--force")
    assert {path.name for path in folder.iterdir()} == files


def test_export_to_where_nothing_can_be_written_leaves_nothing(
    source: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot be written" in complaint(capsys, "export", source, "-o", tmp_path / "file")
    real = parquet.write_table
    written_tables: list[Any] = []

    def full(table: Any, where: Any, **options: Any) -> None:
        if len(written_tables) == 5:
            raise OSError(28, "No space left on device")
        written_tables.append(where)
        real(table, where, **options)

    monkeypatch.setattr(parquet, "write_table", full)
    folder = tmp_path / "out"
    for where in (folder, folder / "deep" / "er"):
        del written_tables[:]
        sentence = complaint(capsys, "export", source, "-o", where)
        assert "cannot be written (No space left on device); check the folder's" in sentence
        assert sentence.count("\n") == 1
        assert [path.name for path in tmp_path.iterdir() if path.name != "cache"] == ["file"]


@pytest.mark.parametrize("calls", range(8))
def test_an_export_that_fails_leaves_what_was_there(
    calls: int, source: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    (folder / "events.parquet").write_text("of another export")
    (folder / "stacks.parquet").symlink_to("nowhere")
    before = sorted((path.name, path.is_symlink()) for path in folder.iterdir())
    real, count = os.rename, 0

    def failing(*names: Any) -> None:
        nonlocal count
        count += 1
        if count == calls + 1:
            raise PermissionError(13, "Permission denied")
        real(*names)

    monkeypatch.setattr(os, "rename", failing)
    assert "(Permission denied)" in complaint(capsys, "export", source, "-o", folder, "--force")
    assert sorted((path.name, path.is_symlink()) for path in folder.iterdir()) == before
    assert (folder / "events.parquet").read_text() == "of another export"
    monkeypatch.undo()
    said(capsys, "export", source, "-o", folder, "--force")
    assert (folder / "notes.txt").read_text() == "mine"
    assert len(parquet.read_table(folder / "events.parquet")) > 0


@pytest.mark.parametrize(
    "arguments", [("export", "-o", ""), ("import", "--logdir", " "), ("flame", "-o", "")]
)
def test_an_empty_name_is_not_this_folder(
    arguments: tuple[str, ...],
    source: Path,
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command, *rest = arguments
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SystemExit):
        main([command, str(source), *rest])
    assert "the name is empty; say where to write" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def blocks(language: str) -> list[str]:
    """What stands in docs/export.md in a language."""
    text = (REPOSITORY / "docs" / "export.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.S | re.M)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A snapshot, and the folder that it is exported to."""
    folder = tmp_path_factory.mktemp("exported")
    path = write_pickle(snapshot(events=3_000, seed=7), folder / "snapshot.pickle")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TB_MEMORY_CACHE", str(folder / "cache"))
        assert main(["export", str(path), "-o", str(folder / "tables")]) == 0
    return path, folder / "tables"


def short_lived(path: Path) -> list[tuple[str, int, int]]:
    """The worked example's answer, a life at a time."""
    recording = load_path(path)
    frames = recording.table("frames").to_pylist()
    own = recording.table("stack_names").column("own").to_pylist()
    found: dict[str, list[int]] = {}
    for life in recording.table("allocations").to_pylist():
        if None in (life["birth_time"], life["death_time"], life["birth_stack"]):
            continue
        if life["death_time"] - life["birth_time"] < 1_000_000:
            frame = frames[own[life["birth_stack"]]]
            entry = found.setdefault(f"{frame['file']}:{frame['line']}", [0, 0])
            entry[0] += 1
            entry[1] += life["requested"]
    rows = [(line, count, size) for line, (count, size) in found.items()]
    return sorted(rows, key=lambda row: (-row[2], row[0]))[:10]


def test_the_worked_example_in_pandas(
    exported: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    path, folder = exported
    monkeypatch.chdir(folder)
    (program,) = blocks("python")
    names: dict[str, Any] = {}
    exec(program, names)
    expected = short_lived(path)
    assert len(expected) > 3
    assert list(names["answer"].itertuples(index=False, name=None)) == expected


def test_the_worked_examples_in_duckdb(
    exported: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed here")
    path, folder = exported
    monkeypatch.chdir(folder)
    first, second = blocks("sql")
    assert duckdb.sql(first).fetchall() == short_lived(path)
    rows = load_path(path).table("allocations").to_pylist()
    alive = [
        row["requested"]
        for row in rows
        if (row["birth"] is None or row["birth"] <= 1000)
        and (row["death"] is None or row["death"] > 1000)
    ]
    answer = duckdb.sql(second).fetchall()
    assert (sum(row[1] for row in answer), sum(row[2] for row in answer)) == (
        sum(alive),
        len(alive),
    )
