"""Orders beside those that numpy finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.ordering import stable_order


@given(st.lists(st.integers(0, (1 << 64) - 1) | st.integers(0, 9), max_size=40), st.integers(0, 12))
def test_addresses_are_ordered_as_by_a_stable_sort(keys: list[int], zeros: int) -> None:
    column = np.array(keys, dtype=np.uint64) >> np.uint64(zeros) << np.uint64(zeros)
    assert stable_order(column).tolist() == sorted(range(len(keys)), key=column.__getitem__)


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-3, 3), max_size=40))
def test_signed_keys_are_ordered_as_by_a_stable_sort(keys: list[int]) -> None:
    column = np.array(keys, dtype=np.int64)
    assert stable_order(column).tolist() == sorted(range(len(keys)), key=keys.__getitem__)


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int32, np.uint64])
def test_every_type_of_column_has_an_order(kind: type) -> None:
    column = np.array([3, 1, 3, 0, 1], dtype=kind)
    assert stable_order(column).tolist() == [3, 1, 4, 0, 2]
