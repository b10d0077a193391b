"""What operators of real traces did to memory, against a plain walk over their events."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import pytest

from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import operators
from tb_memory_plugin.views.summary import summary
from tests.fixtures.kineto import Json
from tests.formats.test_kineto_real import OPS, TRACES, Search, events, ns, recording, track

#: With addresses and the allocator's totals, and (PyTorch 1.9) without either.
FILES = ("h100_bert_small.json.gz", "v100_torch19_resnet50.pt.trace.json.gz")

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason="the shared real files (../shared/data) are not here"
)
each_trace = pytest.mark.parametrize("name", FILES)
#: By operator, None for none, its numbers.
Numbers = dict[str | None, dict[str, Any]]


@dataclass(frozen=True)
class Move:
    """An allocator's event: signed bytes, when, in which operators, and which one is innermost."""

    size: int
    time: int
    around: frozenset[str | None]
    own: str | None
    address: int | None


def moves(search: Search, key: str) -> list[Move]:
    """The events of a device, each with the operators around it."""
    found = []
    for event in search.memory[key]:
        args, time = event["args"], ns(event["ts"])
        here = search.around(track(event), time)
        names: set[str | None] = {each["name"] for each in here.spans if is_operator(each)}
        around = frozenset(names or {None})
        found.append(Move(args["Bytes"], time, around, here.first(*OPS), args.get("Addr")))
    return found


def is_operator(event: Json) -> bool:
    is_call = event.get("cat") in OPS and event["ph"] == "X"
    return is_call and not event["name"].startswith("ProfilerStep")


def calls(name: str, begin: int | None, end: int | None) -> Counter[str]:
    """How often every operator began, on any thread, from ``begin`` up to ``end``."""
    return Counter(
        event["name"]
        for event in events(name)
        if is_operator(event) and (begin is None or end is None or begin <= ns(event["ts"]) < end)
    )


def owners(made: list[Move]) -> list[str | None]:
    """Of every event the operator that made the block: by address, else the latest of its size."""
    living: dict[int, list[str | None]] = defaultdict(list)
    found: list[str | None] = []
    for move in made:
        key = abs(move.size) if move.address is None else move.address
        if move.size > 0:
            living[key].append(move.own)
            found.append(move.own)
        else:
            found.append(living[key].pop() if living[key] else None)
    return found


def walk(made: list[Move], start: int, first: int, stop: int) -> Numbers:
    """The numbers of events ``first`` … ``stop`` - 1 above ``start`` bytes of nobody's."""
    found: Numbers = defaultdict(lambda: dict.fromkeys(operators.NUMBERS[1:], 0))
    levels: Counter[str | None] = Counter({None: start})
    for place, (move, owner) in enumerate(zip(made[:stop], owners(made), strict=False)):
        if place == first:  # what was there is seen before the first of them
            for name, level in levels.items():
                found[name]["peak"] = level
        levels[owner] += move.size
        if place < first:
            continue
        found[owner]["peak"] = max(found[owner]["peak"], levels[owner])
        found[move.own]["self_increase"] += move.size
        for name in move.around:
            found[name]["increase"] += move.size
        if move.size > 0:
            found[move.own]["self_count"] += 1
            found[move.own]["self_bytes"] += move.size
            for name in move.around:
                found[name]["count"] += 1
                found[name]["bytes"] += move.size
    return found


def asked(found: Recording, device: Device, **question: Any) -> Numbers:
    """All rows of the answer by operator."""
    rows: Numbers = {}
    while True:
        page = operators.page(found, device, **question, offset=len(rows), limit=20)
        rows.update({row["op"]: row for row in page["rows"]})
        if len(rows) == page["found"]:
            return rows


def agree(rows: Numbers, expected: Numbers, called: Counter[str]) -> None:
    """That rows are those of all operators that allocated or freed, with these numbers."""
    moved = {
        name
        for name, numbers in expected.items()
        if numbers["count"] or numbers["increase"] or numbers["self_increase"]
    }
    assert moved <= set(rows) <= set(expected)
    for name, row in rows.items():
        assert {key: row[key] for key in expected[name]} == expected[name], name
        assert row["calls"] == (None if name is None else called[name]), name


@each_trace
def test_all_operators_of_every_device(name: str) -> None:
    search, found = Search(name), recording(name)
    facts = json.loads((TRACES / "facts.json").read_text())[name]
    inside = 0
    for device in found.devices:
        made = moves(search, device.key)
        start = facts[device.key]["allocated_start"]
        if start is None:  # all that is freed without having been allocated
            start = unmatched(made)
        rows = asked(found, device)
        agree(rows, walk(made, start, 0, len(made)), calls(name, None, None))
        inside += sum(row["count"] > row["self_count"] for row in rows.values())
        change = sum(row["self_increase"] for row in rows.values())
        assert change == sum(move.size for move in made)
    assert inside > 3


@each_trace
def test_operators_of_a_window_of_time(name: str) -> None:
    search, found = Search(name), recording(name)
    facts = json.loads((TRACES / "facts.json").read_text())[name]
    device = max(found.devices, key=lambda each: facts[each.key]["events"])
    made = moves(search, device.key)
    origin = made[0].time - int(found.values("events", "time", device)[0])
    # From just before one event up to just before another.
    begin, end = (made[len(made) * part // 10].time - 1 for part in (3, 7))
    first, stop = (sum(move.time < edge for move in made) for edge in (begin, end))
    assert 20 < first < stop - 20 and made[first].time > begin
    start = facts[device.key]["allocated_start"]
    expected = walk(made, unmatched(made) if start is None else start, first, stop)
    rows = asked(found, device, axis="time", begin=begin - origin, end=end - origin)
    agree(rows, expected, calls(name, begin, end))
    whole = asked(found, device)
    assert any(rows[op]["calls"] < whole[op]["calls"] for op in rows if op is not None)


def unmatched(made: list[Move]) -> int:
    """Bytes that are freed and were never seen allocated."""
    living: Counter[int] = Counter()
    total = 0
    for move in made:
        key = abs(move.size) if move.address is None else move.address
        living[key] += 1 if move.size > 0 else -1
        if living[key] < 0:
            living[key] = 0
            total -= move.size
    return total


def test_without_totals_the_page_is_told_what_the_curve_shows() -> None:
    found = recording(FILES[-1])
    assert found.meta["missing"]
    for told, device in zip(
        summary(found, version="", run="", name="")["devices"],
        found.devices,
        strict=True,
    ):
        allocated = found.values("usage", "allocated", device).tolist()
        assert told["allocated_peak"] == max(allocated)
        assert (told["allocated_start"], told["allocated_end"]) == (allocated[0], allocated[-1])
