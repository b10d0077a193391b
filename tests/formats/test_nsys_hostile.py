"""Databases that are none, are damaged, or are made to harm: each is refused in one sentence."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import nsys
from tb_memory_plugin.readers.registry import reader_of
from tests.fixtures.nsys import SCHEMA, call, export, kernel, memory, nvtx, on_device
from tests.formats.mutating import cut, damaged, is_read, sentence, tried

TABLE = "CUDA_GPU_MEMORY_USAGE_EVENTS"
EVENTS = [memory(1, 100, 0x1000, correlationId=1), memory(2, 50, 0x2000), memory(3, -100, 0x1000)]


def refused(path: Path) -> str:
    with pytest.raises(SourceError) as raised:
        nsys.read(path)
    return sentence(raised.value, path.name)


def changed(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


def whole(tmp_path: Path, **more: Any) -> Path:
    return export(
        tmp_path / "a.sqlite",
        EVENTS,
        StringIds=[{"id": 1, "value": "cudaMalloc"}],
        CUPTI_ACTIVITY_KIND_RUNTIME=[call(1, 1, callchainId=1)],
        CUDA_CALLCHAINS=[{"id": 1, "symbol": 1, "module": 1, "stackDepth": 0}],
        NVTX_EVENTS=[nvtx("step 1", 0, 9)],
        CUPTI_ACTIVITY_KIND_KERNEL=[kernel(1, 1, 3, 4)],
        CUPTI_ACTIVITY_KIND_MEMCPY=[on_device(5, 6, correlationId=1, bytes=4, copyKind=1)],
        **more,
    )


def test_which_files_are_exports(tmp_path: Path) -> None:
    path = whole(tmp_path)
    head = path.read_bytes()[:4096]
    for name, start, expected in (
        ("report1.sqlite", head, "nsight_systems"),
        ("report1", head, "nsight_systems"),
        ("report1.sqlite", b"", None),
        ("report1.sqlite", b"SQLite format 2", None),
        ("report1.nsys-rep", b"", "nsight_systems"),
        ("report1.qdrep", b"\1\2", "nsight_systems"),
    ):
        reader = reader_of(name, start)
        assert (None if reader is None else reader.FORMAT) == expected
    assert nsys.probe(path) == {"bytes": path.stat().st_size}


def test_reports_say_how_to_export_them(tmp_path: Path) -> None:
    path = tmp_path / "report1.nsys-rep"
    path.write_bytes(b"\1\2\3")
    assert "nsys export --type sqlite report1.nsys-rep" in refused(path)
    with pytest.raises(SourceError, match="nothing but Nsight Systems reads"):
        nsys.probe(path)


def test_exports_without_memory_say_how_to_record_it(tmp_path: Path) -> None:
    path = whole(tmp_path, without=[TABLE])
    assert "nsys profile --cuda-memory-usage=true" in refused(path)
    assert nsys.probe(path)["bytes"]
    path = export(tmp_path / "b.sqlite", [])
    assert "nothing was allocated" in refused(path)


def test_other_databases_are_none(tmp_path: Path) -> None:
    path = changed(tmp_path / "cookies.sqlite", "CREATE TABLE moz_cookies (id INTEGER)")
    assert "no export of Nsight Systems" in refused(path)
    with pytest.raises(SourceError, match="no export of Nsight Systems"):
        nsys.probe(path)
    (tmp_path / "text.sqlite").write_text("hello")
    assert "no SQLite database" in refused(tmp_path / "text.sqlite")
    (tmp_path / "empty.sqlite").write_bytes(b"")
    assert "is empty" in refused(tmp_path / "empty.sqlite")
    (tmp_path / "folder.sqlite").mkdir()
    assert "is a folder" in refused(tmp_path / "folder.sqlite")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("start = 'soon'", "has 'soon' in CUDA_GPU_MEMORY_USAGE_EVENTS.start"),
        ("address = 1.5", "has a float"),
        ("memKind = x'00'", "has a bytes"),
        ("globalPid = 'x'", "where integers are"),
        ("bytes = -7", "less than nothing"),
        ("bytes = NULL", "without a size"),
        ("start = 9223372036854775807", "time stamps that are none"),
    ],
)
def test_impossible_values_are_refused(tmp_path: Path, change: str, fault: str) -> None:
    path = changed(whole(tmp_path), f"UPDATE {TABLE} SET {change}")
    assert fault in refused(path)


def test_what_is_not_a_plain_table_is_not_looked_at(tmp_path: Path) -> None:
    endless = (
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
        "SELECT x AS start, 0 AS globalPid, 0 AS deviceId, x AS address, 1 AS bytes, "
        "2 AS memKind, 0 AS memoryOperationType FROM n"
    )
    path = changed(whole(tmp_path, without=[TABLE]), f"CREATE VIEW {TABLE} AS {endless}")
    assert "memory was not traced" in refused(path)

    path.unlink()
    path = changed(
        whole(tmp_path),
        "DROP TABLE StringIds",
        f"CREATE VIEW StringIds AS SELECT start AS id, 'y' AS value FROM ({endless})",
        "CREATE TABLE log (x)",
        f"CREATE TRIGGER t AFTER UPDATE ON {TABLE} BEGIN INSERT INTO log VALUES (1); END",
    )
    before = path.read_bytes()
    assert derive(nsys.read(path)).table("events").num_rows == 3
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]

    path.unlink()
    path = changed(
        whole(tmp_path, without=[TABLE]),
        f"CREATE TABLE {TABLE} (start, globalPid, deviceId, memKind, memoryOperationType, bytes, "
        "address INT AS (start + 1))",
        f"INSERT INTO {TABLE} (start) VALUES (1)",
    )
    assert "without a column address" in refused(path)

    path.unlink()
    path = whole(tmp_path, without=[TABLE])
    try:
        changed(path, f"CREATE VIRTUAL TABLE {TABLE} USING fts5(start)")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no virtual tables")
    assert "memory was not traced" in refused(path)


def test_huge_values_are_refused_or_ignored(tmp_path: Path) -> None:
    path = changed(whole(tmp_path), f"UPDATE {TABLE} SET name = zeroblob(50000000)")
    try:
        assert nsys.read(path).table("events").num_rows == 3  # SQLite of Python 3.10 has no limit
    except SourceError as error:
        assert "is a damaged SQLite database" in str(error)


def test_unfinished_databases_are_refused(tmp_path: Path) -> None:
    path = whole(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"UPDATE {TABLE} SET bytes = 7")
        connection.commit()
        log = path.with_name(path.name + "-wal")
        assert log.stat().st_size
        said = refused(path)
    assert "changes to it are in a.sqlite-wal" in said
    assert nsys.read(path).table("events").num_rows == 3  # closed: they are in it now


def test_a_name_with_odd_letters(tmp_path: Path) -> None:
    folder = tmp_path / "50% ? #1"
    folder.mkdir()
    path = whole(tmp_path).rename(folder / "é ?mode=rwc&x#.sqlite")
    assert nsys.read(path).table("events").num_rows == 3
    assert [each.name for each in folder.iterdir()] == [path.name]


def test_cut_off_anywhere(tmp_path: Path) -> None:
    data = whole(tmp_path).read_bytes()
    outcomes = tried(nsys.read, tmp_path / "cut.sqlite", cut(data, 90))
    assert outcomes[1] > 80, outcomes


def test_mutated_bytes_are_read_or_refused(tmp_path: Path) -> None:
    data, chance = whole(tmp_path).read_bytes(), random.Random(3)
    files = (damaged(data, chance, start=16) for _ in range(150))
    read, refused = tried(nsys.read, tmp_path / "mutant.sqlite", files)
    assert read > 20 and refused > 20, (read, refused)


def test_mutated_rows_are_read_or_refused(tmp_path: Path) -> None:
    odd = [None, 0, -1, 1, 59, (1 << 62) + 1, -(1 << 63), 1.5, "", "x", "two\nlines. More", b"\xff"]
    chance, outcomes = random.Random(4), {True: 0, False: 0}
    path = tmp_path / "rows.sqlite"
    for _ in range(150):
        events = [dict(each) for each in EVENTS]
        ranges, calls = [nvtx("step 1", 0, 9), nvtx("a", 1, 2)], [call(1, 1, callchainId=1)]
        chains = [{"id": 1, "symbol": 1, "module": 1, "stackDepth": 0}]
        work = [kernel(1, 1, 3, 4)], [on_device(5, 6, correlationId=1, bytes=4, copyKind=1)]
        gpus = [{"vmId": 0, "id": 0, "name": "H100", "totalMemory": 1 << 30}]
        tables: list[list[dict[str, Any]]] = [events, events, ranges, calls, chains, gpus, *work]
        for _ in range(chance.randint(1, 3)):
            row = chance.choice(chance.choice(tables))
            row[chance.choice(sorted(row))] = chance.choice(odd)
        path.unlink(missing_ok=True)
        export(
            path,
            events,
            columns={name: text.replace("NOT NULL", "") for name, text in SCHEMA.items()},
            StringIds=[{"id": 1, "value": "cudaMalloc"}],
            CUPTI_ACTIVITY_KIND_RUNTIME=calls,
            CUDA_CALLCHAINS=chains,
            NVTX_EVENTS=ranges,
            CUPTI_ACTIVITY_KIND_KERNEL=work[0],
            CUPTI_ACTIVITY_KIND_MEMCPY=work[1],
            TARGET_INFO_GPU=gpus,
        )
        outcomes[is_read(nsys.read, path)] += 1
    assert min(outcomes.values()) > 20, outcomes
