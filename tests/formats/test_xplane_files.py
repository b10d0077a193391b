"""Files of XPlanes: which are ones, odd values, later versions, and damaged ones."""

from __future__ import annotations

import gzip
import itertools
import random
from pathlib import Path

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import xplane as reader
from tb_memory_plugin.readers.registry import reader_of
from tb_memory_plugin.readers.xplane_dtypes import dtype_name
from tests.fixtures.pprof import number, part
from tests.fixtures.xplane import Plane, full, small, space
from tests.formats.test_snapshot_fuzz import check
from tests.formats.test_xplane import Json, picked, read, refused, rows


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"allocation_bytes": -5}, "an allocation that it has -5 bytes"),
        ({"allocation_bytes": 1 << 62}, "an allocation that it has"),
        ({"bytes_allocated": -1}, "an allocator that it has -1 bytes"),
        ({"offset_ps": (1 << 63) - 1}, ""),
    ],
)
def test_impossible_values_are_refused(tmp_path: Path, change: Json, fault: str) -> None:
    host = Plane()
    offset = change.pop("offset_ps", 0)
    host.line(timestamp_ns=(1 << 62) if not fault else 0).alloc(offset, 0x100, 8, 8, **change)
    said = refused(tmp_path / "a.xplane.pb", space(host))
    assert (fault or "time stamps that are none") in said


def test_odd_values_are_kept_apart(tmp_path: Path) -> None:
    host = Plane()
    line = host.line(timestamp_ns=-50)
    odd = {"requested_bytes": -1, "peak_bytes_in_use": -1, "bytes_reserved": 1 << 61}
    line.alloc(0, (1 << 64) - 1, 8, 8, data_type=177, tf_op=b"\xff\xfe", **odd)
    line.alloc(1_000, 0x100, 8, 16, addr=None, data_type=101)
    recording = read(tmp_path, space(host))
    assert picked(recording, "allocations", "requested", "dtype", "op") == [
        (None, "data type 177", "\\xff\\xfe")
    ]
    assert picked(recording, "reported", "stack", "lifetime_peak")[0] == (None, None)
    assert rows(recording, "events")[0]["address"] == (1 << 64) - 1
    assert any("without an address" in problem for problem in recording.meta["problems"])
    assert [dtype_name(number) for number in (0, -3, 1, 19, 101)] == [
        "",
        "",
        "float",
        "half",
        "float_ref",
    ]


def test_a_profile_without_memory_says_how_to_record_it(tmp_path: Path) -> None:
    host = Plane()
    host.line().event("train", 0, 5, step_num=1)
    said = refused(tmp_path / "a.xplane.pb", space(host))
    assert "has no allocator events" in said and "host_tracer_level of 2" in said
    assert "TF_CPU_ALLOCATOR_USE_BFC=true" in said
    said = refused(tmp_path / "a.xplane.pb", space(Plane("/device:GPU:0")))
    assert "has no events of a host" in said


def test_fields_of_later_versions_are_passed_over(tmp_path: Path) -> None:
    host = Plane()
    host.line("worker").alloc(0, 0x100, 8, 8)
    plain = read(tmp_path, space(host))
    unknown = number(15, 7) + part(99, b"x") + b"\x85\x01\0\0\0\0" + b"\x89\x01" + bytes(8)
    (line,) = host.lines
    line.events = [event + unknown for event in line.events]
    stat = part(5, number(1, 77) + part(2, number(1, 77) + part(2, b"new_stat") + unknown))
    data = part(1, host.bytes() + stat + unknown) + unknown + part(2, b"an error")
    found = read(tmp_path, data)
    assert all(found.table(name).equals(plain.table(name)) for name in plain.tables)
    packed = tmp_path / "host.xplane.pb.gz"
    packed.write_bytes(gzip.compress(data))
    found = derive(reader.read(packed))
    assert all(found.table(name).equals(plain.table(name)) for name in plain.tables)
    assert found.meta["source"] == packed.name and found.meta["host"] == "host"
    assert "is not a valid XPlane" in refused(tmp_path / "a.xplane.pb", data + b"\x0b\x0c")


def test_what_a_text_conversion_ruined_is_told(tmp_path: Path) -> None:
    ruined = small().decode("utf-8", "replace").encode()
    assert "ruined by a conversion to text" in refused(tmp_path / "a.xplane.pb", ruined)


@pytest.mark.parametrize(
    ("name", "head", "is_ours"),
    [
        ("vm.xplane.pb", b"", True),
        ("vm.xplane.pb.gz", b"\x1f\x8b", True),
        ("VM.XPLANE.PB", b"anything", True),
        ("a.pb", small(), True),
        ("a.pb", small()[:40], True),
        ("a.bin", small(), False),
        ("saved_model.pb", b"\x08\x01\x12\x10abc", False),
        ("a.hlo_proto.pb", b"\x0a\x80\x01\x0a\x05jit_f", False),
    ],
)
def test_which_files_are_xplanes(name: str, head: bytes, is_ours: bool) -> None:
    assert reader.matches(name, head) == is_ours
    assert (reader_of(name, head) is reader) == is_ours


@pytest.mark.parametrize("whole", [small(), full()], ids=["small", "full"])
def test_every_truncation_is_refused_or_holds_together(tmp_path: Path, whole: bytes) -> None:
    path, kept = tmp_path / "a.xplane.pb", []
    for stop in range(1, len(whole)):
        path.write_bytes(whole[:stop])
        try:
            check(derive(reader.read(path)))
            kept.append(stop)
        except SourceError as error:
            assert "\n" not in str(error)
    ends = list(itertools.accumulate(map(len, split(whole))))
    assert len(kept) > 0 and set(kept) <= set(ends)  # whole planes


def split(data: bytes) -> list[bytes]:
    """A space as the bytes of every plane, and what follows them."""
    found = []
    while data.startswith(b"\n"):
        length = data[1] if data[1] < 0x80 else data[1] & 0x7F | data[2] << 7
        size = length + (2 if data[1] < 0x80 else 3)
        found.append(data[:size])
        data = data[size:]
    return [*found, data]


@pytest.mark.parametrize("whole", [small(), full()], ids=["small", "full"])
@pytest.mark.parametrize("seed", range(3))
def test_mutations(tmp_path: Path, seed: int, whole: bytes) -> None:
    chance = random.Random(seed)
    path, outcomes = tmp_path / "mutant.xplane.pb", {"read": 0, "refused": 0}
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 1, 2, 6))):
            place, kind = chance.randrange(len(data)), chance.randrange(4)
            if kind == 0:
                data[place] = chance.randrange(256)
            elif kind == 1:
                data[place] ^= 1 << chance.randrange(8)
            elif kind == 2:
                del data[place : place + chance.randrange(1, 9)]
            else:
                data[place:place] = chance.randbytes(chance.randrange(1, 9))
        path.write_bytes(data)
        reader.matches(path.name, bytes(data))
        try:
            recording = reader.read(path)
            check(recording)
            derive(recording)
            outcomes["read"] += 1
        except SourceError as error:
            assert path.name in str(error) and "\n" not in str(error) and len(str(error)) < 400
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 15, outcomes
