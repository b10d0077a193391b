"""Sums of 64-bit integers against Python's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis import exact

SMALL = st.integers(-(2**20), 2**20)
HUGE = st.integers(-(2**63), 2**63 - 1)
LISTS = st.lists(st.one_of(SMALL, HUGE), max_size=40)


@given(LISTS)
def test_total_is_python_s_sum(values: list[int]) -> None:
    assert exact.total(np.array(values, dtype=np.int64)) == sum(values)


@given(st.one_of(SMALL, HUGE), LISTS)
def test_running_sums_are_exact_or_refused(start: int, values: list[int]) -> None:
    sums = [start]
    for value in values:
        sums.append(sums[-1] + value)
    fits = all(-(2**63) <= value < 2**63 for value in sums)
    deltas = np.array(values, dtype=np.int64)
    if fits:
        assert exact.running(start, deltas).tolist() == sums
    else:
        with pytest.raises(OverflowError):
            exact.running(start, deltas)


@given(st.lists(st.tuples(st.integers(0, 3), st.one_of(SMALL, HUGE)), max_size=40))
def test_sums_by_group_are_exact_or_refused(pairs: list[tuple[int, int]]) -> None:
    sums = [sum(value for group, value in pairs if group == wanted) for wanted in range(5)]
    groups = np.array([group for group, _ in pairs], dtype=np.int64)
    values = np.array([value for _, value in pairs], dtype=np.int64)
    if all(-(2**63) <= value < 2**63 for value in sums):
        assert exact.sum_by(groups, values, 5).tolist() == sums
    else:
        with pytest.raises(OverflowError):
            exact.sum_by(groups, values, 5)


def test_a_start_outside_64_bits_is_refused() -> None:
    with pytest.raises(OverflowError):
        exact.running(2**63, np.zeros(0, dtype=np.int64))


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3), *[st.one_of(st.integers(0, 2**20), st.integers(0, 2**63 - 1))] * 2
        ),
        max_size=40,
    )
)
def test_sums_of_products_are_python_s(rows: list[tuple[int, int, int]]) -> None:
    sums = exact.Products(4)
    for part in (rows[::2], rows[1::2]):
        columns = np.array(part, dtype=np.int64).reshape(-1, 3).T
        sums.add(*columns)
    expected = [sum(a * b for group, a, b in rows if group == wanted) for wanted in range(4)]
    assert sums.totals().tolist() == sums.totals().tolist() == expected


def test_sums_of_millions_of_products_are_exact() -> None:
    rows = (1 << 20) + 12_345
    groups = np.arange(rows) % 3
    first = np.full(rows, (1 << 36) + 1)
    second = np.arange(rows) + (1 << 40)
    sums = exact.Products(3)
    sums.add(groups, first, second)
    expected = [
        ((1 << 36) + 1) * (len(range(g, rows, 3)) * (1 << 40) + sum(range(g, rows, 3)))
        for g in range(3)
    ]
    assert sums.totals().tolist() == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [(1 << 36, 5), (1, 1 << 50), (1 << 41, 1 << 10), ((1 << 42) + 1, (1 << 45) + 3)],
)
def test_sums_of_products_are_put_away_before_they_overflow(first: int, second: int) -> None:
    rows = 70_000
    sums = exact.Products(2)
    groups = np.arange(rows) % 2
    for _ in range(4):
        sums.add(groups, np.full(rows, first), np.full(rows, second))
    assert sums.totals().tolist() == [4 * rows // 2 * first * second] * 2
