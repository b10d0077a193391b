"""Advice: given where a plan shows it, with its bytes and buffers, and nowhere else."""

from __future__ import annotations

from pathlib import Path

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.plan_advice import Advice, advice
from tests.fixtures.hlo import Module, shape
from tests.formats.hlo_reading import problems, read, rows

MIB = 1 << 20


def given(folder: Path, module: Module) -> dict[str, Advice]:
    recording = read(folder, module)
    (plan,) = reading.all_plans(recording)
    return {each.kind: each for each in advice(recording, plan)}


def chained(trace: str) -> Module:
    """Four instructions, each of the one before, of 4 MiB; the third is computed anew."""
    module = Module()
    floats = shape("f32", MIB, order=[0])
    before: list[int] = []
    names = ("a", "b", "c.remat2", "d")
    for name in names:
        before = [module.instruction(name, floats, operands=before)]
    made = {module.buffer(name, 4 * MIB): 4 * MIB * at for at, name in enumerate(names)}
    module.sequences["main"] = [module.ids[name] for name in names]
    module.allocation(16 * MIB, made)
    return module.trace(trace)


def test_what_is_held_after_its_last_use_and_what_is_computed_anew(tmp_path: Path) -> None:
    # The first is used by the second for the last time, and freed when the fourth is there.
    late = chained("+1@a +2@b +3@c.remat2 -2@b +4@d -1@a -3@c.remat2 -4@d")
    found = given(tmp_path, late)
    assert set(found) == {"outliving", "rematerialised"}
    assert found["outliving"].bytes == 4 * MIB
    assert found["outliving"].says == (
        "One buffer is held after the last instruction with a use for it"
    )
    lives = rows(read(tmp_path, late), "buffer_lives", "buffer")
    assert [lives[row] for row in found["outliving"].lives] == [0]
    assert found["rematerialised"].bytes == 4 * MIB
    assert found["rematerialised"].says.startswith("One buffer is computed anew")
    soon = chained("+1@a +2@b -1@a +3@c.remat2 -2@b +4@d -3@c.remat2 -4@d")
    assert set(given(tmp_path, soon)) == {"rematerialised"}


def test_padding_names_the_shape_that_avoids_it(tmp_path: Path) -> None:
    module = Module()
    module.instruction("narrow", shape("f32", 8192, 3, order=[1, 0], tiles=[(8, 128)]))
    module.instruction("wide", shape("f32", 1024, 1024, order=[1, 0], tiles=[(8, 128)]))
    narrow, wide = module.buffer("narrow", 4 * MIB), module.buffer("wide", 4 * MIB)
    module.allocation(8 * MIB, {narrow: 0, wide: 4 * MIB})
    (found,) = given(tmp_path, module.trace(f"+{narrow} +{wide} -{narrow} -{wide}")).values()
    assert (found.kind, found.bytes) == ("padding", 4 * MIB - 8192 * 3 * 4)
    assert found.says == "One buffer at the peak is padded to fill tiles"
    assert "dimension 1 is 3, and takes the room of 128" in found.cure


def test_arguments_of_the_shape_of_an_output_could_be_donated(tmp_path: Path) -> None:
    def module(output: int) -> Module:
        made = Module()
        for name, size in (("p", 2 * MIB), ("out", output)):
            made.instruction(name, shape("f32", size // 4, order=[0]))
        argument, result = made.buffer("p", 2 * MIB), made.buffer("out", output)
        made.allocation(2 * MIB, {argument: 0}, parameter=0)
        made.allocation(output, {result: 0}, kinds=["output"])
        return made

    assert given(tmp_path, module(2 * MIB))["donation"].bytes == 2 * MIB
    assert "donation" not in given(tmp_path, module(4 * MIB))
    # What holds no buffer has no shape, and is like nothing else.
    empty = Module()
    empty.instruction("p", shape("f32", 4))
    empty.allocation(2 * MIB, parameter=0)
    empty.allocation(2 * MIB, kinds=["output"])
    assert given(tmp_path, empty) == {}


def test_temporaries_without_a_trace_are_told_in_a_few_sentences(tmp_path: Path) -> None:
    module = Module()
    module.instruction("a", shape("f32", 1))
    for _ in range(50):
        module.allocation(8)
    told = problems(read(tmp_path, module))
    assert len(told) == 4
    assert told[-1] == "47 more temporary allocations, 376 bytes, have none."
