"""Segments that hold an address at a moment, against a look at each of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.locate import containing
from tb_memory_plugin.analysis.segments import SegmentLives
from tb_memory_plugin.recording.schema import AFTER

#: address, size, birth, length of life (0: to the end)
SEGMENTS = st.lists(
    st.tuples(
        st.sampled_from([0, 10, 20, 30, 2**64 - 8]),
        st.sampled_from([1, 5, 10, 35]),
        st.integers(-1, 8),
        st.integers(0, 6),
    ),
    max_size=12,
)


@given(
    SEGMENTS,
    st.lists(st.tuples(st.sampled_from([*range(48), 2**64 - 5]), st.integers(-1, 12)), max_size=30),
)
def test_the_segment_found_is_one_that_holds_the_address(
    segments: list[tuple[int, int, int, int]], asked: list[tuple[int, int]]
) -> None:
    # One mapping of an address at a time: what would overlap is left out.
    lives: list[tuple[int, int, int, int]] = []
    for address, size, birth, length in segments:
        death = birth + length if length else AFTER
        if all(
            address + size <= a or a + s <= address or death <= b or d <= birth
            for a, s, b, d in lives
        ):
            lives.append((address, size, birth, death))
    lives.sort(key=lambda life: (life[2], life[0]))
    columns = list(zip(*lives, strict=True)) or [(), (), (), ()]
    none = np.full(len(lives), -1, dtype=np.int64)
    table = SegmentLives(
        address=np.array(columns[0], dtype=np.uint64),
        size=np.array(columns[1], dtype=np.int64),
        birth=np.array(columns[2], dtype=np.int64),
        death=np.array(columns[3], dtype=np.int64),
        known=none,
        final=none,
    )
    found = containing(
        table,
        np.array([address for address, _ in asked], dtype=np.uint64),
        np.array([moment for _, moment in asked], dtype=np.int64),
    )
    for (address, moment), row in zip(asked, found.tolist(), strict=True):
        holding = [
            place
            for place, (a, s, b, d) in enumerate(lives)
            if a <= address < a + s and b <= moment < d
        ]
        assert [row] == (holding or [-1])


def test_a_longer_segment_further_down_is_found() -> None:
    table = SegmentLives(
        address=np.array([10, 0], dtype=np.uint64),
        size=np.array([5, 35], dtype=np.int64),
        birth=np.array([-1, 5], dtype=np.int64),
        death=np.array([4, AFTER], dtype=np.int64),
        known=np.array([-1, -1]),
        final=np.array([-1, -1]),
    )
    addresses = np.array([20, 12, 12, 20], dtype=np.uint64)
    assert containing(table, addresses, np.array([6, 6, 2, 2])).tolist() == [1, 1, 0, -1]
