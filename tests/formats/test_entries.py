"""What the compiled module reads is what Python reads, and where one refuses the other does."""

from __future__ import annotations

import copy
import importlib.util
import os
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import torch_entries, torch_snapshot
from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.torch_entries import KEYS, Chunk, Known
from tb_memory_plugin.readers.torch_structure import from_structure
from tests.fixtures.snapshots import snapshot
from tests.formats.snapshot_dicts import event, recorded, whole
from tests.formats.test_snapshot_facts import FACTS, SNAPSHOTS
from tests.formats.test_snapshot_fuzz import made, mutated

COMPILED: Any = None
if importlib.util.find_spec("tb_memory_plugin.readers._entries"):
    from tb_memory_plugin.readers import _entries as COMPILED

needs_compiled = pytest.mark.skipif(COMPILED is None, reason="built without a C compiler")


def both(ask: Callable[[], Any]) -> tuple[Any, Any]:
    """What ``ask`` answers, or the fault it finds: compiled, and in Python."""
    answers = []
    before = torch_entries._compiled
    for module in (COMPILED, None):
        torch_entries._compiled = module
        try:
            answers.append(ask())
        except (Malformed, SourceError) as error:
            answers.append(f"{type(error).__name__}: {error}")
        finally:
            torch_entries._compiled = before
    return answers[0], answers[1]


def test_the_compiled_module_is_used_where_it_was_built_and_is_wanted() -> None:
    if os.environ.get("TB_MEMORY_PURE_PYTHON"):
        assert torch_entries._compiled is None
    else:
        assert torch_entries._compiled is COMPILED


_NUMBERS = st.sampled_from([0, 1, 7, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
_ODD = st.sampled_from([None, True, -1, 1 << 64, -(1 << 70), 1.0, "7", b"7", [], (), {}])
_WORDS = {"alloc": 1, "free": 255, "": 0}


def _entries(regular: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Entries whose value is mostly regular, sometimes odd, sometimes not there."""
    some = st.one_of(regular, regular, regular, _ODD, st.just(...))
    columns = st.lists(regular, min_size=1, max_size=12) | st.lists(some, min_size=1, max_size=12)
    return columns.map(
        lambda values: [{} if value is ... else {"size": value, 3: None} for value in values]
    )


def _listed(column: Any) -> Any:
    return None if column is None else [column.dtype.str, column.tolist()]


@needs_compiled
@settings(deadline=None)
@given(_entries(_NUMBERS), st.booleans())
def test_integers(entries: list[dict[str, Any]], unsigned: bool) -> None:
    def ask() -> Any:
        return [_listed(part) for part in Chunk(entries, 5).integers("size", unsigned=unsigned)]

    compiled, python = both(ask)
    assert compiled == python


@needs_compiled
@settings(deadline=None)
@given(_entries(st.sampled_from(list(_WORDS))), st.booleans())
def test_codes_and_values(entries: list[dict[str, Any]], fewer: bool) -> None:
    words = {"alloc": 3} if fewer else _WORDS
    for ask in (
        lambda: _listed(Chunk(entries, 0).codes("size", words)),
        lambda: Chunk(entries, 0).values("size"),
        lambda: Chunk(entries, 0).optional("size"),
        lambda: Chunk(entries, 0).optional("frames"),
    ):
        compiled, python = both(ask)
        assert compiled == python


@needs_compiled
@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 5), max_size=4) | st.none(), min_size=1, max_size=40),
    st.integers(0, 3),
)
def test_lists_are_numbered_by_the_identity_of_their_items(
    picks: list[list[int] | None], most: int
) -> None:
    things = [object() for _ in range(6)]
    entries = [
        {} if pick is None else {"frames": [things[place] for place in pick]} for pick in picks
    ]
    asked: list[tuple[int, ...]] = []

    def unknown(items: list[Any]) -> int:
        asked.append(tuple(map(things.index, items)))
        return 100 + sum(6**place * (1 + value) for place, value in enumerate(asked[-1]))

    known = COMPILED.Known(most)
    first, again = (known.numbers(entries, "frames", unknown) for _ in range(2))
    expected = [
        100 + sum(6**place * (1 + value) for place, value in enumerate(pick)) if pick else -1
        for pick in picks
    ]
    assert list(memoryview(first).cast("i")) == expected
    assert again == first
    different = {tuple(pick) for pick in picks if pick}
    if len(different) <= most:
        assert sorted(asked) == sorted(different)  # each once
    assert set(asked) == different


@needs_compiled
def test_many_lists_are_found_again_after_the_table_grew() -> None:
    things = [object() for _ in range(60)]
    entries = [{"frames": [things[i % 60], things[i // 60]]} for i in range(3_600)]
    known, asked = COMPILED.Known(1 << 20), []

    def unknown(items: list[Any]) -> int:
        asked.append(items)
        return len(asked) - 1

    numbers = [memoryview(known.numbers(entries, "frames", unknown)).cast("i") for _ in range(2)]
    assert list(numbers[0]) == list(numbers[1]) == list(range(3_600))
    assert len(asked) == 3_600


@needs_compiled
def test_what_is_numbered_stays_alive_and_a_changed_list_is_another() -> None:
    known, asked = COMPILED.Known(1 << 16), []

    def unknown(items: list[Any]) -> int:
        asked.append(list(map(dict, items)))
        return len(asked) - 1

    for turn in range(2_000):  # each list and frame dies at once, so that addresses come back
        known.numbers([{"frames": [{"line": turn}]}], "frames", unknown)
    assert asked == [[{"line": turn}] for turn in range(2_000)]

    frames = [{"line": -1}]
    entry = {"frames": frames}
    known.numbers([entry], "frames", unknown)
    frames.append({"line": -2})
    known.numbers([entry], "frames", unknown)
    assert asked[-2:] == [[{"line": -1}], [{"line": -1}, {"line": -2}]]


@needs_compiled
def test_a_question_that_changes_what_it_is_asked_about_does_no_harm() -> None:
    known = COMPILED.Known(16)
    entries = [{"frames": [object()]} for _ in range(8)]

    def clears(items: list[Any]) -> int:
        entries.clear()
        return 1

    assert known.numbers(entries, "frames", clears) is None

    def again(items: list[Any]) -> int:
        return 2 if known.numbers([{"frames": list(items)}], "frames", lambda _: 2) else 0

    assert known.numbers([{"frames": [7]}], "frames", again) == (2).to_bytes(4, "little")
    with pytest.raises(ZeroDivisionError):
        known.numbers([{"frames": [8]}], "frames", lambda _: 1 // 0)
    with pytest.raises(ValueError, match="31 bits"):
        known.numbers([{"frames": [9]}], "frames", lambda _: 1 << 31)


@needs_compiled
@pytest.mark.parametrize(
    "arguments", [(), ([],), ((), "size"), ([], b"size"), ([], "size", {}, {}), (None, None)]
)
def test_other_arguments_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        COMPILED.integers(*arguments)
    with pytest.raises(TypeError):
        COMPILED.values(*arguments)
    with pytest.raises(TypeError):
        COMPILED.codes(*arguments)
    with pytest.raises(TypeError):
        COMPILED.Known(1).numbers(*arguments)
    assert COMPILED.integers([7], "size") is None  # not a dictionary


@needs_compiled
@pytest.mark.skipif(not FACTS, reason="the shared real files (../shared/data) are not here")
@pytest.mark.parametrize("name", sorted(FACTS) or ["none"])
def test_a_real_snapshot_is_read_the_same(name: str) -> None:
    compiled, python = both(lambda: torch_snapshot.read(SNAPSHOTS / name))
    assert compiled.meta == python.meta
    for table in python.tables:
        assert compiled.table(table).equals(python.table(table)), table


def _read(structure: Any) -> Any:
    recording = from_structure(copy.deepcopy(structure), "mutant", consume=True)
    return recording.meta, {name: recording.table(name).to_pylist() for name in recording.tables}


@needs_compiled
def test_mutated_structures_are_read_or_refused_the_same() -> None:
    chance, plain = random.Random(11), pickle.dumps(made())
    refused = 0
    for _ in range(150):
        structure = mutated(pickle.loads(plain), chance)
        compiled, python = both(lambda structure=structure: _read(structure))
        assert compiled == python
        refused += isinstance(python, str)
    assert 20 < refused < 140


@needs_compiled
def test_every_shape_of_a_made_snapshot_is_read_the_same() -> None:
    for changes in (
        {"shared_lists": False},
        {"shared_frames": False},
        {"event_pools": True, "private_pools": True, "pending": 0.2},
        {"devices": 2},
    ):
        structure = snapshot(events=5_000, stacks=40, depth=6, step_events=600, **changes)
        compiled, python = both(lambda structure=structure: _read(structure))
        assert compiled == python


def test_reading_needs_no_compiled_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_entries, "_compiled", None)
    entries = [event("alloc", 0x1000), event("free_completed", 0x1000)]
    assert Known(4).numbers(Chunk(entries, 0), "frames", lambda _: 0) is None
    assert set(torch_entries._values(entries)) == set(KEYS)
    assert recorded(whole(*entries)).table("events").num_rows == 2


def test_the_switch_is_heeded() -> None:
    import subprocess
    import sys

    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "from tb_memory_plugin.readers import torch_entries as t; print(t._compiled)",
        ],
        env={**os.environ, "TB_MEMORY_PURE_PYTHON": "1"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "None"
