"""Modules in a profile: a bad one leaves the others alone, and is told."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.readers import xplane
from tests.fixtures.hlo import profile
from tests.fixtures.pprof import number, part
from tests.formats.hlo_checking import check_plans
from tests.formats.hlo_reading import read, rows
from tests.formats.mutating import damaged, tried
from tests.formats.test_hlo_hostile import changed, whole


def test_a_bad_module_in_a_profile_leaves_the_others_alone(tmp_path: Path) -> None:
    good, bad = whole().bytes(), changed(lambda made: made.buffer("i1", -1)).bytes()
    modules = {"jit_a(1)": good, "jit_b(2)": bad, "jit_c(3)": good[:-9], "jit_d(4)": good}
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(profile(modules))
    recording = derive(xplane.read(path))
    check_plans(recording)
    assert rows(recording, "modules", "program_id") == [1, 4]
    assert recording.meta["problems"] == [
        "The HLO module jit_b(2) is left out: the size of buffer 6 is out of range (-1).",
        "The HLO module jit_c(3) is left out: it is no protobuf, was cut off, or is still being "
        "written.",
    ]
    alone = read(tmp_path, good)
    for table in ("instructions", "buffers", "heap", "buffer_lives", "plan_events"):
        own, count = recording.table(table), len(alone.table(table))
        assert len(own) == 2 * count
        for column in ("name", "shape", "size", "unpadded", "kind", "birth", "death"):
            if column in own.schema.names:
                twice = 2 * alone.table(table).column(column).to_pylist()
                assert own.column(column).to_pylist() == twice, (table, column)


def test_a_module_that_is_no_message_leaves_the_others_alone(tmp_path: Path) -> None:
    good = profile({"jit_a(1)": whole().bytes()})
    plane = number(1, 9) + part(2, b"/host:metadata") + part(4, part(2, b"\x2a\x7f"))
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(good + part(1, plane))
    recording = derive(xplane.read(path))
    assert rows(recording, "modules", "program_id") == [1]
    assert recording.meta["problems"] == ["An HLO module is left out: it is cut off."]


def test_many_bad_modules_are_counted(tmp_path: Path) -> None:
    modules = {f"jit_{place}({place})": b"\xff" for place in range(100)}
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(profile({**modules, "jit_f(7)": whole().bytes()}))
    problems = derive(xplane.read(path)).meta["problems"]
    assert len(problems) == 21
    assert problems[-1] == "80 more HLO modules are left out for the like."


@pytest.mark.parametrize("seed", range(2))
def test_mutated_profiles(tmp_path: Path, seed: int) -> None:
    luck = random.Random(seed)
    data = profile({f"jit_{place}({place})": whole().bytes() for place in range(3)})
    files = [damaged(data, luck) for _ in range(200)]
    found = tried(xplane.read, tmp_path / "a.xplane.pb", files, check_plans)
    assert min(found) > 10, found
