"""Recordings that hold together as files, but say what cannot be."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import native
from tb_memory_plugin.readers.torch_structure import from_structure
from tb_memory_plugin.recording.recording import Recording, save
from tests.fixtures.snapshots import snapshot


@pytest.fixture(scope="module")
def recording() -> Recording:
    return from_structure(snapshot(events=200, devices=2), "job.pickle")


def refusal(path: Path, recording: Recording) -> str:
    save(recording, path, compress=True)
    with pytest.raises(SourceError) as refused:
        native.read(path)
    return str(refused.value)


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda meta: meta.pop("basis"), "says nothing about its basis"),
        (lambda meta: meta.update(format=math.nan), "its format that cannot be"),
        (lambda meta: meta.update(pid=math.inf), "its pid that cannot be"),
        (lambda meta: meta.update(rank=True), "its rank that cannot be"),
        (lambda meta: meta.update(time_origin_ns=1 << 70), "its time_origin_ns that cannot be"),
        (lambda meta: meta.update(problems=True), "its problems that cannot be"),
        (lambda meta: meta.update(problems=[{"a": 1}]), "its problems that cannot be"),
        (lambda meta: meta.update(pools=[["a", "b"]]), "its pools that cannot be"),
        (lambda meta: meta.update(missing=[{"what": "steps"}]), "its missing that cannot be"),
        (lambda meta: meta.update(allocator_settings=[1]), "its allocator_settings that"),
        (lambda meta: meta.update(has_history="yes"), "its has_history that cannot be"),
        (lambda meta: meta.update(other={"deep": [math.nan]}), "that is no number"),
        (lambda meta: meta["devices"][0].update(key=5), "does not describe its devices"),
        (lambda meta: meta["devices"][0].update(name={}), "does not describe its devices"),
        (lambda meta: meta["devices"][0].update(capacity="lots"), "does not describe its devices"),
        (lambda meta: meta["devices"][1].update(key="0"), "describes a device twice"),
    ],
)
def test_what_is_said_is_checked(
    tmp_path: Path, recording: Recording, change: Change, words: str
) -> None:
    meta = copy.deepcopy(dict(recording.meta))
    change(meta)
    assert words in refusal(tmp_path / "x.tbmem", Recording(meta, recording.tables))


def with_value(recording: Recording, table: str, column: str, value: int) -> Recording:
    """``recording`` with another value in the first row of a column."""
    whole = recording.table(table)
    values = [value, *whole.column(column).to_pylist()[1:]]
    place = whole.schema.get_field_index(column)
    field = whole.schema.field(column)
    made = whole.set_column(place, field, pa.array(values, field.type))
    return recording.with_tables({table: made})


@pytest.mark.parametrize(
    ("table", "column", "value", "words"),
    [
        ("events", "pool", 1000, "refers from events to pools that it does not name"),
        ("segments", "pool", -7, "refers from segments to pools that it does not name"),
        ("events", "stack", 1 << 30, "refers from events to rows that stacks does not have"),
        ("blocks", "segment", -2, "refers from blocks to rows that segments does not have"),
    ],
)
def test_references_lead_somewhere(
    tmp_path: Path, recording: Recording, table: str, column: str, value: int, words: str
) -> None:
    changed = with_value(recording, table, column, value)
    assert words in refusal(tmp_path / "x.tbmem", changed)


def test_stacks_have_frames(tmp_path: Path, recording: Recording) -> None:
    without = {name: table for name, table in recording.tables.items() if name != "frames"}
    words = "refers from stacks to rows that frames does not have"
    assert words in refusal(tmp_path / "x.tbmem", Recording(recording.meta, without))
    frames = recording.table("frames").slice(1)
    cut = recording.with_tables({"frames": frames})
    assert words in refusal(tmp_path / "y.tbmem", cut)
