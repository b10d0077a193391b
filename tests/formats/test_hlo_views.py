"""Plans as trees, drawings and side by side, against slow walks of the same tables."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis import naming
from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.alive import alive_rows
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.grouping import group_ids
from tb_memory_plugin.analysis.plan_advice import advice, better_shape
from tb_memory_plugin.analysis.plan_recording import plan_recording
from tb_memory_plugin.analysis.plan_tree import tree, way
from tb_memory_plugin.analysis.ranking import describe
from tb_memory_plugin.readers import hlo, xplane
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import plan_overview, plan_svg
from tb_memory_plugin.views.colours import colours


@pytest.fixture(scope="module")
def step(shared_data: Path) -> Recording:
    return derive(hlo.read(shared_data / "xla" / "jit_train_step.hlo_proto.pb"))


@pytest.fixture(scope="module")
def generate(shared_data: Path) -> Recording:
    return derive(hlo.read(shared_data / "xla" / "jit_generate.hlo_proto.pb"))


def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node["children"]:
        yield from nodes(child)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("jit(f)/jvp(a/b)/add", ["jit(f)", "jvp(a/b)", "add"]),
        ("p['layers'][0]['up']", ["parameters", "p", "layers", "0", "up"]),
        ("state.params.w", ["state.params.w"]),
        (None, ["no framework op", "parameter"]),
        ("//", ["no framework op", "parameter"]),
        ("a)/b(/c", ["a)", "b(/c"]),
    ],
)
def test_the_way_to_a_buffer(op: str | None, expected: list[str]) -> None:
    assert way(op, "parameter") == expected


@pytest.mark.parametrize("most", [10_000, 60, 1])
def test_a_tree_has_every_byte_once(step: Recording, most: int) -> None:
    planned = plan_recording(step)
    rows = alive_rows(planned, planned.devices[0], 105)
    found = tree(planned, rows, most)
    assert (found["bytes"], found["count"]) == (219_693_504, 150)
    for node in nodes(found):
        if node["children"]:
            assert node["bytes"] == sum(child["bytes"] for child in node["children"])
            assert node["count"] == sum(child["count"] for child in node["children"])
    told = [node for node in nodes(found) if node["name"] != "smaller"]
    assert len(told) <= most + 1
    if most == 10_000:
        single = [node for node in told if node["id"] is not None]
        assert Counter(int(node["id"]) for node in single) == Counter(rows.tolist())
        table = planned.table("allocations").to_pylist()
        for node in single:
            row = table[int(node["id"])]
            assert (node["birth"], node["death"]) == (row["birth"], row["death"])


def test_a_drawing_has_every_buffer_at_its_place(step: Recording) -> None:
    (plan,) = reading.all_plans(step)
    text = "".join(plan_svg.drawing(step, plan))
    drawn = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    boxes = [box for box in drawn.iter(f"{space}rect") if box.find(f"{space}title") is not None]
    table = plan_recording(step).table("allocations").to_pylist()
    assert len(boxes) == len(table)
    across, up = (1600 - 110) / 452, (900 - 80) / plan.numbers["total"]
    for box, row in zip(boxes, table, strict=True):
        begin, end = row["birth"] or 0, 452 if row["death"] is None else row["death"]
        assert float(box.attrib["x"]) == pytest.approx(90 + begin * across, abs=0.01)
        assert float(box.attrib["width"]) == pytest.approx((end - begin) * across, abs=0.01)
        assert float(box.attrib["height"]) == pytest.approx(row["size"] * up, abs=0.01)
        bottom = float(box.attrib["y"]) + float(box.attrib["height"])
        assert bottom == pytest.approx(860 - row["address"] * up, abs=0.02)
    hatched = [box for box in drawn.iter(f"{space}rect") if box.get("fill") == "url(#lasting)"]
    sides = ("x", "y", "width", "height")
    assert [[box.get(side) for side in sides] for box in hatched] == [
        [box.get(side) for side in sides]
        for box, row in zip(boxes, table, strict=True)
        if row["birth"] is None and row["death"] is None
    ]
    assert 50 < len(hatched) < len(boxes)
    assert drawn.find(f".//{space}pattern[@id='lasting']") is not None


@pytest.mark.parametrize("by", ["category", "region", "annotation", "op", "size", "stack"])
def test_a_drawing_is_coloured_by_what_is_asked(step: Recording, by: str) -> None:
    (plan,) = reading.all_plans(step)
    space = "{http://www.w3.org/2000/svg}"
    drawn = ElementTree.fromstring("".join(plan_svg.drawing(step, plan, by=by, top=8)))
    boxes = [box for box in drawn.iter(f"{space}rect") if box.find(f"{space}title") is not None]
    planned = plan_recording(step)
    (device,) = planned.devices
    groups = describe(planned, device, by, "", 8)
    colour_of = dict(zip((group["key"] for group in groups), colours(groups), strict=True))
    own = group_ids(planned, device, by)
    keys = naming.keys(planned, own, own.ids.tolist())
    told = [box.attrib["fill"] for box in boxes]
    assert told == [colour_of.get(key, colour_of.get(naming.REST_KEY)) for key in keys]
    assert len({*told}) == len(groups) > 1
    legend = [text.text for text in drawn.iter(f"{space}text")]
    assert groups[0]["label"][:32] in legend


def test_the_drawing_of_another_space_is_of_that_space(shared_data: Path) -> None:
    # XProf draws HBM, whatever memory space is asked about (its defect V8).
    recording = derive(xplane.read(shared_data / "xla" / "tpu_4device.xplane.pb"))
    space = "{http://www.w3.org/2000/svg}"
    plans = [plan for plan in reading.all_plans(recording) if plan.module_name == "jit_f"]
    assert {plan.space_name for plan in plans} == {"HBM", "sync flags", "host"}
    for plan in plans:
        drawn = ElementTree.fromstring("".join(plan_svg.drawing(recording, plan)))
        titles = [title.text or "" for title in drawn.iter(f"{space}title")]
        planned = plan_recording(recording)
        device = planned.device(f"plan:{plan.row}")
        sizes = planned.values("allocations", "size", device).tolist()
        told = [int(title.split("\n")[1].partition(" ")[0]) for title in titles]
        assert told == sizes, plan.space_name
        (head, *_) = (text.text or "" for text in drawn.iter(f"{space}text"))
        assert head.startswith(f"jit_f · {plan.space_name}: peak ")


def test_arguments_that_could_be_donated_are_named(shared_data: Path) -> None:
    recording = derive(xplane.read(shared_data / "xla" / "jax_mi300_attention.xplane.pb"))
    found = {
        f"{plan.module_name}({plan.program_id})": advice(recording, plan)
        for plan in reading.all_plans(recording)
    }
    # Two arguments of 64 MiB are added, and neither is given to the sum.
    (donation,) = (each for each in found["jit_add(88)"] if each.kind == "donation")
    assert donation.bytes == 64 << 20
    assert "1 argument could be donated" in donation.says
    # 128 of 160 MiB are one buffer.
    kinds = {each.kind: each.bytes for each in found["jit_matmul(59)"]}
    assert kinds == {"half": 128 << 20, "donation": 16 << 20}


def test_advice_is_only_where_the_plan_shows_it(step: Recording, generate: Recording) -> None:
    # Everything that can be is donated, nothing is padded, nothing is large or held too long.
    for recording in (step, generate):
        assert advice(recording, reading.all_plans(recording)[0]) == []


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ("f32[1000,3]{1,0:T(8,128)}", "dimension 1 is 3, and takes the room of 128"),
        ("f32[5,256]{1,0:T(8,128)}", "dimension 0 is 5, and takes the room of 8"),
        ("f32[8,128]{1,0:T(8,128)}", None),
        ("f32[1000,3]{1,0}", None),
        ("(f32[2])", None),
    ],
)
def test_what_pads_a_shape_is_said(shape: str, words: str | None) -> None:
    assert better_shape(shape) == words


def test_what_makes_the_two_peaks_differ_is_said(shared_data: Path, step: Recording) -> None:
    assert plan_overview.differs(step, reading.all_plans(step)[0]) == []
    recording = derive(xplane.read(shared_data / "xla" / "tpu_4device.xplane.pb"))
    (plan,) = (
        plan
        for plan in reading.all_plans(recording)
        if (plan.module_name, plan.space) == ("jit_f", 0)
    )
    assert plan_overview.differs(recording, plan) == [
        "It counts other memory spaces too: sync flags (12 B), host (15.0 GiB)."
    ]
    without = derive(hlo.read(shared_data / "xla" / "synthetic" / "noTrace.hlo_proto.pb"))
    assert plan_overview.differs(without, reading.all_plans(without)[0]) == [
        "Temporary allocations that no heap trace is of, 1.00 MiB, are not in it."
    ]
