"""Operators and their backwards by sequence numbers, against PyTorch's own walk of all events."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import kineto_program, kineto_sequences, kineto_trace
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.kineto import Json, flow, memory, span
from tests.formats.test_kineto_links import Known, known, links, named, read
from tests.formats.test_kineto_real import track
from tests.formats.test_snapshot_fuzz import check


def op(name: str, ts: Any, dur: Any, number: Any, thread: Any = 0, **more: Any) -> Json:
    args = {"Sequence number": number, "Fwd thread id": thread}
    return span(name, ts, dur, args=args, **more)


def walked(events: list[Json]) -> list[tuple[str, Known, Known]]:
    """What PyTorch's generateForwardBackwardLinks would say, where it is certain who is who."""
    numbered = [each for each in events if "Fwd thread id" in each.get("args", {})]
    tracks: dict[Any, set[Any]] = defaultdict(set)
    for each in numbered:
        if not each["args"]["Fwd thread id"]:
            tracks[each["pid"], each["args"]["Sequence number"]].add(track(each))
    leads: dict[Any, set[Any]] = defaultdict(set)
    for each in numbered:
        asked = tracks[each["pid"], each["args"]["Sequence number"]]
        if each["args"]["Fwd thread id"] and len(asked) == 1:
            leads[each["pid"], each["args"]["Fwd thread id"]] |= asked
    led = [next(iter(found)) for found in leads.values() if len(found) == 1]
    waiting: dict[Any, Json] = {}
    found = []
    for each in sorted(numbered, key=lambda one: (one["ts"] + one["dur"], -one["ts"])):
        number, thread = each["args"]["Sequence number"], each["args"]["Fwd thread id"]
        if not thread:
            other = waiting.get((track(each), number))
            if other is None or each["ts"] > other["ts"]:
                waiting[track(each), number] = each
            continue
        certain = leads[each["pid"], thread]
        if len(certain) == 1 and led.count(next(iter(certain))) == 1:
            forward = waiting.pop((next(iter(certain)), number), None)
            if forward is not None:
                found.append(("forward_backward", known(forward), known(each)))
    return sorted(found)


@pytest.mark.parametrize("seed", range(30))
def test_pairs_are_those_of_a_walk(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:  # as a large file is, in parts, from where they wait
        for name in ("_MANY", "_PART"):
            monkeypatch.setattr(kineto_sequences, name, 1 + seed % 7)
    chance = random.Random(seed)
    clock = iter(range(1, 10_000))
    own = {(pid, tid): tid - 1 for pid in (1, 2) for tid in (2, 3, 4)}
    if seed % 5 == 0:
        own = dict.fromkeys(own, 1)
    events: list[Json] = []

    def run(name: str, depth: int, **more: Any) -> None:
        begin = next(clock)
        where = {"pid": 1 + chance.randrange(seed % 2 + 1), "tid": 2 + chance.randrange(3)}
        where = more.pop("where", where)
        number = chance.randrange(12) + (seed % 7 > 0) * 20 * where["tid"]
        thread = 0 if chance.randrange(2) else own[where["pid"], where["tid"]]
        if depth < 3:
            for _ in range(chance.randrange(3)):
                run("inner", depth + 1, where=where)
        if thread and seed % 3:
            where = {**where, "tid": 9}
        end = next(clock)
        if chance.randrange(9):
            events.append(op(f"{name} {begin}", begin, end - begin, number, thread, **where))

    for _ in range(60):
        run("outer", 0)
    chance.shuffle(events)
    assert links(read(tmp_path, *events)) == walked(events)


def test_some_walks_find_something_and_some_are_not_certain() -> None:
    pair = [op("a", 1, 2, 7), op("b", 9, 2, 7, 1, tid=3)]
    assert len(walked(pair)) == 1
    assert walked([*pair, op("c", 1, 2, 7, tid=4)]) == []


def test_the_innermost_of_rounded_times_and_the_first_to_end(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        op("aten::zero_", 0.5, 1, 7),
        op("aten::conv2d", 2, 9, 7),
        op("aten::cudnn_convolution", 2, 8, 7),
        op("aten::relu", 12, 1, 8),
        op("autograd::engine::evaluate_function: ConvBackward0", 20, 9, 7, 1, tid=3),
        op("ConvBackward0", 20, 9, 7, 1, tid=3),
        op("ConvBackward0 again", 40, 5, 7, 1, tid=3),
        op("later", 50, 5, 9, 1, tid=3),
    )
    assert named(found) == [("forward_backward", "aten::cudnn_convolution", "ConvBackward0")]


def test_what_thread_a_number_is_of_has_to_be_certain(tmp_path: Path) -> None:
    forwards = [op("one", 1, 2, 7), op("two", 1, 2, 7, tid=4), op("more", 5, 2, 8)]
    backward = op("back", 20, 2, 7, 1, tid=3)
    assert named(read(tmp_path, *forwards, backward)) == []
    again = op("back more", 30, 2, 8, 1, tid=3)
    assert named(read(tmp_path, *forwards, backward, again)) == [
        ("forward_backward", "more", "back more"),
        ("forward_backward", "one", "back"),
    ]
    other = op("back of another", 40, 2, 8, 2, tid=3)
    assert named(read(tmp_path, *forwards, backward, again, other)) == []
    elsewhere = op("back", 20, 2, 8, 1, pid=5)
    assert named(read(tmp_path, *forwards, elsewhere)) == []


@pytest.mark.parametrize("late", [False, True])
def test_a_file_that_says_it_by_flows_says_it_by_them_alone(tmp_path: Path, late: bool) -> None:
    pairs = [
        op("a", 1, 2, 7),
        op("b", 5, 2, 8),
        op("back a", 20, 2, 7, 1),
        op("back b", 30, 2, 8, 1),
    ]
    told = [flow("s", 1, 1, "fwdbwd"), flow("f", 1, 20, "fwdbwd")]
    many = [span(f"x{place}", 100 + place, 0.5) for place in range(9_000)] if late else []
    assert named(read(tmp_path, *pairs, *many, *told)) == [("forward_backward", "a", "back a")]
    assert named(read(tmp_path, *told, *many, *pairs)) == [("forward_backward", "a", "back a")]
    assert len(named(read(tmp_path, *pairs))) == 2


def test_rows_are_right_where_calls_of_python_are_left_out(tmp_path: Path) -> None:
    calls = [span(f"f.py({place}): f", 50 + place, 0.5, "python_function") for place in range(5)]
    pairs = [
        op("a", 60, 2, 7),
        op("b", 70, 2, 8),
        op("back a", 80, 2, 7, 1),
        op("back b", 90, 2, 8, 1),
    ]
    mixed = [*calls[:3], pairs[0], calls[3], pairs[3], span("c", 65, 1), calls[4], *pairs[1:3]]
    with patch.object(kineto_program, "MOST_SPANS", 3):
        found = read(tmp_path, *mixed)
    assert found.table("spans").num_rows == 5
    assert named(found) == [
        ("forward_backward", "a", "back a"),
        ("forward_backward", "b", "back b"),
    ]


@pytest.mark.parametrize("strange", [None, "7", 7.0, True, -1, 1 << 62, 1 << 80, [7], {}])
def test_numbers_that_are_none_say_nothing(tmp_path: Path, strange: Any) -> None:
    pair = [op("a", 1, 2, 7), op("back", 20, 2, 7, 1)]
    assert len(named(read(tmp_path, *pair, op("x", 4, 2, strange, tid=4)))) == 1
    assert len(named(read(tmp_path, *pair, op("x", 4, 2, 7, strange, tid=4)))) == 1
    assert named(read(tmp_path, pair[0], op("back", 20, 2, strange, 1))) == []
    assert named(read(tmp_path, pair[0], op("back", 20, 2, 7, strange))) == []


def test_arguments_that_are_no_object_say_nothing_of_others(tmp_path: Path) -> None:
    strange = span("x", 4, 2, args=['"Fwd thread id"'])
    words = span("y", 7, 2, args={"Input": '"Fwd thread id": 3'})
    found = read(tmp_path, op("a", 1, 2, 7), strange, words, op("back", 20, 2, 7, 1))
    assert named(found) == [("forward_backward", "a", "back")]


def test_a_damaged_file_is_read_or_refused(tmp_path: Path) -> None:
    pairs = [op(f"a{place}", place, 1, place) for place in range(6)]
    pairs += [op(f"b{place}", 50 - place, 1, place, 1, tid=3) for place in range(6)]
    whole = json.dumps({"traceEvents": [memory(0, 8, 16), *pairs]}).encode()
    path, chance = tmp_path / "rank0.pt.trace.json", random.Random(5)
    linked = set()
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.choice(b'0179-e.,:"{}[]x')
        path.write_bytes(data)
        try:
            found: Recording = kineto_trace.read(path)
        except SourceError:
            continue
        linked.add(found.table("links").num_rows)
        check(derive(found))
    assert max(linked) == 6 and len(linked) > 2
