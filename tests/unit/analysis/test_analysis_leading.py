"""The first rows of an order, against a whole sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis import leading as module
from tb_memory_plugin.analysis.leading import UNKNOWN, leading


@pytest.mark.parametrize("falling", [False, True])
@given(
    rows=st.lists(st.tuples(st.integers(-4, 4), st.booleans()), max_size=40),
    count=st.integers(0, 45),
    part=st.integers(1, 9),
)
def test_they_are_those_that_a_stable_sort_puts_first(
    falling: bool, rows: list[tuple[int, bool]], count: int, part: int
) -> None:
    keys = np.array([UNKNOWN if key == 4 else key for key, _ in rows], dtype=np.int64)
    among = np.array([inside for _, inside in rows], dtype=bool)
    inside = [row for row, (_, chosen) in enumerate(rows) if chosen]
    wanted = sorted((row for row in inside if keys[row] != UNKNOWN), key=keys.__getitem__)
    if falling:
        wanted.reverse()
    wanted += [row for row in inside if keys[row] == UNKNOWN]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PART", part)
        assert leading(keys.__getitem__, among, count, falling=falling).tolist() == wanted[:count]


def test_many_equal_ones_are_in_the_order_of_their_rows() -> None:
    keys = np.arange(200_000) % 3
    rows = np.flatnonzero(keys == 0)[:70_000]
    everything = np.ones(200_000, dtype=bool)
    assert leading(keys.__getitem__, everything, 66_667, falling=False).tolist() == [
        *rows[:66_667].tolist()
    ]
    last = np.flatnonzero(keys == 2)[::-1]
    assert leading(keys.__getitem__, everything, 5, falling=True).tolist() == last[:5].tolist()
