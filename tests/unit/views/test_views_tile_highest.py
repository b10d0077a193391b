"""The moment that a bin of a picture shows: what is drawn is nowhere higher in it, at any zoom."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.store.load import load_path
from tb_memory_plugin.views.tile.window import BINS, LAYOUTS, tile
from tests.fixtures.histories import history
from tests.properties import examples
from tests.unit.analysis.simulated import simulated
from tests.unit.analysis.worlds import ruins, worlds
from tests.unit.views.tiles import decoded

#: What a picture may leave out.
NARROWED: list[dict[str, Any]] = [
    {"filter": "size>=700"},
    {"filter": "size<700"},
    {"minimum": 2500},
    {"only": "freed"},
    {"only": "never"},
    {"only": "freed", "minimum": 300, "filter": "size<3000"},
    {"filter": "size>=0"},
    {"filter": "size<0"},
]


@dataclass(frozen=True)
class Life:
    birth: int
    death: float
    bytes: int


def lives_of(recording: Recording, device: Device, of: str) -> list[Life]:
    table, size = ("allocations", "requested") if of == "allocations" else ("segment_lives", "size")
    return [
        Life(
            -1 if row["birth"] is None else row["birth"],
            math.inf if row["death"] is None else row["death"],
            row[size],
        )
        for row in recording.table(table)[recording.rows(table, device)].to_pylist()
    ]


def passes(life: Life, question: dict[str, Any]) -> bool:
    words = question.get("filter", "")
    least = int(words.rpartition(">=")[2]) if ">=" in words else 0
    most = int(words.rpartition("<")[2]) if "<" in words else math.inf
    only = {"freed": life.death < math.inf, "never": life.death == math.inf}
    fits = max(least, question.get("minimum", 0)) <= life.bytes < most
    return fits and only.get(question.get("only", ""), True)


def after_every_event(lives: list[Life], events: int) -> list[int]:
    """Their bytes before the first event, then after each."""
    moved = [0] * (events + 1)
    for life in lives:
        moved[life.birth + 1] += life.bytes
        if life.death < math.inf:
            moved[int(life.death) + 1] -= life.bytes
    return list(itertools.accumulate(moved))


def places(recording: Recording, device: Device, axis: str) -> list[int]:
    """Where every event of a device stands on an axis."""
    times = recording.table("events")[recording.rows("events", device)].column("time").to_pylist()
    if axis == "event":
        return list(range(len(times)))
    return list(itertools.accumulate(times, max))


def seen_in(place: list[int], begin: int, end: int) -> range:
    """The events of which the state is seen in a bin; -1 is before the first."""
    first = next((event for event, at in enumerate(place) if at >= begin), len(place))
    stop = next((event for event, at in enumerate(place) if at >= end), len(place))
    carried = first == len(place) or place[first] > begin or begin <= place[0]
    return range(first - 1 if carried else first, stop)


def tiles(recording: Recording, device: Device, level: int, **question: Any) -> Iterator[pa.Table]:
    """The columns of all tiles of a level."""
    place = places(recording, device, question["axis"])
    for index in range((place[0] >> level) // BINS, (place[-1] >> level) // BINS + 1):
        asked = {"level": level, "index": index, "by": "size", "height": 100, **question}
        yield decoded(tile(recording, device, **asked))[1][0]


def check(recording: Recording, device: Device, level: int, question: dict[str, Any]) -> None:
    """That every bin of a level shows the most there is in it, at a moment when it is so."""
    lives = lives_of(recording, device, question.get("of", "allocations"))
    place = places(recording, device, question["axis"])
    held = after_every_event([life for life in lives if passes(life, question)], len(place))
    for columns in tiles(recording, device, level, **question):
        for row in columns.to_pylist():
            inside = seen_in(place, row["begin"], row["begin"] + (1 << level))
            assert row["total"] == max(held[event + 1] for event in inside)
            assert row["total"] == held[row["event"] + 1]
            assert row["event"] < inside.stop


@pytest.mark.parametrize("of", ["allocations", "segments"])
@examples(30)
@given(
    recording=st.one_of(
        worlds().map(lambda world: world.recording),
        st.integers(0, 50).map(lambda seed: simulated(seed, expandable=True, calls=30).recording),
    ),
    narrowed=st.sampled_from(NARROWED),
    axis=st.sampled_from(["event", "time"]),
    layout=st.sampled_from(LAYOUTS),
)
def test_a_bin_shows_the_most_of_what_is_drawn(
    of: str, recording: Recording, narrowed: dict[str, Any], axis: str, layout: str
) -> None:
    found = derive(recording)
    if not len(found.table("events")):
        return
    question = {"of": of, "axis": axis, "layout": layout, **narrowed}
    if of == "segments":
        question.pop("filter", None)
    extent = places(found, found.devices[0], axis)
    for level in range((extent[-1] - extent[0] + 1).bit_length() + 1):
        if (extent[-1] - extent[0] >> level) < 8 * BINS:
            check(found, found.devices[0], level, question)


@examples(30)
@given(ruins(), st.sampled_from(NARROWED))
def test_so_it_does_where_the_history_contradicts_itself(
    recording: Recording, narrowed: dict[str, Any]
) -> None:
    found = derive(recording)
    for level in range(6) if len(found.table("events")) else ():
        check(found, found.devices[0], level, {"axis": "event", **narrowed})


@examples(25)
@given(recording=worlds().map(lambda world: derive(world.recording)), level=st.integers(0, 4))
def test_a_filter_that_all_pass_changes_no_moment(recording: Recording, level: int) -> None:
    if not len(recording.table("events")):
        return
    device = recording.devices[0]
    plain = list(tiles(recording, device, level, axis="event"))
    assert list(tiles(recording, device, level, axis="event", filter="size>=0")) == plain
    # What moves nothing that passes leaves the moment of the curve, too.
    nothing = tiles(recording, device, level, axis="event", filter="size<0")
    assert [each.column("event") for each in nothing] == [each.column("event") for each in plain]


@pytest.mark.parametrize("name", ["small_train", "oom_expandable_3gpu", "no_time_us"])
def test_real_snapshots_lose_no_peak_of_what_passes_at_any_zoom(
    name: str, shared_data: Path
) -> None:
    recording = load_path(shared_data / "snapshots" / f"{name}.pickle", cache=False)
    moved = 0
    for device in recording.devices:
        lives = lives_of(recording, device, "allocations")
        events = len(places(recording, device, "event"))
        if not events:
            continue
        sizes = sorted(life.bytes for life in lives)
        for least in {sizes[len(sizes) * part // 4] for part in (1, 2, 3)}:
            question = {"axis": "event", "filter": f"size>={least}"}
            held = after_every_event([life for life in lives if passes(life, question)], events)
            for level in range(events.bit_length() + 1):
                width = 1 << level
                plain = tiles(recording, device, level, axis="event")
                old = [held[event + 1] for each in plain for event in each["event"].to_pylist()]
                shown = tiles(recording, device, level, **question)
                totals = [total for each in shown for total in each["total"].to_pylist()]
                assert totals == [
                    max(held[begin + (begin > 0) : min(begin + width, events) + 1])
                    for begin in range(0, events, width)
                ]
                assert max(totals) == max(held)
                moved += old != totals
    assert moved, "all moments are those of the whole curve: that tests nothing"


def test_the_peak_of_what_passes_may_be_at_another_moment_than_that_of_all() -> None:
    recording = derive(
        history(
            [
                ("alloc", 0, 1000),
                ("alloc", 1024, 1100),
                ("free", 1024, 1100),
                ("alloc", 2048, 800),
                ("alloc", 3072, 700),
            ]
        )
    )
    device = recording.devices[0]
    for narrowed, event, total, count in (
        ({}, 4, 2500, 3),
        ({"filter": "size>=1000"}, 1, 2100, 2),
        ({"only": "never"}, 4, 2500, 3),
        ({"only": "freed"}, 1, 1100, 1),
    ):
        (columns,) = tiles(recording, device, 3, axis="event", **narrowed)
        (row,) = columns.to_pylist()
        assert (row["event"], row["total"], row["count"]) == (event, total, count)
