"""Where a curve is highest in a range, against Python's ``max``."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.views.peaks import BLOCK, highest, peaks


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=9 * BLOCK),
    st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 1 << 20)), max_size=60),
)
def test_the_first_of_the_highest(values: list[int], asked: list[tuple[int, int]]) -> None:
    ends = [sorted((a % (len(values) + 1), b % (len(values) + 1))) for a, b in asked]
    ranges = [(a, b) for a, b in ends if a < b]
    array = np.array(values, dtype=np.int64)
    start = np.array([a for a, _ in ranges], dtype=np.int64)
    stop = np.array([b for _, b in ranges], dtype=np.int64)
    found = highest(array, peaks(array), start, stop).tolist()
    assert found == [max(range(a, b), key=lambda row: (values[row], -row)) for a, b in ranges]


def test_every_range_of_a_long_curve_with_one_peak() -> None:
    rows = 5 * BLOCK + 7
    for peak in (0, BLOCK - 1, BLOCK, 3 * BLOCK, rows - 1):
        array = np.zeros(rows, dtype=np.int64)
        array[peak] = 1
        start, stop = (each.ravel() for each in np.meshgrid(np.arange(rows), np.arange(rows) + 1))
        start, stop = start[start < stop], stop[start < stop]
        found = highest(array, peaks(array), start, stop)
        inside = (start <= peak) & (peak < stop)
        assert (found == np.where(inside, peak, start)).all()
