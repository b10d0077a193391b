"""Peaks of steps from an allocator's statistics, which the program must not see disturbed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.recorder import statistics
from tb_memory_plugin.recorder.statistics import StepPeaks, lifetime_peak
from tests.recorder.fakes import Counts, Statistics

#: Bytes that come or go, the program's own resets, and the ends of steps of two writers.
ACTS = st.lists(
    st.one_of(st.integers(-50, 50), st.sampled_from(["reset", "first", "second"])), max_size=60
)


@pytest.fixture(autouse=True)
def a_new_process() -> Iterator[None]:
    statistics._KNOWN.clear()
    yield
    statistics._KNOWN.clear()


@given(ACTS)
def test_steps_have_their_peaks_and_the_program_sees_its_own(acts: list[Any]) -> None:
    statistics._KNOWN.clear()
    allocator, alone = Statistics(), Counts()  # the second is of a program without a writer
    torch = allocator.torch()
    writers = {name: StepPeaks(torch, "cuda", resets=True) for name in ("first", "second")}
    for writer in writers.values():
        writer.begin(0)
    seen = {name: [0] for name in writers}
    highest = 0
    for act in acts:
        if act == "reset":
            torch._C._cuda_resetPeakMemoryStats(0)
            alone.peak = alone.current
        elif isinstance(act, str):
            figures = writers[act].end(0)
            assert figures.peak_allocated == max(seen[act])
            assert figures.allocated == alone.current
            seen[act] = [alone.current]
        else:
            size = max(act, -alone.current)
            allocator.allocated.move(size)
            alone.move(size)
            highest = max(highest, alone.current)
            for values in seen.values():
                values.append(alone.current)
        told = torch._C._cuda_memoryStats(0)["allocated_bytes"]["all"]
        assert told == {"current": alone.current, "peak": alone.peak}
    assert lifetime_peak(torch, "cuda", 0, "allocated_bytes") == (highest or None)


@given(ACTS)
def test_without_resets_a_peak_is_right_or_not_known(acts: list[Any]) -> None:
    statistics._KNOWN.clear()
    allocator = Statistics()
    torch = allocator.torch()
    writer = StepPeaks(torch, "cuda", resets=False)
    assert not writer.exact
    writer.begin(0)
    ask, seen = torch._C._cuda_memoryStats, [0]
    highest, risen = 0, False
    for act in acts:
        if act in ("first", "second"):
            figures = writer.end(0)
            assert figures.peak_allocated == (max(seen) if risen else None)
            seen, risen = [allocator.allocated.current], False
        elif act != "reset":
            allocator.allocated.move(max(act, -allocator.allocated.current))
            seen.append(allocator.allocated.current)
            risen = risen or allocator.allocated.current > highest
            highest = max(highest, allocator.allocated.current)
    assert torch._C._cuda_memoryStats == ask


def test_a_torch_without_these_functions_is_read_only() -> None:
    torch = Statistics().torch()
    del torch._C._cuda_resetPeakMemoryStats
    writer = StepPeaks(torch, "cuda", resets=True)
    assert not writer.exact
    assert writer.begin(0).peak_allocated is None


def test_torch_accelerator_sees_the_programs_own_peaks_too() -> None:
    from types import SimpleNamespace

    allocator = Statistics()
    torch = allocator.torch()
    torch._C._accelerator_getDeviceStats = allocator.read
    torch._C._accelerator_resetPeakStats = allocator.reset
    torch.accelerator = SimpleNamespace(current_accelerator=lambda: SimpleNamespace(type="cuda"))
    allocator.allocated.move(70)
    allocator.allocated.move(-60)
    writer = StepPeaks(torch, "cuda", resets=True)
    writer.begin(0)
    assert writer.end(0).peak_allocated == 10
    assert torch._C._accelerator_getDeviceStats(0)["allocated_bytes"]["all"]["peak"] == 70
    torch._C._accelerator_resetPeakStats(0)
    assert torch._C._cuda_memoryStats(0)["allocated_bytes"]["all"]["peak"] == 10
