"""The nesting of spans, against looking at every span."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.recording.nesting import depths, lasting, nearest, nested

_SPANS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 12)), max_size=40)


@given(_SPANS, st.data())
def test_parents_ancestors_and_depths(
    spans: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    track, begin, length = np.array(spans, dtype=np.int64).reshape(-1, 3).T
    found = nested(track, begin, begin + length)
    track, begin, end = track[found.order], found.begin, found.end

    parents = found.parent.tolist()
    for row, parent in enumerate(parents):
        stack: list[int] = []
        for other in range(row + 1):
            if track[other] == track[row]:
                while stack and end[stack[-1]] <= begin[other]:
                    stack.pop()
                stack.append(other)
        assert parent == (stack[-2] if len(stack) > 1 else -1)

    def ancestors(row: int) -> list[int]:
        return [] if row < 0 else [row, *ancestors(parents[row])]

    wanted = np.array(data.draw(st.lists(st.booleans(), min_size=len(spans), max_size=len(spans))))
    wanted = wanted.astype(bool)
    rows = range(len(spans))
    expected = [next((each for each in ancestors(row) if wanted[each]), -1) for row in rows]
    assert nearest(found.parent, wanted).tolist() == [*expected, -1]
    assert depths(found.parent).tolist() == [len(ancestors(row)) - 1 for row in rows]


@given(_SPANS)
def test_what_ends_before_is_not_around(spans: list[tuple[int, int, int]]) -> None:
    track, begin, length = np.array(spans, dtype=np.int64).reshape(-1, 3).T * [[1], [1000], [1000]]
    found = nested(track, begin, begin + length)
    expected = []
    for row, outer in enumerate(found.parent.tolist()):
        while outer >= 0 and found.end[row] - found.end[outer] > 2_000:  # more than rounding
            outer = found.parent[outer]
        expected.append(int(outer))
    assert lasting(found.parent, found.end).tolist() == expected
