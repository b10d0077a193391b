"""A snapshot and a trace of one process as one recording: each allocation once, in its span."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.analysis.pairs.clock import Clock
from tb_memory_plugin.analysis.pairs.match import Match, match, matched_at
from tb_memory_plugin.analysis.pairs.recording import paired
from tb_memory_plugin.readers import kineto_trace, native, torch_snapshot
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.recording import Recording, save
from tb_memory_plugin.recording.schema import RECORDED, Action
from tb_memory_plugin.views.summary import summary
from tests.fixtures.histories import history
from tests.fixtures.pairs import Shown, write_pair
from tests.properties import examples

#: What the trace knows of allocations and the snapshot does not.
_KNOWN = {"op", "module", "annotation", "category_inferred"}


class Pair(NamedTuple):
    """Snapshot, trace, what both have, and what they are as one."""

    ours: Recording
    theirs: Recording
    found: Match
    both: Recording


def read(paths: tuple[Path, Path]) -> tuple[Recording, Recording]:
    snapshot, trace = paths
    return derive(torch_snapshot.read(snapshot)), derive(kineto_trace.read(trace))


def rows(recording: Recording, table: str) -> list[dict[str, Any]]:
    return recording.table(table).to_pylist()


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Of clocks that drift apart."""
    folder = tmp_path_factory.mktemp("pair")
    ours, theirs = read(write_pair(folder, shown=Shown(ppm=60), devices=2, window=900))
    found = match(ours, theirs)
    assert found is not None
    return Pair(ours, theirs, found, derive(paired(ours, theirs, found)))


def test_memory_is_what_the_snapshot_says(
    pair: Pair,
) -> None:
    assert facts(pair.both)["devices"] == facts(pair.ours)["devices"]
    for name in RECORDED.keys() - {"events", "spans", "links", "labels", "marks"}:
        assert pair.both.table(name).equals(pair.ours.table(name))
    told = [*set(pair.ours.table("events").schema.names) - {"span"}]
    assert pair.both.table("events").select(told).equals(pair.ours.table("events").select(told))
    same = [*set(pair.ours.table("allocations").schema.names) - _KNOWN]
    assert (
        pair.both.table("allocations")
        .select(same)
        .equals(pair.ours.table("allocations").select(same))
    )


def test_every_move_is_in_its_operator(
    pair: Pair,
) -> None:
    moved = {Action.ALLOC, Action.FREE_COMPLETED}
    spans, stacks, frames = (
        rows(pair.both, "spans"),
        rows(pair.both, "stacks"),
        rows(pair.both, "frames"),
    )
    events = rows(pair.both, "events")
    assert len(pair.found) == sum(event["action"] in moved for event in events)
    for event in events:
        if event["action"] not in moved:
            assert event["span"] is None
            continue
        span = spans[event["span"]]
        assert span["kind"] == "op"
        assert span["begin"] <= event["time"] <= span["end"]
        assert span["name"] == frames[stacks[event["stack"]]["frames"][0]]["function"]
        assert spans[span["parent"]]["name"] == "nn.Module: Net"
    for one in rows(pair.both, "allocations"):
        if one["birth"] is not None:
            made = frames[stacks[one["birth_stack"]]["frames"][0]]["function"]
            assert (one["op"], one["module"]) == (made, "Net")


def test_steps_of_both_are_there_once(
    pair: Pair,
) -> None:
    steps = [
        [s for s in rows(one, "spans") if s["kind"] == "step"]
        for one in (pair.ours, pair.theirs, pair.both)
    ]
    assert sorted(s["step"] for s in steps[2]) == sorted(s["step"] for s in steps[0])
    assert pair.both.meta["pair"]["doubles"] == len(steps[0])
    for own, its in zip(
        *(sorted(each, key=lambda s: (s["step"], s["begin"])) for each in (steps[0], steps[2])),
        strict=True,
    ):
        assert abs(own["begin"] - its["begin"]) < 2_000 and abs(own["end"] - its["end"]) < 2_000


def test_what_was_paired_is_told(pair: Pair) -> None:
    about = pair.both.meta["pair"]
    assert (about["snapshot"], about["trace"]) == ("snapshot.pickle", "profile.pt.trace.json")
    assert about["matched"] == len(pair.found) and about["left_out"] == []
    assert about["snapshot_share"] == about["trace_share"] == 1.0
    assert abs(about["offset_ns"] - 987_654_321_000) < 100_000
    assert about["drift_ppm"] == pytest.approx(60, abs=0.5)
    assert about["residual_ns"]["p95"] <= 1_000
    assert summary(pair.both, version="1", run="", name="x")["meta"]["pair"] == about


def test_a_shift_moves_the_program_and_nothing_else(
    pair: Pair,
) -> None:
    later = paired(pair.ours, pair.theirs, pair.found, 5_000)
    kinds = [span["kind"] == "op" for span in rows(pair.both, "spans")]
    begins = [one.values("spans", "begin") for one in (pair.both, later)]
    assert later.table("events").equals(pair.both.table("events"))
    assert later.meta["pair"]["shift_ns"] == 5_000
    apart = begins[1][[s["kind"] == "op" for s in rows(later, "spans")]] - begins[0][kinds]
    assert (apart == 5_000).all()


@pytest.mark.parametrize("shift", [5_000, -(10**7), 10**7])
def test_what_both_have_is_there_once_however_it_is_shifted(pair: Pair, shift: int) -> None:
    later = paired(pair.ours, pair.theirs, pair.found, shift)
    assert later.meta["pair"]["doubles"] == pair.both.meta["pair"]["doubles"] > 0
    for table in ("spans", "marks"):
        assert later.table(table).num_rows == pair.both.table(table).num_rows
    kinds = [one.table("spans").column("kind").to_pylist() for one in (pair.both, later)]
    assert kinds[0] == kinds[1]


def test_what_lies_before_the_snapshot_s_origin_moves_it(tmp_path: Path) -> None:
    ours, theirs = read(write_pair(tmp_path, window=300))
    whole = derive(torch_snapshot.read(write_pair(tmp_path)[0]))
    found = match(ours, theirs)
    assert found is not None
    both = paired(ours, theirs, found, -(10**9))
    begins = both.values("spans", "begin")
    assert begins.min() == 0
    moved = ours.meta["time_origin_ns"] - both.meta["time_origin_ns"]
    times = both.values("events", "time") - ours.values("events", "time")
    assert moved > 0 and (times == moved).all()
    assert whole.meta["time_origin_ns"] > both.meta["time_origin_ns"]


def test_names_of_what_was_there_before_are_taken_over() -> None:
    """The trace begins later than the snapshot, which saw the births of what the trace names."""
    moves = [("alloc", 0x1000 * (n % 7 + 1), 512 * (n % 7 + 1)) for n in range(7)]
    for n in range(200):
        slot = n % 5 + 1
        moves.append(("free" if n // 5 % 2 == 0 else "alloc", 0x1000 * slot, 512 * slot))
    random = np.random.default_rng(0)
    times = np.cumsum(random.integers(1_000, 90_000, len(moves))).tolist()
    ours = history(
        [(*move, {"time": time}) for move, time in zip(moves, times, strict=True)], clock="unix"
    )
    cut = 27
    theirs = history(
        [(*move, {"time": time - 40}) for move, time in zip(moves[cut:], times[cut:], strict=True)],
        labels=[
            {"event": -1, "address": 0x6000, "category": "parameter", "name": "w"},
            {"event": -1, "address": 0x7000, "category": "parameter", "name": "b"},
            {"event": 3, "address": moves[cut + 3][1], "op": "aten::mm"},
        ],
        blocks=[
            {"address": 0x6000, "requested": 3072},
            {"address": 0x7000, "requested": 512},  # of another size: another block
        ],
        segments=[{"address": 0, "size": 1 << 20}],
    )
    ours, theirs = derive(ours), derive(theirs)
    found = match(ours, theirs)
    assert found is not None and found.clock.offset == 40
    both = derive(paired(ours, theirs, found))
    named = {one["address"]: one for one in rows(both, "allocations") if one["name"]}
    assert {address: one["name"] for address, one in named.items()} == {0x6000: "w"}
    assert named[0x6000]["birth"] == 5 and named[0x6000]["category"] == 0
    born = [one["op"] for one in rows(both, "allocations") if one["birth"] == cut + 3]
    assert born == (["aten::mm"] if moves[cut + 3][0] == "alloc" else [])


def test_labels_of_the_snapshot_win() -> None:
    moves = [("alloc" if n // 6 % 2 == 0 else "free", 0x1000 * (n % 6 + 1), 512) for n in range(60)]
    times = np.cumsum(np.random.default_rng(1).integers(1_000, 90_000, 60)).tolist()

    def made(**label: Any) -> Recording:
        events = [(*move, {"time": time}) for move, time in zip(moves, times, strict=True)]
        return derive(history(events, labels=[{"event": 2, "address": 0x3000, **label}]))

    ours = made(category="gradient", op="mine")
    theirs = made(category="parameter", op="theirs", module="Net")
    found = match(ours, theirs)
    assert found is not None
    (label,) = rows(paired(ours, theirs, found), "labels")
    assert (label["category"], label["op"], label["module"]) == (2, "mine", "Net")


def test_a_pair_without_anything_in_common_stands_by_what_somebody_says(tmp_path: Path) -> None:
    ours, theirs = read(write_pair(tmp_path))
    nothing = matched_at(ours, theirs, Clock(3600 * 10**9))
    both = derive(paired(ours, theirs, nothing))
    assert both.meta["pair"]["matched"] == 0
    assert sum(one["events"] for one in both.meta["pair"]["left_out"]) > 0
    assert not (both.values("events", "span") >= 0).any()


def test_a_pair_is_a_recording_that_can_be_kept(pair: Pair, tmp_path: Path) -> None:
    both = pair.both
    save(both.only_recorded(), tmp_path / "pair.tbmem", compress=True)
    again = derive(native.read(tmp_path / "pair.tbmem"))
    for name in ("events", "spans", "allocations", "span_memory"):
        assert again.table(name).equals(both.table(name))


@given(st.data())
@examples(30)
def test_a_program_that_makes_no_sense_makes_no_trouble(data: st.DataObject) -> None:
    """Spans, links and marks as only a broken file has them, of either recording."""
    moves = [("alloc" if n // 6 % 2 == 0 else "free", 0x1000 * (n % 6 + 1), 512) for n in range(60)]
    times = np.cumsum(np.random.default_rng(1).integers(1_000, 90_000, 60)).tolist()
    whole = st.one_of(st.none(), st.integers(-(2**62), 2**62), st.integers(-9, 5_000_000))
    span = st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["step", "annotation", "op", "kernel"]),
            "name": st.sampled_from(["a", "b"]),
            "begin": whole,
            "end": whole,
            "device": st.sampled_from([None, 0, 7, -5]),
            "step": st.one_of(st.none(), st.integers(-3, 3)),
            "args": st.sampled_from([None, '{"inferred": true}', "{inferred"]),
        }
    )
    sides = []
    for _ in range(2):
        spans = data.draw(st.lists(span, min_size=6, max_size=9))
        for number, one in enumerate(spans):
            one["parent"] = data.draw(st.sampled_from([None, *range(number)]))
        marks = data.draw(st.lists(st.fixed_dictionaries({"time": whole}), max_size=3))
        events = [
            (*move, {"time": time, "span": 2}) for move, time in zip(moves, times, strict=True)
        ]
        made = history(events, spans=spans, marks=[{**one, "kind": "oom"} for one in marks])
        links = {"source": [0, 99, -4], "target": [5, 1, None], "kind": ["launch"] * 3}
        sides.append(made.with_tables({"links": builder.table("links", links)}))
    ours, theirs = (derive(side) for side in sides)
    found = match(ours, theirs)
    assert found is not None and len(found) == 60
    both = paired(ours, theirs, found, data.draw(st.integers(-(2**62), 2**62)))
    count = both.table("spans").num_rows
    for table, column in (("spans", "parent"), ("links", "source"), ("events", "span")):
        rows_ = both.values(table, column)
        assert rows_.min() >= -1 and rows_.max() < count
    assert set(both.values("spans", "device").tolist()) <= {-1, 0, 7, -5}
    assert derive(both).table("allocations").num_rows == ours.table("allocations").num_rows
