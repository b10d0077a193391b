"""The innermost span at a moment against a look at every span."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.nesting import innermost

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=25)


def slow_innermost(spans: list[tuple[int, int]], moment: int) -> set[int]:
    """Those of the spans that hold the moment which began last and, of them, are shortest."""
    holding = [i for i, (begin, length) in enumerate(spans) if begin <= moment < begin + length]
    last = max(((spans[i][0], -spans[i][1]) for i in holding), default=None)
    return {i for i in holding if (spans[i][0], -spans[i][1]) == last}


@given(SPANS)
def test_innermost_is_the_last_to_begin_of_those_that_hold_the_moment(
    spans: list[tuple[int, int]],
) -> None:
    begin = np.array([begin for begin, _ in spans], dtype=np.int64)
    end = begin + np.array([length for _, length in spans], dtype=np.int64)
    moments = np.arange(-1, 45, dtype=np.int64)
    for moment, found in zip(moments, innermost(begin, end, moments), strict=True):
        expected = slow_innermost(spans, int(moment))
        assert (int(found) in expected) if expected else found == -1


def test_spans_without_beginning_or_end_hold_all_before_or_after() -> None:
    limits = np.iinfo(np.int64)
    begin = np.array([limits.min, 10], dtype=np.int64)
    end = np.array([5, limits.max], dtype=np.int64)
    assert innermost(begin, end, np.array([0, 7, 12])).tolist() == [0, -1, 1]


def test_a_deep_nest_is_climbed_out_of() -> None:
    depth = 5000
    begin = np.arange(depth, dtype=np.int64)
    end = 2 * depth - begin
    moments = np.arange(2 * depth, dtype=np.int64)
    expected = [min(m, 2 * depth - m - 1) for m in range(2 * depth)]
    assert innermost(begin, end, moments).tolist() == expected
