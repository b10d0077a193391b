"""What operators did to memory, against a slow walk through every event."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_memory_plugin.analysis import op_calls, op_owners, op_peaks
from tb_memory_plugin.analysis import op_sums as op_sums_module
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.op_stacks import op_stacks
from tb_memory_plugin.analysis.op_sums import op_sums
from tb_memory_plugin.analysis.windows import window
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.histories import history

OPS = ("a", "b", "c", "d")
#: Innermost first; a frame with a file is a call of Python's, not an operator.
STACKS: list[list[tuple[str, str, int]]] = [
    [],
    [("a", "", 0)],
    [("b", "", 0), ("a", "", 0)],
    [("b", "", 0), ("annotation", "", 0), ("c", "", 0), ("b", "", 0)],
    [("d", "train.py", 4), ("c", "", 0)],
    [("annotation", "", 0)],
]


def ops_of(stack: int | None) -> list[str]:
    """The operators on a stack, innermost first."""
    frames = STACKS[stack] if stack is not None else []
    return [name for name, file, _ in frames if name in OPS and not file]


@dataclass
class Step:
    """What one event does: size, the stack, the operator that a label gives."""

    born: bool
    place: int
    size: int
    stack: int | None
    label: str | None


steps = st.lists(
    st.builds(
        Step,
        st.booleans(),
        st.integers(0, 4),
        st.integers(0, 100),
        st.one_of(st.none(), st.integers(0, len(STACKS) - 1)),
        st.one_of(st.none(), st.sampled_from(["a", "c"])),
    ),
    max_size=30,
)


def made(program: list[Step], *, tells_frees: bool) -> tuple[Recording, list[dict[str, Any]]]:
    """The recording of a program, and every event with the life that it began or ended."""
    events: list[Any] = []
    labels: list[dict[str, Any]] = []
    truth: list[dict[str, Any]] = []
    alive: dict[int, dict[str, Any]] = {}
    touched: set[int] = set()
    for step in program:
        address = 0x1000 * (step.place + 1)
        stack = {} if step.stack is None else {"stack": step.stack}
        if step.born and address not in alive:
            own = step.label or next(iter(ops_of(step.stack)), None)
            around = {*ops_of(step.stack), *([own] if own else [])}
            alive[address] = {"size": step.size, "own": own, "around": around}
            if step.label is not None:
                labels.append({"event": len(events), "address": address, "op": step.label})
            truth.append({"born": True, **alive[address]})
            events.append(("alloc", address, step.size, stack))
            touched.add(address)
        elif not step.born and (address in alive or address not in touched):
            # What was there before the window is of nobody knows which operator.
            touched.add(address)
            life = alive.pop(address, {"size": step.size, "own": None, "around": set()})
            truth.append({"born": False, **life, "freed": step.stack})
            events.append(("free", address, life["size"], stack if tells_frees else {}))
    spans = [{"kind": "op", "name": name, "begin": 0, "end": 1} for name in OPS[:3]]
    blocks = [{"address": address, "requested": life["size"]} for address, life in alive.items()]
    recording = history(events, labels=labels, spans=spans, stacks=STACKS, blocks=blocks)
    return derive(recording), truth


def slowly(
    truth: list[dict[str, Any]], first: int, stop: int, *, where: bool
) -> dict[str | None, dict[str, int]]:
    """The numbers of every operator in events ``first`` … ``stop`` - 1."""
    names = (*OPS, None)
    found: dict[str | None, dict[str, int]] = {
        name: dict.fromkeys(
            ("self_count", "self_bytes", "self_increase", "count", "bytes", "increase"), 0
        )
        for name in names
    }
    for event in truth[first:stop]:
        own, around, sign = event["own"], event["around"], 1 if event["born"] else -1
        if not event["born"] and where:
            held = ops_of(event["freed"])
            own, around = next(iter(held), None), set(held)
        for name in {own, *around}:
            is_own = name == own
            # What is of no operator is inside of none.
            if name is None and around:
                continue
            of = found[name]
            if event["born"]:
                of["count"] += 1
                of["bytes"] += event["size"]
                if is_own:
                    of["self_count"] += 1
                    of["self_bytes"] += event["size"]
            of["increase"] += sign * event["size"]
            if is_own:
                of["self_increase"] += sign * event["size"]
    return found


def peaks(recording: Recording, first: int, stop: int, carried: bool) -> dict[str | None, int]:
    """The most bytes of every operator's own that were alive at once, moment by moment."""
    rows = recording.table("allocations").to_pylist()
    stacks = recording.table("stacks").column("frames").to_pylist()
    assert len(stacks) == len(STACKS)
    own = [row["op"] or next(iter(ops_of(row["birth_stack"])), None) for row in rows]
    highest: dict[str | None, int] = dict.fromkeys((*OPS, None), 0)
    moments = [*([first - 1] if carried else []), *range(first, stop)]
    for moment in moments:
        for name in highest:
            level = sum(
                row["requested"]
                for row, of in zip(rows, own, strict=True)
                if of == name
                and (row["birth"] is None or row["birth"] <= moment)
                and (row["death"] is None or row["death"] > moment)
            )
            highest[name] = max(highest[name], level)
    return highest


@settings(max_examples=150, deadline=None)
@given(
    steps,
    st.booleans(),
    st.integers(0, 30),
    st.integers(1, 30),
    st.sampled_from([1, 3, 1 << 15]),
)
def test_every_number_is_what_a_walk_finds(
    program: list[Step], tells_frees: bool, begin: int, length: int, part: int
) -> None:
    recording, truth = made(program, tells_frees=tells_frees)
    device = recording.devices[0]
    seen = window(recording, device, "event", begin, begin + length)
    with ExitStack() as cut:  # what is long is worked out in parts
        for module in (op_calls, op_owners, op_peaks, op_sums_module):
            cut.enter_context(patch.object(module, "_PART", part))
        sums = op_sums(recording, device, seen)
    where = tells_frees and any(not event["born"] and ops_of(event["freed"]) for event in truth)
    expected = slowly(truth, seen.first, seen.stop, where=where)
    highest = peaks(recording, seen.first, seen.stop, seen.carried)
    names = [*op_stacks(recording).names, None]
    for place, name in enumerate(names):
        for column, wanted in expected[name].items():
            values = getattr(sums, column)
            assert values is not None and int(values[place]) == wanted, (name, column)
        assert int(sums.peak[place]) == highest[name], name
    for name in {*OPS, None} - {*names}:
        assert not any(expected[name].values())
    allocated = recording.table("usage").to_pylist()

    def level(event: int) -> int:
        return int([row for row in allocated if row["event"] <= event][-1]["allocated"])

    change = level(seen.stop - 1) - level(seen.first - 1)
    assert int(sums.self_increase.sum()) == change


def test_calls_are_those_that_begin_in_the_window() -> None:
    spans = [
        {"kind": "op", "name": "a", "begin": begin, "end": begin + 500}
        for begin in (-5_000, 0, 999, 1_000, 90_000)
    ]
    spans.append({"kind": "annotation", "name": "a", "begin": 0, "end": 1})
    recording = derive(history([("alloc", 1, 5), ("alloc", 2, 5)], spans=spans))
    device = recording.devices[0]

    def calls(begin: int | None, end: int | None, axis: str = "time") -> int:
        seen = window(recording, device, axis, begin, end)
        found = op_sums(recording, device, seen, everything=begin is None).calls
        assert found is not None
        return int(found[0])

    assert calls(None, None) == 5
    assert calls(0, 1_000) == 2
    assert calls(0, 1, "event") == 2
    assert calls(1_000, 1_001) == 1


def test_what_has_no_spans_has_no_calls() -> None:
    labels = [
        {"event": event, "address": event + 1, "op": op} for event, op in enumerate(["mul", "add"])
    ]
    spans = [{"kind": "op", "name": "mul", "begin": 5_000, "end": 5_001}]
    recording = derive(history([("alloc", 1, 5), ("alloc", 2, 5)], labels=labels, spans=spans))
    device = recording.devices[0]
    found = op_sums(recording, device, window(recording, device, "event", 0, 1)).calls
    assert found is not None and found.tolist() == [0, -1, -1]


def test_without_spans_or_stacks_nothing_is_made_up() -> None:
    labels = [{"event": 0, "address": 1, "op": "mul"}]
    recording = derive(history([("alloc", 1, 5), ("free", 1, 5)], labels=labels))
    device = recording.devices[0]
    sums = op_sums(recording, device, window(recording, device))
    assert sums.calls is None and sums.count is None and sums.increase is None
    assert sums.self_count.tolist() == [1, 0]
    assert sums.self_increase.tolist() == [0, 0]
    assert sums.peak.tolist() == [5, 0]


def test_calls_without_time_stamps_are_known_of_everything_only() -> None:
    spans = [{"kind": "op", "name": "a", "begin": 0, "end": 1}]
    recording = derive(history([("alloc", 1, 5)], spans=spans, timed=False))
    device = recording.devices[0]
    seen = window(recording, device)
    assert op_sums(recording, device, seen).calls is None
    everything = op_sums(recording, device, seen, everything=True).calls
    assert everything is not None and everything.tolist() == [1, -1]


def test_sums_that_do_not_fit_are_refused() -> None:
    huge = 1 << 59
    events: list[Any] = []
    for _ in range(17):
        events += [("alloc", 1, huge), ("free", 1, huge)]
    recording = derive(history(events))
    device = recording.devices[0]
    with pytest.raises(QueryError, match="More was allocated"):
        op_sums(recording, device, window(recording, device))
