"""Pools of ranges that no event names."""

from __future__ import annotations

from tb_memory_plugin.analysis.derive import derive
from tests.fixtures.histories import history


def test_a_range_has_the_pool_of_those_it_touches_whenever_they_were_mapped() -> None:
    recording = derive(
        history(
            [
                ("map", 0x1000, 0x100),  # touches the next, which is there at the end
                ("alloc", 0x1000, 64),
                ("free", 0x1000, 64),
                ("unmap", 0x1000, 0x100),
                ("map", 0x9000, 0x100),  # touches nothing that is known
                ("unmap", 0x9000, 0x100),
                (
                    "segment",
                    0x2100,
                    0x100,
                ),  # not expandable: it may be of any pool
                ("unsegment", 0x2100, 0x100),
            ],
            segments=[{"address": 0x1100, "size": 0x1000, "pool": 1, "expandable": True}],
            blocks=[],
        )
    )
    lives = {row["address"]: row["pool"] for row in recording.table("segment_lives").to_pylist()}
    assert lives == {0x1000: 1, 0x1100: 1, 0x9000: None, 0x2100: None}
    assert recording.table("allocations").column("pool").to_pylist() == [1]


def test_touching_ranges_that_disagree_tell_nothing() -> None:
    recording = derive(
        history(
            [("map", 0x1000, 0x100), ("unmap", 0x1000, 0x100)],
            segments=[
                {"address": 0xF00, "size": 0x100, "pool": 0, "expandable": True},
                {"address": 0x1100, "size": 0x100, "pool": 1, "expandable": True},
            ],
            blocks=[],
        )
    )
    lives = {row["address"]: row["pool"] for row in recording.table("segment_lives").to_pylist()}
    assert lives == {0xF00: 0, 0x1000: None, 0x1100: 1}
