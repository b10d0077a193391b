"""Where the instruction that makes a buffer ran: spans of its name in runs of its program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.readers import hlo, xplane
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import plan_buffers


def real(shared_data: Path, name: str) -> Recording:
    return derive(xplane.read(shared_data / "xla" / f"{name}.xplane.pb"))


@pytest.mark.parametrize(
    ("name", "said", "least"),
    # Kernels of GPUs have names of their own.
    [("tpu_4device", "name", 12), ("jax_mi300_attention", "hlo_op", 20)],
    ids=["TPU", "GPU"],
)
def test_an_instruction_ran_where_the_trace_says_of_which_program_it_is(
    shared_data: Path, name: str, said: str, least: int
) -> None:
    recording = real(shared_data, name)
    spans = recording.table("spans").to_pylist()
    wanted: dict[tuple[str, str], list[int]] = {}
    for row, span in enumerate(spans):
        args = json.loads(span["args"] or "{}")
        if "program_id" in args and span["device"] is not None:
            key = span["name"] if said == "name" else args.get("hlo_op")
            wanted.setdefault((key, str(args["program_id"])), []).append(row)
    programs = recording.table("modules").column("program_id").to_pylist()
    told = 0
    for id in range(len(recording.table("buffer_lives"))):
        card = plan_buffers.card(recording, id)
        instruction = card["instruction"]
        if instruction is None:
            assert card["ran"] is None
            continue
        row = recording.values("instructions", "module")[int(instruction["row"])]
        of = wanted.get((instruction["name"], str(programs[row])), [])
        if not of:
            assert card["ran"] is None, instruction
            continue
        first = min(of, key=lambda each: spans[each]["begin"])
        ran = card["ran"]
        assert (ran["count"], ran["span"]["id"]) == (len(of), str(first))
        assert ran["device"] == recording.devices[spans[first]["device"]].key
        told += 1
    assert told >= least


def test_nothing_ran_where_there_are_no_spans(shared_data: Path) -> None:
    path = shared_data / "xla" / "jit_train_step.hlo_proto.pb"
    assert plan_buffers.card(derive(hlo.read(path)), 100)["ran"] is None
