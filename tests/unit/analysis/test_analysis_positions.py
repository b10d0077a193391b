"""Lanes and addresses beside what they promise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.positions import lanes, ranges
from tb_memory_plugin.recording.schema import AFTER
from tests.unit.analysis.worlds import World, worlds


@given(worlds())
def test_lives_in_a_lane_take_turns(world: World) -> None:
    recording = derive(world.recording)
    lives = [
        (
            -1 if life["birth"] is None else life["birth"],
            AFTER if life["death"] is None else life["death"],
            life["requested"],
        )
        for life in recording.table("allocations").to_pylist()
    ]
    lane = recording.table("positions").column("lane").to_pylist()
    for one, (birth, death, size) in enumerate(lives):
        for other, (born, died, taken) in enumerate(lives[:one]):
            if birth < died and born < death:  # alive at once
                assert lane[one] >= lane[other] + taken or lane[other] >= lane[one] + size


@given(st.lists(st.integers(1, 1 << 40), max_size=30))
def test_what_never_ends_lies_side_by_side_in_order(sizes: list[int]) -> None:
    at = lanes(np.array(sizes, dtype=np.int64), np.arange(len(sizes)))
    assert at.tolist() == [sum(sizes[:place]) for place in range(len(sizes))]


@given(worlds())
def test_addresses_keep_their_order_and_lose_only_holes(world: World) -> None:
    recording = derive(world.recording)
    device = recording.devices[0]
    lives = recording.table("allocations").to_pylist()
    places = recording.table("positions").column("address").to_pylist()
    found = ranges(recording, device)
    assert found.at(recording.values("allocations", "address", device)).tolist() == places
    assert all(0 <= place < max(found.extent, 1) for place in places)
    pairs = sorted((life["address"], place) for life, place in zip(lives, places, strict=True))
    for (one, low), (other, high) in pairwise(pairs):
        assert 0 <= high - low <= other - one
