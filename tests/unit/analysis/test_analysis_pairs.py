"""Clocks of two recordings found by what both have, on histories and clocks made up."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.pairs.clock import MOST_RATE, Clock, fitted
from tb_memory_plugin.analysis.pairs.match import Match, match, matched_at
from tb_memory_plugin.analysis.pairs.moves import Moves
from tb_memory_plugin.analysis.pairs.partners import partners
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import Action
from tb_memory_plugin.store.load import load_path
from tests.fixtures.worlds import World, recording
from tests.properties import examples

SECOND = 10**9


def found(ours: Recording, theirs: Recording) -> Match:
    one = match(ours, theirs)
    assert one is not None
    return one


@given(
    st.integers(-(10**18), 10**18),
    st.sampled_from([0, 0, 3, -40, 250, -900]),
    st.integers(1, 60),
    st.integers(0, 2**32 - 1),
)
@examples(60)
def test_clocks_are_found_exactly(offset: int, ppm: int, slots: int, seed: int) -> None:
    world = World(slots=slots + 3, seed=seed)
    # Their clock, in whole ns: ours shows ``offset`` and ``ppm`` millionths of their time more.
    theirs = np.array([round(t * 10**6 / (10**6 + ppm)) for t in world.time.tolist()])
    one = found(world.snapshot(), world.trace(theirs - offset))
    assert len(one) == world.count and one.share == (1.0, 1.0) and one.good
    assert (one.rows[0] == one.rows[1]).all()
    off = np.abs(one.clock.at(theirs - offset) - world.time)
    assert off.max() <= (2 if ppm else 0)
    assert one.spread[0] <= one.spread[1] <= off.max()
    assert abs(one.clock.ppm - ppm) < 0.1
    if not ppm:
        assert (one.clock.offset, one.clock.rate) == (offset, 0)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (slice(None), slice(700, 1_000)),  # a trace of a part of the snapshot's time
        (slice(1_500, None), slice(None)),  # a ring that holds the end only
        (slice(1_200, None), slice(0, 1_500)),  # neither holds the other
        (slice(None, None, 2), slice(None)),  # every other one was not seen
    ],
)
def test_parts_of_a_history_are_found_in_each_other(ours: slice, theirs: slice) -> None:
    world = World()
    one = found(world.snapshot(ours), world.trace(world.time - 5 * SECOND, theirs))
    rows = [np.arange(world.count)[part] for part in (ours, theirs)]
    both = np.intersect1d(*rows)
    assert len(one) == len(both)
    assert (rows[0][one.rows[0]] == both).all() or set(rows[0][one.rows[0]]) == set(both)
    assert (rows[0][one.rows[0]] == rows[1][one.rows[1]]).all()
    assert one.clock.offset == 5 * SECOND


def test_whole_microseconds_and_late_stamps_leave_a_residual_that_is_told() -> None:
    world = World()
    late = np.random.default_rng(3).integers(0, 4_000, world.count)
    one = found(
        world.snapshot(time=world.time // 1_000 * 1_000),
        world.trace(world.time + late - SECOND),
    )
    assert len(one) == world.count
    assert 500 < one.spread[0] < 2_000 < one.spread[1] < 4_000


def test_many_at_one_stamp_are_paired_in_order() -> None:
    world = World(slots=5)
    coarse = world.time // 200_000 * 200_000
    one = found(world.snapshot(time=coarse), world.trace(coarse - SECOND))
    assert (one.rows[0] == one.rows[1]).all() and len(one) > 0.95 * world.count


def test_a_block_that_was_not_split_is_the_same() -> None:
    world = World()
    events = world.trace(world.time).table("events")
    size = np.array(events["size"].to_pylist()) + np.where(world.bytes % 3, 0, 1 << 19)
    theirs = events.set_column(events.schema.get_field_index("size"), events.field("size"), [size])
    ours = world.snapshot()
    assert (
        len(found(ours, builder.recording(world.trace(world.time).meta, {"events": theirs})))
        == world.count
    )
    smaller = theirs.set_column(
        theirs.schema.get_field_index("size"), theirs.field("size"), [size // 8]
    )
    assert match(ours, builder.recording(world.trace(world.time).meta, {"events": smaller})) is None


def test_histories_of_two_processes_are_not_matched() -> None:
    first, second = World(seed=1), World(seed=2)
    assert match(first.snapshot(), second.trace(second.time)) is None


def test_a_history_that_repeats_itself_evenly_is_not_certain() -> None:
    step = World(count=400, slots=12)
    length = int(step.time[-1]) + 60_000
    whole = World(count=4_000, slots=12)
    for name in ("action", "address", "bytes"):
        object.__setattr__(whole, name, np.tile(getattr(step, name), 10))
    turns = np.repeat(np.arange(10), 400) * length
    object.__setattr__(whole, "time", np.tile(step.time, 10) + turns)
    part = found(whole.snapshot(), whole.trace(whole.time, slice(1_200, 2_000)))
    assert part.share == (1.0, 1.0) and not part.certain
    assert part.clock.offset % length == 0 and part.clock.rate == 0
    # Of clocks that both show the time since 1970 that is taken by which these agree.
    since = [World.snapshot(whole), whole.trace(whole.time, slice(1_200, 2_000))]
    told = [builder.recording({**one.meta, "clock": "unix"}, one.tables) for one in since]
    assert found(*told).clock.offset == 0


class TestHostile:
    """What no allocator does is nobody's match, and no error."""

    @pytest.mark.parametrize("count", [0, 1, 5])
    def test_few_events(self, count: int) -> None:
        world = World()
        ours, theirs = world.snapshot(slice(0, count)), world.trace(world.time, slice(0, count))
        assert match(ours, theirs) is None
        assert (
            match(world.snapshot(), theirs) is None and match(ours, world.trace(world.time)) is None
        )

    def test_one_address_only(self) -> None:
        world = World(slots=1)
        assert match(world.snapshot(), world.trace(world.time)) is None

    def test_one_time_only(self) -> None:
        world = World()
        still = np.zeros(world.count, dtype=np.int64)
        one = match(world.snapshot(time=still), world.trace(still))
        assert one is None or one.clock.offset == 0

    def test_times_that_go_back(self) -> None:
        world = World()
        back = world.time[::-1].copy()
        one = found(world.snapshot(time=back), world.trace(back - SECOND))
        assert one.clock.offset == SECOND and (one.rows[0] == one.rows[1]).all()

    def test_times_at_the_ends_of_all_integers(self) -> None:
        world = World()
        wild = world.time.copy()
        wild[::100] = (1 << 62) - 1
        wild[50::100] = -(1 << 62)
        one = found(world.snapshot(), world.trace(wild))
        assert one.clock.offset == 0 and len(one) >= 0.98 * world.count

    def test_no_times_no_addresses_and_other_devices(self) -> None:
        world = World()
        table = world.snapshot().table("events")
        columns = {name: table[name] for name in table.schema.names}
        for name in ("time", "address"):
            nothing = recording({key: value for key, value in columns.items() if key != name})
            assert match(nothing, world.trace(world.time)) is None
        other = recording(columns, "requested", "cuda:1")
        assert match(other, world.trace(world.time)) is None

    def test_births_alone(self) -> None:
        world = World()
        born = np.flatnonzero(world.action == Action.ALLOC)
        one = found(world.snapshot(born), world.trace(world.time - SECOND))
        assert len(one) == len(born) and one.share == (1.0, 1.0)


def test_what_somebody_says_is_taken_as_it_is() -> None:
    world = World()
    one = matched_at(world.snapshot(), world.trace(world.time), Clock(50_000))
    assert one.clock == Clock(50_000) and one.spread[0] == 50_000
    nothing = matched_at(world.snapshot(), world.trace(world.time), Clock(10**15))
    assert len(nothing) == 0 and not nothing.good


@given(
    st.integers(-(2**60), 2**60),
    st.integers(-MOST_RATE, MOST_RATE),
    st.integers(-(2**50), 2**50),
    st.lists(st.integers(-(2**50), 2**50), min_size=1, max_size=20),
)
def test_a_clock_is_exact_integers(offset: int, rate: int, pivot: int, times: list[int]) -> None:
    clock = Clock(offset, rate, pivot)
    since = [min(max(time - pivot, -(1 << 50)), 1 << 50) for time in times]
    expected = [t + offset + (s * rate >> 40) for t, s in zip(times, since, strict=True)]
    assert clock.at(np.array(times)).tolist() == expected
    assert abs(clock.back(expected[0]) - times[0]) <= abs(rate * (times[0] - pivot) >> 48) + 2


@given(st.integers(-(10**15), 10**15), st.integers(-900, 900), st.integers(300, 3_000))
@examples(40)
def test_a_few_that_are_wrong_do_not_move_a_clock(offset: int, ppm: int, count: int) -> None:
    random = np.random.default_rng(count)
    times = np.sort(random.integers(0, 100 * SECOND, count))
    others = times + offset + np.round(times * (ppm / 1e6)).astype(np.int64)
    wrong = random.choice(count, count // 10, replace=False)
    others[wrong] += random.integers(-SECOND, SECOND, len(wrong))
    clock = fitted(times, others)
    right = np.setdiff1d(np.arange(count), wrong)
    assert np.abs(clock.at(times[right]) - others[right]).max() <= 10


@given(st.data())
@examples(100)
def test_partners_are_each_others_nearest_and_never_cross(data: st.DataObject) -> None:
    sides = []
    for _ in range(2):
        pairs = data.draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 60)), max_size=30))
        code, time = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
        sides.append(Moves(code, time, np.zeros_like(code), np.arange(len(code))))
    ours, theirs = sides
    most = data.draw(st.integers(0, 20))
    mine, its = partners(ours, theirs, most)
    assert (ours.code[mine] == theirs.code[its]).all()
    assert (np.abs(ours.time[mine] - theirs.time[its]) <= most).all()
    assert (np.diff(mine) > 0).all() and (np.diff(its) > 0).all()
    if len(ours) and len(theirs) and not len(mine):
        near = np.abs(ours.time[:, None] - theirs.time[None, :]) <= most
        assert not (near & (ours.code[:, None] == theirs.code[None, :])).any()


def test_real_recordings_of_other_processes_are_not_matched(shared_data: Path) -> None:
    names = ("adam_small", "llm_2.7b_forward", "many_snapshots", "oom_expandable_3gpu")
    paths = [shared_data / "snapshots" / f"{name}.pickle" for name in names]
    names = ("h100_bert_small", "h100_qwen_chat", "mi300_vit", "v100_2gpu_216k_events")
    paths += [shared_data / "traces" / f"{name}.json.gz" for name in names]
    known = {path.name: load_path(path) for path in paths}
    for (name, ours), (other, theirs) in combinations(known.items(), 2):
        assert match(ours, theirs) is None, (name, other)
    for name, one in known.items():
        assert found(one, one).share == (1.0, 1.0), name
