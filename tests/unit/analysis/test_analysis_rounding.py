"""Rounding of requests against the allocator's rules, one number at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.rounding import rounded

MIB = 1 << 20
SIZES = st.one_of(st.integers(0, 1 << 45), st.integers(0, 45).map(lambda power: 1 << power))


def slow_rounded(size: int, divisions: dict[str, int]) -> int:
    interval = min(max(size.bit_length() - 1 - 20, 0), 15) if size else 0
    steps = divisions.get(str(1 << interval), 0)
    if size >= 512 and steps > 1 and size > 512 * steps:
        floor = 1 << (size.bit_length() - 1)
        if floor == size:
            return size
        step = floor // (1 << (steps.bit_length() - 1))
        if step == 0:
            return floor * 2
        return -(-size // step) * step
    return max(512, -(-size // 512) * 512)


@given(st.lists(SIZES, max_size=20), st.sampled_from([0, 1, 2, 4, 8, 16]))
def test_rounding_follows_the_allocator(sizes: list[int], steps: int) -> None:
    divisions = {str(1 << place): steps for place in range(16)}
    found = rounded(np.array(sizes, dtype=np.int64), {"roundup_power2_divisions": divisions})
    assert found.tolist() == [slow_rounded(size, divisions) for size in sizes]


def test_known_values() -> None:
    sizes = np.array([0, 1, 512, 513, 1200 * 1024], dtype=np.int64)
    assert rounded(sizes, None).tolist() == [512, 512, 512, 1024, 1200 * 1024]
    quarters = {"roundup_power2_divisions": {"1": 4}}
    assert rounded(np.array([MIB + 1, 2 * MIB, 700]), quarters).tolist() == [
        MIB + MIB // 4,
        2 * MIB,
        1024,
    ]


def test_settings_of_other_shapes_are_taken_as_not_set() -> None:
    sizes = np.array([MIB + 1], dtype=np.int64)
    for odd in ({"roundup_power2_divisions": [1, 2]}, {"roundup_power2_divisions": {"1": "4"}}):
        assert rounded(sizes, odd).tolist() == [MIB + 512]
