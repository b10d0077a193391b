"""What XProf's Memory Viewer has wrong (V6, V9, V10, V11, V15), each shown to be right here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.plan_recording import plan_recording
from tb_memory_plugin.readers import xplane
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import buffers, plan_buffers, plan_svg
from tb_memory_plugin.views.summary import summary
from tb_memory_plugin.views.tile.window import tile
from tests.fixtures.hlo import Module, heap, shape
from tests.fixtures.padded import padded
from tests.formats.hlo_reading import curve, lives, plan, problems, read, rows
from tests.unit.views.tiles import decoded

#: Reads a module, and prints what its tables hold and what is answered of it.
_TELL = """
import hashlib, json, sys
from pathlib import Path
from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.readers import hlo
from tb_memory_plugin.recording.recording import save
from tb_memory_plugin.views import buffers, plan_overview, plans
recording = derive(hlo.read(Path(sys.argv[1])))
save(recording, Path(sys.argv[2]))
(plan,) = reading.all_plans(recording)
answers = [plans.modules(recording), plan_overview.listed(recording)]
answers += [buffers.alive(recording, plan, event) for event in range(-1, 40)]
print(json.dumps(answers))
print(hashlib.sha256(Path(sys.argv[2]).read_bytes()).hexdigest())
"""


def test_tables_and_answers_do_not_hang_on_how_words_are_hashed(tmp_path: Path) -> None:
    # V6: XProf's order of buffers, and of spans, is another in every process.
    path = tmp_path / "jit_padded.hlo_proto.pb"
    path.write_bytes(padded()[0].bytes())
    told = set()
    for seed in ("0", "1", "4242"):
        command = [sys.executable, "-c", _TELL, str(path), str(tmp_path / f"{seed}.tbmem")]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        told.add(done.stdout)
    assert len(told) == 1
    (answers, digest) = told.pop().splitlines()
    assert len(json.loads(answers)) == 43 and len(digest) == 64


def test_the_buffer_zero_is_a_buffer(tmp_path: Path) -> None:
    # V9: XProf takes the id 0 for none.
    made = Module()
    for id, size in enumerate((8, 16, 4)):
        made.instruction(f"i{id}", shape("pred", size))
        made.buffer(f"i{id}", size, id=id)
    made.allocation(24, {0: 16, 1: 0, 2: 16})
    recording = read(tmp_path, made.trace("+1 +0 2=0 -0 -1 -2"))
    assert curve(recording) == [16, 24, 24, 24, 8, 0]
    assert lives(recording) == [(1, 0, 4, 16, True), (0, 1, 5, 8, True), (2, 2, 5, 8, False)]
    (each,) = reading.all_plans(recording)
    told = buffers.alive(recording, each, 4)["buffers"]
    assert [(one["id"], one["birth"], one["death"], one["offset"]) for one in told] == [
        (0, 1, 5, 16)
    ]
    card = plan_buffers.card(recording, 1)
    assert (card["id"], card["bytes"]) == (0, 8)
    assert [one["name"] for one in card["sharing"]] == ["i2"]


def two_temporaries(first: str, second: str) -> Module:
    """Buffers 1 and 2 in one temporary allocation, 3 and 4 in another, with an output between."""
    made = Module()
    for place, size in enumerate((16, 32, 64, 128, 8), 1):
        made.instruction(f"i{place}", shape("pred", size))
        made.buffer(f"i{place}", size)
    made.allocation(48, {1: 0, 2: 16})
    made.allocation(8, {5: 0}, kinds=["output"])
    made.allocation(192, {3: 0, 4: 64})
    return made.trace(first).trace(second, of=2)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # The untraced one is below what comes and goes, which is at its own offset in its own.
        ("", "+3 +4 -3 -4", {"0": (0, 48), "1": (48, 8), 3: (56, 64), 4: (120, 128)}),
        ("+1 +2 -1 -2", "", {"1": (0, 8), "2": (8, 192), 1: (200, 16), 2: (216, 32)}),
        ("+1 +2 -1 -2", "+3 -3", {"1": (0, 8), 1: (8, 16), 2: (24, 32), 3: (56, 64)}),
        ("", "", {"0": (0, 48), "1": (48, 8), "2": (56, 192)}),
    ],
)
def test_places_where_an_allocation_has_no_trace(
    tmp_path: Path, first: str, second: str, expected: dict[str | int, tuple[int, int]]
) -> None:
    # V11: XProf counts offsets of traced allocations only, and asks for those of all.
    recording = read(tmp_path, two_temporaries(first, second))
    index = rows(recording, "buffer_allocations", "index")
    ids = rows(recording, "buffers", "id")
    columns = ("allocation", "buffer", "birth", "offset", "size")
    told: dict[str | int, tuple[int, int]] = {
        (ids[buffer] if birth is not None else str(index[allocation])): (offset, size)
        for allocation, buffer, birth, offset, size in rows(recording, "buffer_lives", *columns)
    }
    assert told == expected
    assert plan(recording)["total"] == 48 + 8 + 192
    untraced = [name for name, (_, size) in expected.items() if size in (48, 192)]
    assert [said.split()[2] for said in problems(recording)] == untraced


def tall(recording: Recording, device: Any, **question: Any) -> dict[str, Any]:
    asked = {"axis": "event", "level": 0, "index": 0, "layout": "address", "by": "region"}
    about, _ = decoded(tile(recording, device, **asked, **question))
    return about


def test_the_picture_by_place_is_as_tall_as_the_space_and_searched_by_expressions(
    shared_data: Path,
) -> None:
    # V10: XProf's is as tall as the peak, though places are in allocations, and forgets searches.
    recording = derive(xplane.read(shared_data / "xla" / "tpu_4device.xplane.pb"))
    planned = plan_recording(recording)
    taller = 0
    for each, device in zip(reading.all_plans(recording), planned.devices, strict=True):
        numbers = each.numbers
        place, size = (
            planned.values("allocations", name, device).astype(int) for name in ("address", "size")
        )
        if not len(place):
            continue
        assert int((place + size).max()) <= numbers["total"]
        about = tall(planned, device, find="/^(copy|fusion)(\\.\\d+)?$/")
        names = planned.table("allocations").column("name").to_pylist()
        own = names[slice(*planned.rows("allocations", device).indices(len(names)))]
        wanted = [
            each
            for each, name in zip(size.tolist(), own, strict=True)
            if name and name.split(".")[0] in ("copy", "fusion") and name.count(".") < 2
        ]
        assert about["hits"] == {"count": len(wanted), "bytes": sum(wanted)}, device.name
        taller += numbers["total"] > numbers["peak"]
    assert taller > 0


def test_events_of_the_heap_are_not_called_time(tmp_path: Path) -> None:
    # V15: XProf calls the events of a heap the sequence of the program.
    recording = read(tmp_path, heap([8, 16], "+1@i1 +2@i2 -1@i2 -2@i2"))
    planned = plan_recording(recording)
    told = summary(planned, version="", run="", name="")
    assert told["axes"] == ["event"]
    assert told["devices"][0]["events"] == 4 > len(rows(recording, "instructions"))
    assert told["devices"][0]["begin_time"] is None
    (each,) = reading.all_plans(recording)
    drawing = "".join(plan_svg.drawing(recording, each))
    assert ">events of the heap in program order, not time</text>" in drawing
