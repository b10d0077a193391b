"""A buffer's instruction with operands and users, those without memory of their own too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.plan_recording import plan_recording
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.proto.hlo import hlo_classes
from tb_memory_plugin.readers import hlo
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import plan_buffers
from tests.fixtures.hlo import Module, shape, tupled
from tests.formats.hlo_reading import read


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [row["name"] for row in rows]


def walk(recording: Recording, start: dict[str, Any], way: str) -> Iterator[tuple[str, str]]:
    """Who is reached from an answer that way, and from whom, each once."""
    waiting, known = [start], {start["instruction"]["row"]}
    while waiting:
        here = waiting.pop()
        for each in here[way]:
            yield each["name"], here["instruction"]["name"]
            if each["row"] not in known:
                known.add(each["row"])
                waiting.append(plan_buffers.near(recording, int(each["row"])))


def test_what_has_no_memory_of_its_own_is_walked_through(tmp_path: Path) -> None:
    module = Module()
    floats = shape("f32", 4)
    p = module.instruction("p", floats, opcode="parameter")
    both = module.instruction("both", tupled(floats, floats), opcode="tuple", operands=[p, p])
    part = module.instruction("part", floats, opcode="get-tuple-element", operands=[both])
    seen = module.instruction("seen", shape("s32", 4), opcode="bitcast", operands=[part])
    module.instruction("sum", floats, operands=[seen, p])
    module.allocation(16, {module.buffer("p", 16): 0}, parameter=0)
    module.allocation(16, {module.buffer("sum", 16): 0})
    recording = read(tmp_path, module.trace("+2@sum -2@sum", of=1))
    table = plan_recording(recording).table("allocations").to_pylist()
    (id,) = (id for id, row in enumerate(table) if row["name"] == "sum")
    card = plan_buffers.card(recording, id)
    assert names(card["operands"]) == ["seen", "p"]
    seen_row, p_row = card["operands"]
    assert (seen_row["ids"], p_row["ids"], card["users"]) == ([], ["0"], [])
    beyond = plan_buffers.near(recording, int(seen_row["row"]))
    assert beyond["instruction"] == seen_row
    assert (names(beyond["operands"]), names(beyond["users"])) == (["part"], ["sum"])
    assert set(walk(recording, card, "operands")) == {
        ("seen", "sum"),
        ("p", "sum"),
        ("part", "seen"),
        ("both", "part"),
        ("p", "both"),
    }
    argument = plan_buffers.card(recording, 0)
    assert names(argument["users"]) == ["both", "sum"]
    assert ("sum", "seen") in set(walk(recording, argument, "users"))


def test_only_a_hundred_are_named(tmp_path: Path) -> None:
    module = Module()
    p = module.instruction("p", shape("f32", 4), opcode="parameter")
    for place in range(150):
        module.instruction(f"u{place}", shape("f32", 4), opcode="bitcast", operands=[p])
    module.allocation(16, {module.buffer("p", 16): 0}, parameter=0)
    recording = read(tmp_path, module)
    assert names(plan_buffers.near(recording, 0)["users"]) == [f"u{n}" for n in range(100)]
    with pytest.raises(QueryError, match="There is no instruction 151"):
        plan_buffers.near(recording, 151)
    with pytest.raises(QueryError, match="There is no buffer 1 in"):
        plan_buffers.card(recording, 1)


def test_operands_and_users_of_a_real_module(shared_data: Path) -> None:
    path = shared_data / "xla" / "jit_train_step.hlo_proto.pb"
    recording = derive(hlo.read(path))
    proto = hlo_classes()["HloProto"].FromString(path.read_bytes())
    said = {
        each.id: each
        for computation in proto.hlo_module.computations
        for each in computation.instructions
    }
    rows = recording.table("instructions").to_pylist()
    ids = [row["id"] for row in rows]
    kept = {id: row for row, id in enumerate(ids)}
    holders: dict[int, list[str]] = {}
    table = plan_recording(recording).table("allocations").to_pylist()
    by_name = {row["name"]: number for number, row in enumerate(rows)}
    for id, life in enumerate(table):
        if life["birth"] is not None:
            holders.setdefault(by_name[life["name"]], []).append(str(id))
    for row in range(0, len(rows), 7):
        found = plan_buffers.near(recording, row)
        wanted = [kept[each] for each in said[ids[row]].operand_ids if each in kept]
        assert [int(each["row"]) for each in found["operands"]] == wanted[:100]
        users = sorted(kept[id] for id in kept if ids[row] in said[id].operand_ids)
        assert [int(each["row"]) for each in found["users"]] == users[:100]
        own = found["instruction"]
        assert (own["name"], own["opcode"]) == (rows[row]["name"], rows[row]["opcode"])
        if row in holders:
            assert set(holders[row][:4]) <= set(own["ids"])
