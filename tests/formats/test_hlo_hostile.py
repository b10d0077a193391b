"""Damaged and hostile modules: a recording that holds together or one sentence, nothing else."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import hlo
from tb_memory_plugin.recording.schema import MOST_MEMORY
from tests.fixtures.hlo import Module, heap, shape, tupled
from tests.fixtures.pprof import number, packed, part
from tests.formats.hlo_checking import check_plans
from tests.formats.hlo_reading import order, plan, problems, read, rows
from tests.formats.mutating import cut, damaged, is_read, sentence, tried


def whole() -> Module:
    """A module in which there is something of everything."""
    made = heap([64, 32, 16], "+1@i1 2=1@i2 -1@i2 +3@i3 -2@i3 -3@i3")
    frame = made.frame("f", "f.py", 3, made.frame("main", "f.py", 9))
    pair = tupled(shape("f32", 4, 2, order=(1, 0), tiles=[(8, 128)], space=1), shape("s32"))
    config = b'{"used_scoped_memory_configs":[{"memory_space":1,"size":"77"}]}'
    made.instruction("while", pair, calls=["body"], frame=frame, config=config, op="jit(f)/while")
    made.instruction("body.1", shape("f32", 8, dynamic=(True,)), into="body", source=("g.py", 4))
    made.buffer("while", 16)
    made.buffer("while", 32, index=(0,), space=1)
    made.allocation(32, {5: 0}, space=1, kinds=["output"])
    made.allocation(16, {4: 0}, parameter=0, parameter_index=(0,))
    return made.trace("+5@while -5@while", of=1)


def refused(folder: Path, module: Module | bytes) -> str:
    """The sentence that a module is refused with."""
    with pytest.raises(SourceError) as caught:
        read(folder, module)
    return sentence(caught.value, "jit_f.hlo_proto.pb")


def changed(change: Callable[[Module], object]) -> Module:
    made = whole()
    change(made)
    return made


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda made: made.buffer("i1", 8, id=1), "two of its buffers have the id 1"),
        (lambda made: made.instruction("again", id=1), "two of its instructions have the id 1"),
        (lambda made: made.buffer("i1", -1), "the size of buffer 6 is out of range (-1)"),
        (lambda made: made.buffer("i1", 1 << 62), "the size of buffer 6 is out of range"),
        (lambda made: made.allocation(-4), "the size of allocation 3 is out of range (-4)"),
        (lambda made: made.buffer("i1", 8, space=-2), "there is no memory space -2"),
        (lambda made: made.allocation(8, space=1 << 40), "there is no memory space 1099511627776"),
        (
            lambda made: [made.buffer("i1", MOST_MEMORY - 1) for _ in range(20)],
            "its buffers are larger together than any memory",
        ),
        (
            lambda made: [made.allocation(MOST_MEMORY - 1) for _ in range(20)],
            "its allocations are larger together than any memory",
        ),
        (
            lambda made: [
                made.buffer(made.instruction(f"x{at}", shape("pred", MOST_MEMORY - 1)), 1)
                for at in range(20)
            ],
            "its buffers are larger together than any memory",
        ),
        (
            lambda made: [made.allocation(8, space=space) for space in range(1_000)],
            "it names 1000 memory spaces",
        ),
        (lambda made: made.instruction("bad", b"\xff\xff"), "a shape of it is no protobuf"),
        (lambda made: made.buffers.append(b"\x08"), "it is no protobuf, was cut off"),
    ],
)
def test_what_cannot_be_is_refused(
    tmp_path: Path, change: Callable[[Module], object], fault: str
) -> None:
    assert fault in refused(tmp_path, changed(change))


def nested(levels: int, message: Callable[[bytes], bytes], inmost: bytes) -> bytes:
    for _ in range(levels):
        inmost = message(inmost)
    return inmost


@pytest.mark.parametrize("levels", [70, 99, 200, 20_000])
def test_tuples_that_are_nested_too_deep(tmp_path: Path, levels: int) -> None:
    made = Module()
    made.instruction("deep", nested(levels, tupled, shape("f32", 2)))
    said = refused(tmp_path, made)
    assert "a shape of it is n" in said or "it is no protobuf" in said


def test_tuples_that_are_nested_ever_deeper(tmp_path: Path) -> None:
    made, inner = Module(), shape("f32", 2)
    for level in range(800):
        inner = tupled(inner)
        made.instruction(f"i{level}", inner)
    found = rows(read(tmp_path, made), "instructions", "shape", "bytes")
    assert found[1] == ("((f32[2]))", 8) and found[-1][1] == 8


def test_groups_one_in_the_other(tmp_path: Path) -> None:
    refused(tmp_path, whole().bytes() + b"\x7b" * 100_000 + b"\x7c" * 100_000)


def test_dimensions_that_are_too_large_to_multiply(tmp_path: Path) -> None:
    made = Module()
    made.instruction("x", shape("f32", *[(1 << 63) - 1] * 50_000))
    (found,) = rows(read(tmp_path, made), "instructions", "shape", "bytes")
    assert len(found[0]) == 500 and found[1] is None


def test_a_computation_that_is_called_again_and_again(tmp_path: Path) -> None:
    made, times = Module(), 20_000
    for place in range(times):
        made.instruction(f"b{place}", into="body")
    made.instruction("call", calls=["body"] * times)
    found = order(read(tmp_path, made))
    assert (len(found), found[-1]) == (times + 1, "call")


@pytest.mark.parametrize(
    "many",
    [
        part(3, part(1, b"") * 300_000),  # buffers
        part(3, part(3, b"") * 300_000),  # allocations
        part(3, part(4, b"") * 300_000),  # traces
        part(3, part(4, part(1, b"") * 300_000)),  # events of a buffer that is not there
        part(3, part(1, number(1, 0)) + part(4, part(1, b"") * 200_000)),
        part(3, part(3, part(9, b"") * 300_000)),  # places
        part(1, part(3, part(2, b"") * 300_000)),  # instructions
        part(1, part(3, b"") * 300_000),  # computations
        part(1, part(7, part(1, b"") * 300_000)),  # sequences
        part(1, part(7, part(1, part(2, packed(1, [1] * 300_000))))),
        part(1, part(17, part(4, b"") * 300_000)),  # frames
        part(1, part(3, part(2, part(3, part(4, b"") * 300_000)))),  # parts of a shape
        part(1, part(3, part(2, packed(36, [0] * 300_000)))),  # operands
    ],
)
def test_millions_of_nothing_take_memory_in_proportion(tmp_path: Path, many: bytes) -> None:
    assert len(many) < 4 << 20
    path = tmp_path / "jit_f.hlo_proto.pb"
    path.write_bytes(part(1, part(1, b"jit_f")) + many)
    is_read(hlo.read, path, check_plans)


def each_its_own(count: int, *, traced: bool) -> bytes:
    """Buffers of a byte, each in an allocation of its own, taken and given back in turn."""
    made = [part(1, number(1, id) + number(2, 1)) for id in range(count)]
    made += [part(3, number(1, id) + number(2, 1) + part(9, number(1, id))) for id in range(count)]
    moves = (number(1, kind) + number(2, id) for id in range(count) for kind in (0, 1))
    if traced:
        made.append(part(4, b"".join(part(1, move) for move in moves)))
    return part(1, part(1, b"jit_f")) + part(3, b"".join(made))


def test_many_allocations_of_a_byte_without_a_trace(tmp_path: Path) -> None:
    count = 60_000
    recording = read(tmp_path, each_its_own(count, traced=False))
    check_plans(recording)
    found = plan(recording)
    assert (found["untraced"], found["peak"], found["total"]) == (count, count, count)
    said = problems(recording)
    assert len(said) == 5  # of shapes that are not known, three allocations, and the others
    assert said[-1] == f"{count - 3} more temporary allocations, {count - 3} bytes, have none."


def test_many_allocations_of_a_byte_in_one_trace(tmp_path: Path) -> None:
    count = 30_000
    recording = read(tmp_path, each_its_own(count, traced=True))
    check_plans(recording)
    found = plan(recording)
    assert (found["peak"], found["total"], found["fragmentation"]) == (1, count, 0)
    assert found["events"] == 2 * count
    assert problems(recording)[-1] == (
        f"Heap trace 0 is of {count} allocations: they are shown together."
    )


def test_many_traces_of_several_allocations_are_counted(tmp_path: Path) -> None:
    made = heap([1] * 10, "")
    made.allocations = []
    for id in range(1, 11):
        made.allocation(1, {id: 0})
    for first in (1, 3, 5, 7, 9):
        made.trace(f"+{first} +{first + 1} -{first} -{first + 1}")
    assert problems(read(tmp_path, made)) == [
        *(
            f"Heap trace {trace} is of 2 allocations: they are shown together."
            for trace in range(3)
        ),
        "2 more heap traces are of several allocations.",
    ]


def test_a_gzip_bomb(tmp_path: Path) -> None:
    path = tmp_path / "jit_f.hlo_proto.pb"
    path.write_bytes(gzip.compress(b"\0" * (8 << 20), mtime=0))
    with pytest.raises(SourceError, match="unpacks to more than 1 MiB"):
        hlo.read(path, limit=1 << 20)
    path.write_bytes(b"\0" * (2 << 20))
    with pytest.raises(SourceError, match="is larger than 1 MiB"):
        hlo.read(path, limit=1 << 20)


def test_every_truncation(tmp_path: Path) -> None:
    data = whole().bytes()
    read_, refused_ = tried(
        hlo.read, tmp_path / "a.hlo_proto.pb", cut(data, len(data)), check_plans
    )
    # Between its two parts it is a module without a plan.
    assert (read_, refused_) == (1, len(data) - 1)


@pytest.mark.parametrize("name", ["jit_generate", "jit_train_step"])
def test_truncated_real_modules(shared_data: Path, tmp_path: Path, name: str) -> None:
    data = (shared_data / "xla" / f"{name}.hlo_proto.pb").read_bytes()
    found = tried(hlo.read, tmp_path / "a.hlo_proto.pb", cut(data, 150), check_plans)
    assert found[0] <= 1 and found[1] > 149


@pytest.mark.parametrize("seed", range(4))
def test_mutations(tmp_path: Path, seed: int) -> None:
    luck, data = random.Random(seed), whole().bytes()
    files = [damaged(data, luck) for _ in range(250)]
    found = tried(hlo.read, tmp_path / "a.hlo_proto.pb", files, check_plans)
    assert min(found) > 10, found


@pytest.mark.parametrize("seed", range(2))
def test_mutated_real_modules(shared_data: Path, tmp_path: Path, seed: int) -> None:
    luck = random.Random(seed)
    data = (shared_data / "xla" / "jit_generate.hlo_proto.pb").read_bytes()
    files = [damaged(data, luck) for _ in range(120)]
    found = tried(hlo.read, tmp_path / "a.hlo_proto.pb", files, check_plans)
    assert min(found) > 5, found
