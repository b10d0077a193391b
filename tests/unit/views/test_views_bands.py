"""The bytes of bands at rows of usage, and the most in stretches of them, against plain sums."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.alive import bytes_column
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import band_peaks, bands, grid
from tests.fixtures.histories import history
from tests.unit.analysis.worlds import World, worlds


def every_row(recording: Recording, own: list[int], count: int) -> list[list[int]]:
    """The bytes of each band after every row of usage, from the lives."""
    device = recording.devices[0]
    lives = recording.table("allocations").to_pylist()
    basis = bytes_column(recording)
    events = recording.values("usage", "event", device).tolist()
    found = []
    for row, event in enumerate(events):
        sums = [0] * count
        if row + 1 == len(events) or events[row + 1] != event:
            for life, band in zip(lives, own, strict=True):
                born = life["birth"] is None or life["birth"] <= event
                if born and (life["death"] is None or life["death"] > event):
                    sums[band] += life[basis]
        found.append(sums)
    return found


def whole_events(recording: Recording) -> list[int]:
    """The rows after which an event is over."""
    event = recording.values("usage", "event", recording.devices[0])
    return np.flatnonzero(np.append(event[1:] != event[:-1], True)).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("stride", [2, 3, 8, 64])
@given(world=worlds(), count=st.integers(1, 5), data=st.data())
def test_bands_are_sums_of_lives(
    stride: int, world: World, count: int, data: st.DataObject
) -> None:
    recording = derive(world.recording)
    check(recording, stride, count, data)


def check(recording: Recording, stride: int, count: int, data: st.DataObject) -> None:
    device = recording.devices[0]
    lives = len(recording.table("allocations"))
    own = data.draw(st.lists(st.integers(0, count - 1), min_size=lives, max_size=lives))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("STRIDE", stride), ("_BINS", 3), ("_CHUNK", 2 * stride)):
            patch.setattr(bands, name, value)
        for name, value in (("STRIDE", stride), ("_STRETCHES", 4)):
            patch.setattr(band_peaks, name, value)
        of = bands.of_bands(recording, device, np.array(own, dtype=np.uint8), count)
        tops = band_peaks.tops(recording, device, of)
        rows = np.array(whole_events(recording))
        truth = every_row(recording, own, count)
        states = bands.at_rows(recording, device, of, rows)
        assert states.tolist() == [truth[row] for row in rows]
        everything = bands.at_rows(recording, device, of, np.arange(len(truth)))
        edges = sorted(data.draw(st.sets(st.integers(0, len(truth)), min_size=2)))
        start, stop = np.array(edges[:-1]), np.array(edges[1:])
        found = grid.Bins(1, start, start, stop)
        most = band_peaks.highest(recording, device, of, tops, found)
        assert most.tolist() == [
            everything[low:high].max(axis=0).tolist() for low, high in itertools.pairwise(edges)
        ]


def test_a_long_history_has_no_seams() -> None:
    events = [
        event
        for number in range(4000)
        for event in (
            ("alloc", number, number % 97 + 1),
            *([("free", number - 50, (number - 50) % 97 + 1)] if number >= 50 else []),
        )
    ]
    recording = derive(history(events))
    device = recording.devices[0]
    own = np.arange(len(recording.table("allocations"))) % 7
    of = bands.of_bands(recording, device, own.astype(np.uint8), 7)
    states = bands.at_rows(recording, device, of, np.arange(7951))
    assert states.sum(axis=1).tolist() == recording.values("usage", "allocated", device).tolist()
    tops = band_peaks.tops(recording, device, of)
    for width in (1, 7, 255, 256, 257, 1000, 7951):
        start = np.arange(0, 7951, width)
        bins = grid.Bins(width, start, start, np.minimum(start + width, 7951))
        most = band_peaks.highest(recording, device, of, tops, bins)
        assert most.tolist() == np.maximum.reduceat(states, start).tolist()
