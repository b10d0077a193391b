"""JAX device memory profiles made by code, against values known beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.api import load
from tb_memory_plugin.cli import main
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.readers import jax_pprof
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import save
from tb_memory_plugin.views.summary import summary
from tb_memory_plugin.views.tile.window import tile
from tests.fixtures import pprof
from tests.formats.pprof_reading import (
    by_stack,
    stacks,
    written,
)


def test_a_made_profile(tmp_path: Path) -> None:
    recording = derive(jax_pprof.read(written(tmp_path, pprof.small())))

    inner = (("matmul", "ops.py", 7), ("forward", "model.py", 40), ("<module>", "train.py", 12))
    outer = inner[2:]
    found = {device.key: by_stack(recording, device) for device in recording.devices}
    assert found == {
        "cuda:0": {outer: (2, 150)},
        "cuda:1": {inner: (3, 3 << 20)},
        "executables": {inner: (2, 5712)},
    }
    assert [device.key for device in recording.devices] == ["cuda:0", "cuda:1", "executables"]
    assert recording.meta["has_history"] is False
    assert recording.meta["basis"] == "size"
    assert len(recording.table("events")) == 0


def test_buffers_are_not_given_what_the_file_does_not_say(tmp_path: Path) -> None:
    table = derive(jax_pprof.read(written(tmp_path, pprof.small()))).table("allocations")

    columns = (
        "address",
        "requested",
        "birth",
        "birth_time",
        "death",
        "category",
        "segment",
        "pool",
    )
    for column in columns:
        assert table.column(column).null_count == len(table), column
    assert table.column("name").to_pylist() == [*5 * [None], *2 * ["executable"]]


def test_executables_of_a_named_device_stand_apart_from_its_buffers(tmp_path: Path) -> None:
    made = pprof.Writer()
    made.sample([1, 7], kind="executable", device="cuda:0")
    made.sample([1, 9], kind="buffer", device="cuda:0")
    made.sample([1, 11], kind="buffer")
    made.sample([1, 13], device="cuda:0")

    recording = derive(jax_pprof.read(written(tmp_path, made)))

    held = {
        device.key: recording.values("allocations", "size", device).tolist()
        for device in recording.devices
    }
    assert held == {"cuda:0": [9, 13], "cuda:0 executables": [7], "no device named": [11]}
    lacks = [one["what"] for one in recording.meta["missing"]]
    assert "stacks" in lacks


def test_executables_of_unknown_size_count_without_bytes(tmp_path: Path) -> None:
    made = pprof.Writer()
    made.sample([2, -2], kind="executable")
    made.sample([1, 5], kind="executable")

    recording = derive(jax_pprof.read(written(tmp_path, made)))

    assert sorted(recording.values("allocations", "size").tolist()) == [0, 0, 5]
    assert "2 of the executables" in recording.meta["missing"][-1]["why"]


def test_bytes_that_do_not_divide_are_kept_to_the_last(tmp_path: Path) -> None:
    made = pprof.Writer()
    made.sample([3, 11], kind="buffer", device="cpu:0")

    recording = derive(jax_pprof.read(written(tmp_path, made)))

    assert recording.values("allocations", "size").tolist() == [4, 4, 3]
    (problem,) = recording.meta["problems"]
    assert "the sizes of 3 single buffers are averages" in problem


def test_a_sample_of_nothing_is_nothing(tmp_path: Path) -> None:
    made = pprof.small()
    made.sample([0, 0], kind="buffer", device="cuda:7")

    recording = jax_pprof.read(written(tmp_path, made))

    assert "cuda:7" not in {device["key"] for device in recording.meta["devices"]}


def test_types_of_samples_are_told_by_name_not_by_place(tmp_path: Path) -> None:
    made = pprof.Writer(types=(("space", "bytes"), ("wall", "seconds"), ("allocations", "count")))
    made.sample([90, 5, 2], kind="buffer", device="cpu:0")

    recording = derive(jax_pprof.read(written(tmp_path, made)))

    assert recording.values("allocations", "size").tolist() == [45, 45]


def test_unknown_fields_and_other_text_than_utf8_are_tolerated(tmp_path: Path) -> None:
    made = pprof.Writer()
    place = made.location(("naïve", "a\x00b.py", -3))
    made.functions[0] += pprof.number(2, made.text(b"\xff\xfe")) + pprof.part(77, b"later")
    made.samples.append(
        pprof.packed(1, [place])
        + pprof.number(2, 1)  # not packed
        + pprof.number(2, 64)
        + pprof.part(3, pprof.number(1, made.text("kind")) + pprof.number(2, made.text("buffer")))
        + pprof.part(3, pprof.number(1, made.text("size")) + pprof.number(3, 8))
        + pprof.number(99, 1)
    )
    path = tmp_path / "memory.prof"
    path.write_bytes(made.bytes() + pprof.part(1000, b"?") + pprof.number(9, 1 << 40))

    recording = derive(jax_pprof.read(path))

    assert stacks(recording) == [(("\\xff\\xfe", "a\x00b.py", 0),)]
    assert recording.values("allocations", "size").tolist() == [64]


def test_a_location_without_functions_is_its_address(tmp_path: Path) -> None:
    made = pprof.Writer()
    made.locations.append(pprof.number(1, 5) + pprof.number(3, 0x7F00))
    made.sample([1, 8], [5], kind="buffer", device="cpu:0")

    assert stacks(jax_pprof.read(written(tmp_path, made))) == [(("0x7f00", "", 0),)]


def test_it_is_the_same_after_an_import_as_our_own_recording(tmp_path: Path) -> None:
    recorded = jax_pprof.read(written(tmp_path, pprof.small()))
    save(recorded, tmp_path / "own.tbmem", compress=True)

    again = load(tmp_path / "own.tbmem").recording

    whole = derive(recorded)
    for name in ("allocations", "usage", "blocks", "labels"):
        assert again.table(name).equals(whole.table(name)), name
    assert arrays.words(again.table("labels"), "name") == ["executable"]


def test_the_command_line_tells_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(written(tmp_path, pprof.small()))

    assert main(["info", path]) == 0
    info = capsys.readouterr().out
    assert "3.00 MiB (3 145 728 bytes) at the end" in info
    assert "has no timeline" in info
    assert main(["peak", path, "--device", "cuda:0"]) == 0
    peak = capsys.readouterr().out
    assert "cuda:0 at the end: 150 bytes allocated" in peak
    assert "before" not in peak  # nothing says when anything was made
    assert main(["flame", path, "--device", "cuda:1"]) == 0
    line = "<module> (train.py:12);forward (model.py:40);matmul (ops.py:7) 3145728"
    assert capsys.readouterr().out.strip() == line


def test_no_picture_by_address_is_made_up(tmp_path: Path) -> None:
    recording = derive(jax_pprof.read(written(tmp_path, pprof.small())))
    asked: dict[str, Any] = {"axis": "event", "level": 0, "index": 0, "by": "stack"}

    with pytest.raises(QueryError, match="holds no addresses"):
        tile(recording, recording.devices[0], layout="address", **asked)
    for layout in ("stacked", "lane"):
        assert tile(recording, recording.devices[0], layout=layout, **asked)


def test_no_grouping_by_what_is_not_known(tmp_path: Path) -> None:
    recording = derive(jax_pprof.read(written(tmp_path, pprof.small())))

    groupings = summary(recording, version="", run="", name="")["groupings"]

    assert [one["key"] for one in groupings] == ["stack", "size", "pattern"]
