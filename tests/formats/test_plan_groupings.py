"""A plan grouped by kind, opcode, framework op, padding and source line, against walks by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.plan_recording import plan_recording
from tb_memory_plugin.readers import hlo
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import breakdown, source_lines
from tests.fixtures.padded import padded
from tests.formats.hlo_reading import read
from tests.formats.hlo_walk import Held, walked

MODULES = ("jit_train_step", "jit_generate")
#: Groups of what has no framework op: held from the start, and not.
NOTHING = ("…before", "…unknown")
WORDS: dict[str, Callable[[Held], str]] = {
    "region": lambda each: each.kind,
    "annotation": lambda each: each.opcode,
    "op": lambda each: each.op,
}


@pytest.fixture(scope="module", params=MODULES)
def both(request: pytest.FixtureRequest, shared_data: Path) -> tuple[Recording, list[Held]]:
    path = shared_data / "xla" / f"{request.param}.hlo_proto.pb"
    return plan_recording(derive(hlo.read(path))), walked(path)


def test_the_walk_is_of_the_same_lives(both: tuple[Recording, list[Held]]) -> None:
    planned, held = both
    rows = planned.table("allocations").to_pylist()
    last = len(planned.table("events"))
    told = Counter(
        (
            -1 if row["birth"] is None else row["birth"],
            last if row["death"] is None else row["death"],
            row["size"],
            row["address"],
        )
        for row in rows
    )
    assert told == Counter((each.begin, each.end, each.size, each.place) for each in held)


@pytest.mark.parametrize("by", WORDS)
def test_groups_hold_what_a_walk_of_the_proto_finds(
    both: tuple[Recording, list[Held]], by: str
) -> None:
    planned, held = both
    (device,) = planned.devices
    last = len(planned.table("events")) - 1
    for event in {-1, *range(0, last, 23), last}:
        wanted: Counter[str] = Counter()
        for each in held:
            if each.at(event):
                wanted[WORDS[by](each)] += each.size
        answer = breakdown.page(planned, device, at=f"event:{event}", by=by, limit=None)
        told: Counter[str] = Counter()
        for group in answer["groups"]:
            told["" if group["key"] in NOTHING else group["label"]] += group["bytes"]
        assert told == wanted, event
        assert answer["total_bytes"] == sum(wanted.values())


def test_lines_hold_what_a_walk_of_the_proto_finds(both: tuple[Recording, list[Held]]) -> None:
    planned, held = both
    (device,) = planned.devices
    last = len(planned.table("events")) - 1
    for event in {-1, *range(0, last, 61), last}:
        made: Counter[tuple[str, int]] = Counter()
        through: Counter[tuple[str, int]] = Counter()
        nowhere = 0
        for each in held:
            if not each.at(event):
                continue
            if each.lines:
                made[each.lines[0]] += each.size
                through.update(dict.fromkeys(each.lines, each.size))
            else:
                nowhere += each.size
        answer = source_lines.page(planned, device, at=f"event:{event}")
        told = {
            (file["file"], line["line"]): (line["made"], line["through"])
            for file in answer["files"]
            for line in file["lines"]
        }
        assert told == {place: (made[place], whole) for place, whole in through.items()}, event
        assert sum(lack["value"] for lack in answer["nowhere"]) == nowhere


def test_padding_is_told_by_what_part_of_a_buffer_it_is(tmp_path: Path) -> None:
    module, plan = padded()
    planned = plan_recording(read(tmp_path, module))
    (device,) = planned.devices
    steps = (
        ("90 % and more", Fraction(9, 10)),
        ("half and more", Fraction(1, 2)),
        ("25 % and more", Fraction(1, 4)),
        ("10 % and more", Fraction(1, 10)),
        ("1 % and more", Fraction(1, 100)),
    )
    seen = set()
    for event in range(-1, len(planned.table("events"))):
        wanted: Counter[str] = Counter()
        for each in plan:
            born = each.birth is None or each.birth <= event
            if born and (each.death is None or each.death > event):
                part = Fraction(each.size - each.unpadded, each.size)
                fallback = "under 1 %" if part else "none"
                word = next((word for word, least in steps if part >= least), fallback)
                wanted[word] += each.size
        answer = breakdown.page(planned, device, at=f"event:{event}", by="rounding", limit=None)
        told = {group["label"]: group["bytes"] for group in answer["groups"]}
        assert told == wanted, event
        seen |= set(told)
    assert seen == {"none", "90 % and more"}
