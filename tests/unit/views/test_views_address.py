"""The picture by address: what is mapped in a column, and what is free there, by brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.positions import ranges
from tb_memory_plugin.analysis.segment_state import segment_state
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import holes
from tb_memory_plugin.views.tile import extents, mapped
from tb_memory_plugin.views.tile import fixed as fixing
from tb_memory_plugin.views.tile import merged as merging
from tb_memory_plugin.views.tile.window import tile
from tests.fixtures.histories import history
from tests.properties import examples
from tests.unit.analysis.simulated import simulated
from tests.unit.analysis.worlds import PAGE, World, ruins, worlds
from tests.unit.views.tiles import beside, decoded


def asked(recording: Recording, **question: Any) -> bytes:
    plain = {"axis": "event", "level": 0, "index": 0, "by": "stack", "height": 1 << 20}
    question = {**plain, "layout": "address", **question}
    return tile(recording, recording.devices[0], **question)


def addresses(recording: Recording, place: int, size: int) -> int:
    """The address at a place of the picture, whose next ``size`` bytes are in one range."""
    of = ranges(recording, recording.devices[0])
    for begin, long, offset in zip(
        of.begin.tolist(), of.size.tolist(), of.offset.tolist(), strict=True
    ):
        if offset <= place < offset + long:
            assert place + size <= offset + long, "across the border of a range"
            return int(begin + place - offset)
    raise AssertionError(f"{place} is not in the picture")


def addresses_within(recording: Recording, low: int, high: int) -> set[int]:
    """The addresses of all places of a part of the picture."""
    of = ranges(recording, recording.devices[0])
    found: set[int] = set()
    for begin, long, offset in zip(
        of.begin.tolist(), of.size.tolist(), of.offset.tolist(), strict=True
    ):
        first, last = max(low, offset), min(high, offset + long)
        found |= set(range(begin + first - offset, begin + last - offset))
    assert len(found) == high - low, "some of it is in no range"
    return found


def columns_of(recording: Recording, answer: bytes) -> list[tuple[int, list[tuple[int, int]]]]:
    """Of every column the event, and the mapped ranges as addresses."""
    _, (columns, *_) = decoded(answer)
    lives = beside(answer)[0].to_pylist()
    return [
        (
            event,
            [
                (addresses(recording, life["offset"], life["size"]), life["size"])
                for life in lives
                if life["first"] <= number <= life["last"]
            ],
        )
        for number, event in enumerate(columns.column("event").to_pylist())
    ]


@examples(60)
@given(worlds(), st.integers(0, 4))
def test_a_column_has_the_pages_of_its_moment(world: World, level: int) -> None:
    recording = derive(world.recording)
    for event, found in columns_of(recording, asked(recording, level=level)):
        pages = [
            page
            for address, size in found
            for page in range(address // PAGE, (address + size) // PAGE)
        ]
        assert sorted(pages) == sorted(world.mapped[event + 1])


@examples(60)
@given(worlds(), st.integers(0, 3), st.data())
def test_a_part_of_the_picture_has_what_is_in_it(
    world: World, level: int, data: st.DataObject
) -> None:
    recording = derive(world.recording)
    extent = decoded(asked(recording))[0]["extent"]
    low = data.draw(st.integers(0, extent - 1))
    high = data.draw(st.integers(low + 1, extent))
    whole = columns_of(recording, asked(recording, level=level))
    part = columns_of(recording, asked(recording, level=level, low=low, high=high))
    line = {
        event: {place for address, size in found for place in range(address, address + size)}
        for event, found in whole
    }
    inside = addresses_within(recording, low, high)
    for event, found in part:
        covered = {at for address, size in found for at in range(address, address + size)}
        assert covered & inside == line[event] & inside


@pytest.mark.parametrize("expandable", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_hole_is_what_the_allocator_has_free(seed: int, expandable: bool) -> None:
    made = simulated(seed, expandable=expandable, calls=60, start=0.3)
    recording = made.recording
    device = recording.devices[0]
    told = 0
    for state in made.states[::7]:
        for address, (size, _, blocks) in state.segments.items():
            start = int(extents.place_of(recording, device, np.array([address], np.uint64))[0])
            free, used = runs(blocks)
            for offset, long in free:
                for place in (offset, offset + long // 2, offset + long - 1):
                    found = holes.under(
                        recording, device, at=f"event:{state.event}", place=start + place
                    )
                    hole = found["hole"]
                    if hole is None or hole["size"] != long:
                        # What a large segment did not split off a block that is gone is not told.
                        assert not expandable and size > 2 << 20
                        continue
                    told += 1
                    assert hole["address"] == hex(address + offset)
                    assert hole["place"] == start + offset
                    assert hole["segment"]["address"] == hex(address)
                    assert hole["segment"]["size"] == size
                    if expandable or size <= 2 << 20:
                        assert hole["segment"]["free"] == sum(each for _, each in free)
            for offset, _, asked_for in used:
                found = holes.under(
                    recording, device, at=f"event:{state.event}", place=start + offset
                )
                assert found["hole"] is None
                assert found["block"]["address"] == hex(address + offset)
                assert found["block"]["requested"] == asked_for
    assert told > 20


def runs(
    blocks: list[tuple[int, int, int, str]],
) -> tuple[list[tuple[int, int]], list[tuple[int, int, int]]]:
    """The free ranges of a segment, neighbours as one, and its live blocks."""
    free: list[tuple[int, int]] = []
    used = []
    for offset, size, requested, state in blocks:
        if state != "inactive":
            used.append((offset, size, requested))
        elif free and sum(free[-1]) == offset:
            free[-1] = (free[-1][0], free[-1][1] + size)
        else:
            free.append((offset, size))
    return free, used


@examples(60)
@given(st.one_of(ruins(), worlds().map(lambda world: world.recording)), st.data())
def test_a_hole_is_that_of_the_state_whatever_the_history_says(
    recording: Recording, data: st.DataObject
) -> None:
    found = derive(recording)
    (device,) = found.devices
    events = len(found.values("events", "action", device))
    event = data.draw(st.integers(-1, max(events - 1, -1)))
    extent = ranges(found, device).extent
    place = data.draw(st.integers(0, max(min(extent, 1 << 40), 0)))
    pixel = data.draw(st.integers(1, 3000))
    state = segment_state(found, device, event)
    starts = extents.place_of(found, device, state.segments.address).tolist()
    free = {}
    for row in range(len(state.holes.size)):
        begin = starts[state.holes.segment[row]] + int(state.holes.offset[row])
        size = int(state.holes.size[row])
        shared = min(begin + size, place + pixel) - max(begin, place)
        if shared > 0:
            free[begin, size] = shared
    answer = holes.under(found, device, at=f"event:{event}", place=place, pixel=pixel)
    assert answer["holes"] == len(free)
    if free:
        told = answer["hole"]["place"], answer["hole"]["size"]
        assert free[told] == max(free.values())
    else:
        assert answer["hole"] is None


def test_a_hole_ends_where_its_segment_does() -> None:
    recording = derive(
        history(
            [
                ("segment", 0x1000, 0x1000),
                ("segment", 0x2000, 0x1000),
                ("alloc", 0x1000, 0x200),
                ("alloc", 0x2800, 0x200),
                ("unsegment", 0x1000, 0x1000),
            ],
            blocks=[{"address": 0x2800, "size": 0x200, "requested": 0x200}],
            segments=[{"address": 0x2000, "size": 0x1000}],
        )
    )
    (device,) = recording.devices
    hole = holes.under(recording, device, at="event:3", place=0xF00)["hole"]
    assert (hole["address"], hole["size"]) == ("0x1200", 0xE00)
    hole = holes.under(recording, device, at="event:3", place=0x1000)["hole"]
    assert (hole["address"], hole["size"]) == ("0x2000", 0x800)
    gone = holes.under(recording, device, at="event:4", place=0xF00)
    assert (gone["hole"], gone["block"]) == (None, None)
    both = holes.under(recording, device, at="event:3", place=0xF00, pixel=0x300)
    assert (both["holes"], both["hole"]["address"]) == (2, "0x2000")


def test_a_row_by_address_tells_its_block() -> None:
    blocks = [{"address": 0x1000, "size": 0x400, "requested": 700}]
    segments = [{"address": 0x1000, "size": 0x1000}]
    recording = derive(history([("snapshot", 0, 0)] * 2, blocks=blocks, segments=segments))
    answer = asked(recording)
    assert decoded(answer)[1][1].column("bytes").to_pylist() == [700]
    assert beside(answer)[1].column("size").to_pylist() == [0x400]
    assert beside(asked(recording, layout="lane")) == []
    assert beside(asked(recording, of="segments")) == []


def test_of_too_many_ranges_the_largest_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "MOST_MAPPED", 2)
    monkeypatch.setattr(extents, "MOST_RANGES", 3)
    sizes = (512, 2048, 1024, 4096)
    events: list[Any] = [("map", place << 20, size) for place, size in enumerate(sizes)]
    events += [("snapshot", 0, 0)] * 3
    recording = derive(history(events, blocks=[], segments=[]))
    answer = asked(recording)
    about, _ = decoded(answer)
    assert [each["address"] for each in about["segments"]] == ["0x100000", "0x200000", "0x300000"]
    assert sorted(beside(answer)[0].column("size").to_pylist()) == [2048, 4096]
    hidden = about["hidden"]
    assert (hidden["rows"], hidden["ranges"], hidden["range_bytes"]) == (0, 2, 512 + 1024)


def test_where_no_segment_is_known_nothing_is_mapped() -> None:
    recording = derive(history([("alloc", 0x1000, 700), ("snapshot", 0, 0)]))
    answer = asked(recording)
    assert decoded(answer)[0]["mapped_known"] is False
    assert len(beside(answer)[0]) == 0


def test_an_answer_by_address_is_never_more_than_a_megabyte() -> None:
    """As many rows and ranges as there may be, and room for as many cells."""
    random = np.random.default_rng(1)
    page, count = 1 << 21, 6_000
    events: list[Any] = []
    for number in random.permutation(count).tolist():
        # Holes between, so that each is a range of its own.
        events.append(("map", number * 2 * page, page))
        events += [("alloc", number * 2 * page + at * 4096, 4000) for at in range(8)]
    for number in random.permutation(count).tolist():
        events.append(("free", number * 2 * page, 4000))
    recording = derive(history(events, blocks=[], segments=[]))
    answer = asked(recording, level=7, height=1 << 30)
    about, (_, rows, _, cells) = decoded(answer)
    assert len(rows) == fixing.MOST_ROWS
    assert len(about["segments"]) == extents.MOST_RANGES
    assert len(beside(answer)[0]) == mapped.MOST_MAPPED
    a_cell = sum(field.type.bit_width // 8 for field in cells.schema)
    more = merging.MOST_CELLS - len(cells)
    assert len(answer) + more * a_cell <= 1_000_000


def summed(events: list[Any], rest: int, **meta: Any) -> Recording:
    """A history before which a sum of bytes was alive, of nobody knows how many blocks."""
    blocks = [{"address": None, "size": rest, "requested": rest}] if rest else []
    return derive(history(events, blocks=blocks, **meta))


def test_a_sum_without_an_address_is_left_out_and_told() -> None:
    events = [
        ("alloc", 0x10000, 400),
        ("alloc", 0x10200, 300),
        ("free", 0x10000, 400),
        ("free", 0x10200, 300),
    ]
    recording = summed(events, 1 << 40)
    about, (columns, rows, _, merged) = decoded(asked(recording))
    assert about["unplaced"] == {"count": 1, "bytes": 1 << 40}
    # The picture is as tall as what has an address.
    assert about["extent"] == 0x200 + 300
    assert [each["address"] for each in about["segments"]] == ["0x10000"]
    # What is alive is told with it; what is drawn are the others.
    alive = (400, 700, 300, 0)
    assert columns.column("total").to_pylist() == [(1 << 40) + own for own in alive]
    drawn = rows.to_pylist()
    assert merged.num_rows == 0
    for number, own in enumerate(alive):
        seen = [row["bytes"] for row in drawn if row["first"] <= number <= row["last"]]
        assert sum(seen) == own
    lives = recording.table("allocations").to_pylist()
    assert {lives[row["allocation"]]["address"] for row in drawn} == {0x10000, 0x10200}
    # Filters that leave it out leave nothing to tell.
    about, _ = decoded(asked(recording, minimum=1, filter="size<1KiB"))
    assert about["unplaced"] == {"count": 0, "bytes": 0}
    bare, _ = decoded(asked(summed(events, 0)))
    assert bare["unplaced"] == {"count": 0, "bytes": 0}
    assert (bare["extent"], bare["segments"]) == (0x200 + 300, about["segments"])


def test_by_address_is_refused_where_nothing_has_one_or_addresses_are_made_up() -> None:
    events = [("alloc", 0x100, 5)]
    nothing = summed([("oom", 0, 5)], 7)
    made_up = summed(events, 0, missing=[{"what": "addresses", "why": "so", "remedy": None}])
    for recording in (nothing, made_up):
        assert not extents.placed(recording, recording.devices[0])
        with pytest.raises(QueryError, match="holds no addresses"):
            asked(recording)
    both = summed(events, 7)
    assert extents.placed(both, both.devices[0])
