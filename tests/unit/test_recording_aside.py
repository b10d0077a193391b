"""Tables set aside in a file are the tables they were; nulls share what they can."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tb_memory_plugin.recording import arrays, aside, builder
from tb_memory_plugin.recording.recording import open_recording, save
from tb_memory_plugin.recording.schema import SCHEMAS, sentinel


def spans(count: int) -> pa.Table:
    codes = np.arange(count, dtype=np.int32)
    return builder.table(
        "spans",
        {
            "name": arrays.text(codes % 3 - 1, ["a", "é"]),
            "begin": (codes.astype(np.int64), codes % 5 == 0),
            "end": codes.astype(np.int64) + 7,
        },
    )


def test_a_large_table_is_mapped_from_a_file_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "_LEAST", 1 << 10)
    table = spans(1_000)
    assert aside.set_aside(table) is table  # nobody wants files
    with aside.kept_in(tmp_path):
        kept = aside.set_aside(table)
        small = spans(1)
        assert aside.set_aside(small) is small

        assert kept is not table and kept.equals(table) and kept.schema == table.schema
        assert arrays.values(kept, "begin").tolist() == arrays.values(table, "begin").tolist()
        assert arrays.words(kept, "name") == ["a", "é"]
        assert list(tmp_path.iterdir()) == []
        aside.let_go()
        assert kept.equals(table)
    with aside.kept_in(tmp_path / "not there"):
        assert aside.set_aside(table) is table
    assert kept.equals(table)


def test_a_table_that_was_set_aside_is_saved_as_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "_LEAST", 1 << 10)
    meta = {"format": "x", "basis": "size", "devices": []}
    whole = builder.recording(meta, {"spans": spans(1_000), "marks": builder.table("marks", {})})
    save(whole, tmp_path / "plain")
    with aside.kept_in(tmp_path):
        kept = whole.with_tables({"spans": aside.set_aside(whole.table("spans"))})
        save(kept, tmp_path / "copied")
        save(kept, tmp_path / "again")
    save(kept, tmp_path / "after")  # its file is shut, its mapping is not

    expected = (tmp_path / "plain").read_bytes()
    for name in ("copied", "again", "after"):
        assert (tmp_path / name).read_bytes() == expected
    assert open_recording(tmp_path / "copied").table("spans").equals(whole.table("spans"))


@pytest.mark.parametrize("table", SCHEMAS)
def test_nulls_read_as_their_sentinels(table: str) -> None:
    for length in (0, 1, 9, 5_000, 3):
        for field in SCHEMAS[table]:
            found = arrays.nulls(length, field.type, field.name)
            assert len(found) == found.null_count == length and found.type == field.type
            found.validate(full=True)
            if not pa.types.is_integer(field.type):
                continue
            info = np.iinfo(str(field.type))
            held = min(max(sentinel(field.name), int(info.min)), int(info.max))
            column = pa.table([found], schema=pa.schema([field]))
            assert set(arrays.values(column, field.name).tolist()) <= {held}
            every = np.ones(length, dtype=bool)
            same = arrays.column(np.arange(length) % 3, field.type, every, field.name)
            assert same.equals(found)
            whole = pa.table([same], schema=pa.schema([field]))
            assert set(arrays.values(whole, field.name).tolist()) <= {held}


def test_nulls_cannot_be_written_to() -> None:
    column = pa.table([arrays.nulls(40, pa.int64(), "step")], names=["step"])
    with pytest.raises(ValueError, match="read-only"):
        arrays.values(column, "step")[0] = 3
