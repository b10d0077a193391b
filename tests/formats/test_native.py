"""Recordings of our own: read back as written, refused in words when they are not whole."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import native
from tb_memory_plugin.readers.torch_structure import from_structure
from tb_memory_plugin.recording import builder, container
from tb_memory_plugin.recording.recording import Recording, save
from tb_memory_plugin.recording.schema import RECORDED
from tests.fixtures.snapshots import snapshot


@pytest.fixture
def recording() -> Recording:
    return from_structure(snapshot(events=400, devices=2, window=200), "job.pickle")


@pytest.mark.parametrize("compress", [True, False])
def test_what_was_written_is_read(tmp_path: Path, recording: Recording, compress: bool) -> None:
    path = tmp_path / "rank0.tbmem"
    save(derive(recording), path, compress=compress)

    read = native.read(path)

    assert set(read.tables) == set(recording.tables)
    for name, table in recording.tables.items():
        assert read.table(name).equals(table), name
    assert {**read.meta, "source": None} == {**recording.meta, "source": None}
    assert read.meta["source"] == "rank0.tbmem"
    assert native.probe(path)["meta"]["format"] == "torch_snapshot"
    assert derive(read).table("usage").equals(derive(recording).table("usage"))


def test_names_and_heads() -> None:
    assert native.matches("a.tbmem", b"")
    assert native.matches("a", container.MAGIC + b"...")
    assert not native.matches("a.pickle", b"\x80\x04")


def test_cut_off_or_flipped_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "made.tbmem"
    save(from_structure(snapshot(events=60, depth=2), "made"), path, compress=True)
    data = path.read_bytes()
    for length in range(0, len(data), 97):
        path.write_bytes(data[:length])
        with pytest.raises(SourceError, match=r"made\.tbmem"):
            native.read(path)
    path.write_bytes(data)
    whole = native.read(path)
    for place in range(0, len(data), 61):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        with contextlib.suppress(SourceError):  # else a byte that says nothing, between tables
            found = native.read(path)
            assert found.meta == whole.meta
            assert found.tables == whole.tables


def _written(tmp_path: Path, meta: dict[str, Any], tables: dict[str, pa.Table]) -> Path:
    path = tmp_path / "made.tbmem"
    save(Recording(meta, tables), path)
    return path


def _meta(**changes: Any) -> dict[str, Any]:
    made = {"format": "x", "basis": "size", "devices": [{"key": "0", "name": "cuda:0"}]}
    return made | changes


def _events(**columns: Any) -> dict[str, pa.Table]:
    made = {"device": np.zeros(2, np.int16), "action": np.zeros(2, np.uint8)}
    return {"events": builder.table("events", made | columns)}


def _spans(parent: list[int | None], device: int = 0) -> dict[str, pa.Table]:
    devices = [device] * len(parent)
    return {"spans": builder.table("spans", {"device": devices, "parent": parent})}


def _link(source: int, target: int) -> dict[str, pa.Table]:
    links = builder.table("links", {"source": [source], "target": [target]})
    return {**_spans([None]), "links": links}


@pytest.mark.parametrize(
    ("meta", "tables", "words"),
    [
        (_meta(), _spans([0]), "spans that are inside of each other"),
        (_meta(), _spans([None, 2, 3, 1]), "spans that are inside of each other"),
        (_meta(), _spans([None, 2]), "refers from spans to rows"),
        (_meta(), _spans([None], device=1), "rows of no device in its table spans"),
        (_meta(), _link(0, 1), "refers from links to rows that spans does not have"),
        (_meta(), _link(-5, 0), "refers from links to rows that spans does not have"),
        ({"format": "x", "basis": "size"}, {}, "nothing about its devices"),
        (_meta(devices=[{"key": "0"}]), {}, "does not describe its devices"),
        (_meta(devices=5), {}, "does not describe its devices"),
        (_meta(), {"events": pa.table({"device": [0]})}, "other columns"),
        (_meta(), _events(device=np.array([0, 1], np.int16)), "rows of no device"),
        (_meta(), _events(device=np.array([-1, 0], np.int16)), "rows of no device"),
        (
            _meta(devices=[{"key": "0", "name": "a"}, {"key": "1", "name": "b"}]),
            _events(device=np.array([1, 0], np.int16)),
            "out of order",
        ),
        (_meta(), _events(stack=np.array([0, 3], np.int32)), "refers from events to rows"),
    ],
)
def test_tables_that_do_not_fit(
    tmp_path: Path, meta: dict[str, Any], tables: dict[str, pa.Table], words: str
) -> None:
    with pytest.raises(SourceError, match=words):
        native.read(_written(tmp_path, meta, tables))


def test_tables_of_an_earlier_version_are_carried_on(tmp_path: Path, recording: Recording) -> None:
    path = tmp_path / "old.tbmem"
    later = {"events": ["forward_stack", "compile_context"], "labels": ["step"], "spans": ["args"]}
    tables = {}
    for name, table in recording.tables.items():
        table = table.drop_columns(later.get(name, []))
        if "step" in table.schema.names:
            place = table.schema.names.index("step")
            table = table.set_column(place, "step", table.column("step").cast(pa.int32()))
        tables[name] = table
    save(Recording(recording.meta, tables), path, compress=True)

    read = native.read(path)

    for name, table in recording.tables.items():
        assert read.table(name).schema == RECORDED[name]
        kept = [column for column in table.schema.names if column not in later.get(name, [])]
        assert read.table(name).select(kept).equals(table.select(kept)), name
        assert all(read.table(name).column(c).null_count == len(table) for c in later.get(name, []))
    steps = recording.values("spans", "step")
    assert read.values("spans", "step").tolist() == steps.tolist()
    assert derive(read).table("usage").equals(derive(recording).table("usage"))


def test_tables_of_a_later_version_are_left_alone(tmp_path: Path) -> None:
    tables = {**_events(), "quantum": pa.table({"a": [1]})}

    assert set(native.read(_written(tmp_path, _meta(), tables)).tables) <= set(RECORDED)


@pytest.mark.parametrize("document", [[], {"meta": []}, {"meta": {}, "schema": "new"}, {}])
def test_a_directory_that_says_something_else(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "made.tbmem"
    container.write(path, document, {})

    with pytest.raises(SourceError):
        native.read(path)


def test_an_empty_file_and_one_of_something_else(tmp_path: Path) -> None:
    for data in (b"", b"hello" * 20, container.MAGIC * 10, json.dumps({}).encode()):
        path = tmp_path / "made.tbmem"
        path.write_bytes(data)
        for ask in (native.read, native.probe):
            with pytest.raises(SourceError, match=r"^made\.tbmem: .*; .*\.$"):
                ask(path)
