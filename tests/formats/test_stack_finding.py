"""The fast way to a stack's id agrees with comparing contents."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.readers import identity
from tb_memory_plugin.readers.torch_frames import FrameStacks
from tests.properties import examples

Frame = dict[str, Any]

# A few frames, some of the same content and not the same object, as several symbolisations of
# one place give them.
_POOL: list[Frame] = [
    {"name": f"f{number % 4}", "filename": "a.py" if number % 3 else "b.py", "line": number % 2}
    for number in range(12)
]


def _content(frames: list[Frame] | None) -> tuple[Any, ...]:
    return tuple((f["name"], f["filename"], f["line"]) for f in frames or ())


def _by_content(column: list[list[Frame] | None]) -> list[int]:
    known: dict[tuple[Any, ...], int] = {}
    return [known.setdefault(_content(frames), len(known)) if frames else -1 for frames in column]


_lists = st.lists(st.integers(0, len(_POOL) - 1), max_size=6)


@examples(300)
@given(st.lists(_lists | st.none(), max_size=60), st.integers(0, 4))
def test_ids_are_those_of_the_contents(picks: list[list[int] | None], kept: int) -> None:
    column = [None if pick is None else [_POOL[i] for i in pick] for pick in picks]
    before = identity.MOST_KEPT
    identity.MOST_KEPT = kept if kept < 4 else before
    try:
        stacks = FrameStacks()
        half = len(column) // 2
        found = stacks.ids(column[:half]) + stacks.ids(column[half:])
    finally:
        identity.MOST_KEPT = before

    assert found == _by_content(column)


@examples(100)
@given(st.lists(_lists, max_size=40))
def test_ids_hold_when_nothing_is_shared_and_all_is_given_up(picks: list[list[int]]) -> None:
    stacks = FrameStacks()
    found = []
    for pick in picks:  # each list dies at once, so that addresses come back
        found += stacks.ids([[dict(_POOL[i]) for i in pick]])

    assert found == _by_content([[_POOL[i] for i in pick] for pick in picks])


def test_stacks_that_differ_late_are_told_apart() -> None:
    shared = [dict(_POOL[0], line=line) for line in range(200)]
    column = []
    for place in range(200):
        frames = list(shared)
        frames[place] = dict(_POOL[1])
        column.append(frames)
    stacks = FrameStacks()

    assert stacks.ids(column) == list(range(200))
    assert stacks.ids([list(frames) for frames in reversed(column)]) == list(range(199, -1, -1))
    assert stacks.tables()["stacks"].num_rows == 200


def test_frames_that_differ_only_in_what_the_compiler_added_are_two() -> None:
    plain = dict(_POOL[0])
    added = plain | {"fx_node_name": "relu"}
    ignored = plain | {"unknown": 5}
    stacks = FrameStacks()

    assert stacks.ids([[plain], [added], [ignored], [dict(added)]]) == [0, 1, 0, 1]
    assert stacks.tables()["frames"].num_rows == 2


def test_tuples_are_lists() -> None:
    stacks = FrameStacks()

    assert stacks.ids([(_POOL[0], _POOL[1]), [_POOL[0], _POOL[1]], None, ()]) == [0, 0, -1, -1]
