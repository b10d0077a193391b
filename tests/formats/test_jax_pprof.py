"""JAX device memory profiles: real ones against a plain decoder, made ones against known values."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis import grouping
from tb_memory_plugin.analysis.breakdown import breakdown
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.api import load
from tb_memory_plugin.cli import main
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.readers import jax_pprof
from tb_memory_plugin.readers.registry import READERS, reader_of
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording, save
from tb_memory_plugin.views.flame import page
from tb_memory_plugin.views.summary import summary
from tb_memory_plugin.views.tile.window import tile
from tests.conftest import SHARED_DATA
from tests.fixtures import pprof

XLA = SHARED_DATA / "xla"
REAL = sorted(XLA.glob("*.prof")) if XLA.is_dir() else []
UNSIZED = {"jax_tpu8_device_memory.prof": 149}

real = pytest.mark.skipif(not REAL, reason="the shared real files (../shared/data) are not here")
each_real = pytest.mark.parametrize("path", REAL or [None], ids=[p.name for p in REAL] or ["none"])


def written(folder: Path, made: pprof.Writer, name: str = "memory.prof") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(made.bytes(), mtime=0))
    return path


def where(sample: pprof.Read) -> str:
    """The key of the device that a sample belongs to."""
    named, kind = sample.labels.get("device", ""), sample.labels["kind"]
    return named if kind == "buffer" else f"{named} {kind}s".strip()


def stacks(recording: Recording) -> list[tuple[pprof.Frame, ...]]:
    frames = recording.table("frames").to_pylist()
    named = [(frame["function"], frame["file"], frame["line"]) for frame in frames]
    lists = recording.table("stacks").column("frames").to_pylist()
    return [tuple(named[row] for row in rows) for rows in lists]


def by_stack(recording: Recording, device: Device) -> dict[Any, tuple[int, int]]:
    """Count and bytes that the breakdown by stack has for every content of a stack."""
    groups = grouping.group_ids(recording, device, "stack")
    found = breakdown(recording, device, -1, groups)
    known = stacks(recording)
    rows = recording.values("allocations", "birth_stack", device)
    result: dict[Any, tuple[int, int]] = {}
    for place, count, total in zip(found.oldest, found.count, found.bytes, strict=True):
        row = int(rows[place])
        key = known[row] if row >= 0 else ()
        assert key not in result
        result[key] = (int(count), int(total))
    return result


@real
@each_real
def test_totals_of_a_real_profile_are_exact(path: Path) -> None:
    expected: dict[str, dict[Any, list[int]]] = {}
    for sample in pprof.read(path.read_bytes()):
        sums = expected.setdefault(where(sample), {}).setdefault(sample.frames, [0, 0])
        sums[0] += sample.count
        sums[1] += max(sample.bytes, 0)  # executables of a TPU have "-1" bytes

    recording = derive(jax_pprof.read(path))

    assert {device.key for device in recording.devices} == set(expected)
    for device in recording.devices:
        whole = {key: tuple(sums) for key, sums in expected[device.key].items()}
        assert by_stack(recording, device) == whole
        assert recording.values("usage", "allocated", device).tolist() == [
            sum(total for _, total in whole.values())
        ]


@real
@each_real
def test_single_buffers_of_a_real_profile_have_their_own_size(path: Path) -> None:
    expected: Counter[tuple[str, int, Any]] = Counter()
    for sample in pprof.read(path.read_bytes()):
        size, left = divmod(max(sample.bytes, 0), sample.count)
        assert left == 0  # JAX gives every size a sample of its own
        expected[where(sample), size, sample.frames] += sample.count

    recording = derive(jax_pprof.read(path))

    known = stacks(recording)
    found: Counter[tuple[str, int, Any]] = Counter()
    for device in recording.devices:
        sizes = recording.values("allocations", "size", device).tolist()
        rows = recording.values("allocations", "birth_stack", device).tolist()
        found.update((device.key, s, known[row]) for s, row in zip(sizes, rows, strict=True))
    assert found == expected
    assert recording.meta["problems"] == []


@real
@each_real
def test_a_real_profile_says_what_it_lacks(path: Path) -> None:
    lacks = {one["what"]: one["why"] for one in jax_pprof.read(path).meta["missing"]}

    assert "has no timeline" in lacks["history"]
    assert "addresses" in lacks
    count = UNSIZED.get(path.name)
    assert ("sizes of executables" in lacks) == (count is not None)
    if count is not None:
        assert f"{count} of the executables" in lacks["sizes of executables"]


@real
def test_devices_are_in_the_order_of_their_numbers() -> None:
    devices = jax_pprof.read(XLA / "jax_tpu8_device_memory.prof").meta["devices"]

    names = [device["name"] for device in devices]
    assert [name.partition("(")[0] for name in names[:8]] == [f"TPU_{n}" for n in range(8)]
    assert names[8:] == ["executables"]
    assert (devices[3]["type"], devices[3]["ordinal"]) == ("tpu", 3)


@real
@each_real
def test_the_flame_graph_of_a_real_profile_weighs_all_of_it(path: Path) -> None:
    recording = derive(jax_pprof.read(path))
    total: Counter[str] = Counter()
    for sample in pprof.read(path.read_bytes()):
        total[where(sample)] += max(sample.bytes, 0)

    for device in recording.devices:
        answer = page(recording, device, of="alive", folded=False)
        assert answer["total"] == total[device.key]
        assert answer["nodes"]["value"][0] == total[device.key]


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


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("memory.prof", b"", "jax_pprof"),
        ("device_memory_7.pprof.gz", b"", "jax_pprof"),
        ("cpu.prof", b"", None),
        ("anything", pprof.small().bytes(), "jax_pprof"),
        ("anything.pb.gz", gzip.compress(pprof.small().bytes(), mtime=0), "jax_pprof"),
        ("nothing.prof", pprof.Writer().bytes(), "jax_pprof"),
        ("cut.prof", pprof.small().bytes()[:60], "jax_pprof"),
        ("damaged.prof", b"\x1f\x8bxxxxxxxxxxxxx", "jax_pprof"),
        ("damaged.gz", b"\x1f\x8bxxxxxxxxxxxxx", None),
        # What Python's own profiler writes, and what Go's does: neither has labels of text.
        ("python.prof", b"{(\xda\x01~r\x00\x00\x00\x00", None),
        ("memory.prof", b"{(\xda\x01~r\x00\x00\x00\x00", None),
    ],
)
def test_what_is_recognised(name: str, data: bytes, expected: str | None) -> None:
    found = reader_of(name, data[: 1 << 16])

    assert (None if found is None else found.FORMAT) == expected


def test_profiles_of_other_things_are_not_ours() -> None:
    time = pprof.Writer(types=(("samples", "count"), ("cpu", "nanoseconds")))
    time.sample([1, 10_000_000], [time.location(("main", "main.go", 3))])

    assert reader_of("cpu.prof", time.bytes()) is None


@real
def test_no_other_real_file_is_claimed() -> None:
    others = [path for path in SHARED_DATA.rglob("*") if path.is_file() and path.suffix != ".prof"]
    assert len(others) > 20
    for path in others:
        with path.open("rb") as file:
            head = file.read(1 << 16)
        assert not jax_pprof.matches(path.name, head), path.name
    assert jax_pprof in READERS
