"""Text and truth values in tables, made without the detour through pandas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.stacks import StackInterner


@pytest.mark.parametrize(
    "values",
    [[], [None], ["a"], ["", "ü", None, "a", "ü", "𝄞" * 3], [str(i % 7) for i in range(99)]],
)
def test_encoded_text_is_what_arrow_makes_of_it(values: list[str | None]) -> None:
    made = arrays.encoded_text(values)

    made.validate(full=True)
    assert made.equals(pa.array(values, pa.string()).dictionary_encode())


def test_strings() -> None:
    words = ["", "one", "zwölf", "𝄞"]
    made = arrays.strings(words)

    made.validate(full=True)
    assert made.to_pylist() == words


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 64])
def test_booleans(count: int) -> None:
    values = [(True, False, None)[i % 3] for i in range(count)]
    made = arrays.booleans(values)

    made.validate(full=True)
    assert made.to_pylist() == values
    assert made.null_count == values.count(None)


@pytest.mark.parametrize("offset", [0, 3, 9])
def test_reading_nulls_and_truths(offset: int) -> None:
    flags = [(True, False, None)[i % 3] for i in range(30)]
    numbers = [None if i % 4 else i for i in range(30)]
    made = pa.table(
        {
            "flag": pa.array(flags),
            "number": pa.array(numbers, pa.int64()),
            "full": pa.array(range(30)),
            "text": arrays.encoded_text([None if i % 5 else "x" for i in range(30)]),
        }
    )
    for table in (made.slice(offset), pa.concat_tables([made.slice(offset), made])):
        for name in table.schema.names:
            expected = [value is not None for value in table.column(name).to_pylist()]
            assert arrays.valid(table, name).tolist() == expected
        expected = [bool(value) for value in table.column("flag").to_pylist()]
        assert arrays.truths(table, "flag").tolist() == expected
    assert arrays.valid(made.slice(0, 0), "flag").tolist() == []


def test_a_table_of_every_kind_of_column() -> None:
    table = builder.table(
        "segments",
        {
            "device": np.array([0, 0], np.int16),
            "kind": ["small", None],
            "expandable": [None, True],
            "stack": [3, None],
        },
    )

    assert table.column("kind").to_pylist() == ["small", None]
    assert table.column("expandable").to_pylist() == [None, True]
    assert table.column("stack").to_pylist() == [3, None]
    assert table.column("size").to_pylist() == [None, None]


def test_stacks_and_frames() -> None:
    interner = StackInterner()
    first, second = interner.frame("f", "a.py", 1), interner.frame("g", "b.py", 2, "{}")
    for frames in ([first, second], [], [second], [first, second]):
        interner.stack(frames)
    tables = interner.tables()

    assert tables["stacks"].column("frames").to_pylist() == [[0, 1], [], [1]]
    assert tables["frames"].to_pylist() == [
        {"function": "f", "file": "a.py", "line": 1, "extra": None},
        {"function": "g", "file": "b.py", "line": 2, "extra": "{}"},
    ]
    assert {name: table.num_rows for name, table in StackInterner().tables().items()} == {
        "frames": 0,
        "stacks": 0,
    }


def test_indexing_a_snapshot_does_not_import_pandas() -> None:
    code = (
        "import sys\n"
        "from tb_memory_plugin.analysis.derive import derive\n"
        "from tb_memory_plugin.readers.torch_structure import from_structure\n"
        "from tests.fixtures.snapshots import snapshot\n"
        "derive(from_structure(snapshot(events=60, expandable=True), 'made'))\n"
        "print('pandas' in sys.modules)"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )

    assert done.stdout.strip() == "False"
