"""The simulated allocator's rules one by one, with values worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from demo.allocator import (
    Block,
    CachingAllocator,
    History,
    OutOfMemory,
    Settings,
    SimulatedDriver,
    snapshot,
)
from demo.allocator.sizes import MIB, block_size, segment_size
from demo.allocator.snapshot import segments

pytestmark = pytest.mark.once

GRAPH = (1, 0)
HERE = [{"name": "here", "filename": "a.py", "line": 1}]
THERE = [{"name": "there", "filename": "a.py", "line": 2}]


def made(capacity: int = 1 << 40, latency: int = 2, **chosen: Any) -> CachingAllocator:
    return CachingAllocator(SimulatedDriver(capacity, latency=latency), Settings(**chosen))


def done(allocator: CachingAllocator, since: int = 0) -> list[tuple[str, int]]:
    """Actions and MiB (of what goes to and comes from the driver) or bytes."""
    return [
        (e["action"], e["size"] // MIB if e["action"].startswith("segment") else e["size"])
        for e in list(allocator.history.entries)[since:]
    ]


@pytest.mark.parametrize(
    ("requested", "divisions", "size"),
    [
        (0, (0,) * 16, 512),
        (1, (0,) * 16, 512),
        (513, (0,) * 16, 1024),
        (MIB + 1, (1,) * 16, MIB + 512),
        (2048, (8,) * 16, 2048),
        (2049, (8,) * 16, 2560),  # under 8 × 512 it is multiples of 512
        (1_228_800, (4,) * 16, 1_310_720),  # 1.25 MiB
        (2 * MIB, (4,) * 16, 2 * MIB),
        (MIB + MIB // 10, (2, 8) + (0,) * 14, MIB + MIB // 2),
        (2 * MIB + 1, (2, 8) + (0,) * 14, 2 * MIB + MIB // 4),
        (4 * MIB + 1, (2, 8) + (0,) * 14, 4 * MIB + 512),
        (96 << 30, (0,) * 15 + (2,), 96 << 30),
        ((96 << 30) + 1, (0,) * 15 + (2,), 128 << 30),
    ],
)
def test_a_request_is_rounded(requested: int, divisions: tuple[int, ...], size: int) -> None:
    assert block_size(requested, Settings(roundup_power2_divisions=divisions)) == size


@pytest.mark.parametrize(
    ("size", "mapped"),
    [
        (512, 2 * MIB),
        (MIB, 2 * MIB),
        (MIB + 512, 20 * MIB),
        (10 * MIB - 512, 20 * MIB),
        (10 * MIB, 10 * MIB),
        (10 * MIB + 512, 12 * MIB),
    ],
)
def test_a_segment_is_as_large_as_its_kind_says(size: int, mapped: int) -> None:
    assert segment_size(size) == mapped


def test_settings_that_pytorch_refuses_are_refused() -> None:
    with pytest.raises(ValueError, match="over 20 MiB"):
        Settings(max_split_size=20 * MIB)
    with pytest.raises(ValueError, match="powers of two"):
        Settings(roundup_power2_divisions=(3,) * 16)


def test_a_small_block_is_split_to_the_last_512_bytes() -> None:
    allocator = made()
    first = allocator.malloc(MIB)
    second = allocator.malloc(MIB - 512)
    third = allocator.malloc(3)
    assert (second.address - first.address, second.size) == (MIB, MIB - 512)
    assert (third.address - first.address, third.size) == (2 * MIB - 512, 512)
    assert done(allocator)[0] == ("segment_alloc", 2)
    assert [action for action, _ in done(allocator)].count("segment_alloc") == 1


@pytest.mark.parametrize(("requested", "size"), [(10 * MIB, 11 * MIB), (10 * MIB - 512,) * 2])
def test_a_large_block_keeps_a_rest_of_up_to_one_mib(requested: int, size: int) -> None:
    allocator = made()
    allocator.malloc(9 * MIB)  # of 20 MiB, so 11 are left
    assert allocator.malloc(requested).size == size


def test_an_expandable_segment_is_split_to_the_last_512_bytes() -> None:
    allocator = made(expandable_segments=True)
    assert allocator.malloc(20 * MIB - 512).size == 20 * MIB - 512


def test_streams_share_nothing() -> None:
    allocator = made()
    (address,) = cached(allocator, 1)
    assert allocator.malloc(MIB, stream=5).address != address
    assert allocator.malloc(MIB, stream=0).address == address


def cached(allocator: CachingAllocator, *mib: int) -> list[int]:
    """Free blocks of so many MiB, each a segment; their addresses."""
    blocks = [allocator.malloc(size * MIB) for size in mib]
    for block in blocks:
        allocator.free(block)
    return [block.address for block in blocks]


def test_blocks_over_the_split_limit_serve_only_what_is_about_as_large() -> None:
    allocator = made(max_split_size=24 * MIB)
    (large,) = cached(allocator, 44)
    assert allocator.malloc(23 * MIB).address != large
    assert allocator.malloc(24 * MIB).address != large  # 20 MiB would be wasted
    fitting = allocator.malloc(24 * MIB + 512)
    assert (fitting.address, fitting.size) == (large, 44 * MIB)


@pytest.mark.parametrize(
    ("capacity", "wanted", "freed"),
    [
        (130, 60, [30, 30]),  # largest first, the last of equals first, and no more than needed
        (130, 70, [30, 30, 30]),
        (105, 23, [30]),  # one is enough
    ],
)
def test_too_little_memory_frees_oversize_blocks_first(
    capacity: int, wanted: int, freed: list[int]
) -> None:
    allocator = made(capacity * MIB, max_split_size=24 * MIB)
    allocator.free(allocator.malloc(12 * MIB))
    addresses = cached(allocator, 30, 30, 30)
    since = len(allocator.history.entries)
    allocator.malloc(wanted * MIB)
    assert done(allocator, since)[:-2] == [("segment_free", size) for size in freed]
    given = [e["addr"] for e in list(allocator.history.entries)[since:-2]]
    ordered = sorted(addresses)
    assert given == (ordered[:1] if wanted == 23 else ordered[::-1][: len(freed)])


def test_too_little_memory_frees_all_that_is_whole_and_tries_again() -> None:
    allocator = made(64 * MIB)
    kept = allocator.malloc(2 * MIB)  # splits 20 MiB
    allocator.free(allocator.malloc(40 * MIB))
    allocator.free(allocator.malloc(512))
    since = len(allocator.history.entries)
    allocator.malloc(44 * MIB)
    assert done(allocator, since) == [
        ("segment_free", 40),
        ("segment_free", 2),
        ("segment_alloc", 44),
        ("alloc", 44 * MIB),
    ]
    with pytest.raises(OutOfMemory):
        allocator.malloc(19 * MIB)
    assert allocator.history.entries[-1]["device_free"] == 0
    assert allocator.history.entries[-1]["size"] == 19 * MIB
    assert kept.address in allocator.active


def test_a_block_that_can_grow_is_left_for_what_needs_it() -> None:
    allocator = made(expandable_segments=True)
    first = allocator.malloc(4 * MIB)
    allocator.malloc(13 * MIB)
    address = first.address
    allocator.free(first)
    # 3 MiB are left at the end, which fit exactly, but could become more.
    assert allocator.malloc(3 * MIB).address == address


def test_an_expandable_segment_grows_at_its_end() -> None:
    allocator = made(expandable_segments=True)
    first = allocator.malloc(17 * MIB)
    second = allocator.malloc(22 * MIB)
    assert second.address == first.address + 17 * MIB
    assert [entry for entry in done(allocator) if entry[0] == "segment_map"] == [
        ("segment_map", 20),
        ("segment_map", 20),
    ]


def test_whole_pages_are_unmapped_and_holes_filled_first() -> None:
    allocator = made(expandable_segments=True)
    base = allocator.malloc(15 * MIB).address
    middle = allocator.malloc(30 * MIB)
    allocator.malloc(15 * MIB)
    allocator.free(middle)
    allocator.empty_cache(HERE)
    entry = allocator.history.entries[-1]
    assert (entry["action"], entry["addr"], entry["size"]) == (
        "segment_unmap",
        base + 20 * MIB,
        20 * MIB,
    )
    assert [(s["address"] - base, s["total_size"]) for s in segments(allocator)] == [
        (0, 20 * MIB),
        (40 * MIB, 20 * MIB),
    ]
    assert allocator.malloc(31 * MIB).address == base + 60 * MIB
    assert allocator.malloc(30 * MIB).address == base + 15 * MIB
    assert len(segments(allocator)) == 1


def test_the_stack_of_a_segment_is_lost_when_its_first_block_is_split() -> None:
    allocator = made()
    allocator.malloc(10 * MIB, frames=HERE)
    first = allocator.malloc(4 * MIB, frames=HERE)
    second = allocator.malloc(16 * MIB, frames=THERE)
    allocator.free(first)
    allocator.free(second)
    found = sorted(segments(allocator), key=lambda segment: segment["total_size"])
    assert [segment["frames"] for segment in found] == [HERE, []]


def test_entries_of_one_call_share_its_stack_and_frees_without_one_have_that_of_the_birth() -> None:
    allocator = made()
    allocator.free(allocator.malloc(512, frames=HERE))
    allocator.free(allocator.malloc(512, frames=HERE), THERE)
    stacks = [entry["frames"] for entry in allocator.history.entries]
    assert [frames is HERE for frames in stacks] == [True] * 5 + [False] * 2
    assert stacks[-1] is stacks[-2] is THERE


def test_a_block_another_stream_uses_stays_until_that_has_come_so_far() -> None:
    allocator = made(latency=2)
    block = allocator.malloc(512)
    allocator.record_stream(block, 0)  # its own
    allocator.record_stream(block, 5)
    allocator.free(block)
    assert done(allocator)[2:] == [("free_requested", 512)]
    assert segments(allocator)[0]["blocks"][0]["state"] == "active_pending_free"
    assert allocator.malloc(512).address != block.address
    assert allocator.malloc(512).address == block.address
    assert [a for a, _ in done(allocator)[3:]] == ["alloc", "free_completed", "alloc"]


def test_emptying_the_cache_waits_for_streams() -> None:
    allocator = made(latency=99)
    block = allocator.malloc(512)
    allocator.record_stream(block, 5)
    allocator.record_stream(block, 6)
    allocator.free(block)
    allocator.empty_cache()
    assert done(allocator)[-2:] == [("free_completed", 512), ("segment_free", 2)]
    with pytest.raises(ValueError, match="is not allocated"):
        allocator.free(block)


def test_what_a_stream_does_in_a_capture_is_over_with_it() -> None:
    allocator = made(latency=99)
    outside, inside = allocator.malloc(512), allocator.malloc(512)
    address = inside.address
    allocator.record_stream(outside, 5)
    allocator.begin_pool(GRAPH)
    for block in (outside, inside):
        allocator.record_stream(block, 6)
        allocator.free(block)
    allocator.malloc(512)
    assert "free_completed" not in dict(done(allocator))
    allocator.end_pool(GRAPH)
    allocator.malloc(512)
    completed = [e["addr"] for e in allocator.history.entries if e["action"] == "free_completed"]
    assert completed == [address]
    assert outside.pending == 1


def test_a_private_pool_has_its_own_segments_until_nobody_uses_it() -> None:
    allocator = made()
    allocator.free(allocator.malloc(512))
    allocator.begin_pool(GRAPH, frozenset([5]))
    inside, outside = allocator.malloc(512, stream=5), allocator.malloc(512)
    allocator.end_pool(GRAPH)
    allocator.begin_pool(GRAPH)
    allocator.end_pool(GRAPH)
    allocator.free(inside)
    pools = {segment["segment_pool_id"] for segment in segments(allocator)}
    assert pools == {(0, 0), GRAPH}
    assert allocator.malloc(512, stream=5).address != inside.address
    assert outside.pool.identity == (0, 0)
    allocator.release_pool(GRAPH)
    allocator.empty_cache()
    assert {segment["segment_pool_id"] for segment in segments(allocator)} == {(0, 0), GRAPH}
    allocator.release_pool(GRAPH)
    with pytest.raises(ValueError, match="was released"):
        allocator.begin_pool(GRAPH)
    allocator.empty_cache()
    assert {segment["segment_pool_id"] for segment in segments(allocator)} == {(0, 0)}
    assert [e["pool_id"] for e in allocator.history.entries][-1] == GRAPH
    allocator.begin_pool(GRAPH)


@pytest.mark.parametrize("method", ["end_pool", "release_pool"])
def test_a_pool_that_is_not_used_cannot_be_ended(method: str) -> None:
    with pytest.raises(ValueError):
        getattr(made(), method)(GRAPH)


def test_a_capture_that_runs_out_of_memory_gives_nothing_back() -> None:
    allocator = made(24 * MIB)
    cached(allocator, 20)
    allocator.begin_pool(GRAPH)
    with pytest.raises(ValueError, match="cannot be sent"):
        allocator.begin_pool(GRAPH)
    with pytest.raises(OutOfMemory):
        allocator.malloc(20 * MIB)
    allocator.empty_cache()
    assert "segment_free" not in dict(done(allocator))


def test_addresses_are_laid_out_as_in_a_recording() -> None:
    """The sizes and addresses are entries 303 to 462 of ``no_time_us.pickle``."""
    driver = SimulatedDriver(1 << 40, first=0x7F45_4600_0000)
    given = [driver.malloc(mib * MIB) for mib in (44, 44, 44, 20, 16, 20)]
    assert given == [
        0x7F45_4200_0000,
        0x7F45_3E00_0000,
        0x7F45_3A00_0000,
        0x7F45_3CC0_0000,
        0x7F45_40C0_0000,
        0x7F45_44C0_0000,
    ]


def test_no_memory_reaches_over_two_ranges_of_the_driver() -> None:
    driver = SimulatedDriver(1 << 40)
    addresses = [driver.malloc(32 * MIB) or 0 for _ in range(2)]
    for address in addresses:
        driver.free(address, 32 * MIB)
    assert (driver.malloc(64 * MIB) or 0) < min(addresses)
    assert driver.malloc(32 * MIB) == min(addresses)


def test_a_history_keeps_its_last_entries_and_a_snapshot_marks_the_next() -> None:
    allocator = CachingAllocator(SimulatedDriver(1 << 40), history=History(limit=3))
    block = allocator.malloc(700)
    first = snapshot([allocator])
    allocator.free(block)
    second = snapshot([allocator])
    assert [e["action"] for e in first["device_traces"][0]] == ["segment_alloc", "alloc"]
    kept = second["device_traces"][0]
    assert [e["action"] for e in kept] == ["snapshot", "free_requested", "free_completed"]
    assert kept[0]["size"] == 1024
    assert first["segments"][0]["requested_size"] == 700
    assert isinstance(block, Block)
