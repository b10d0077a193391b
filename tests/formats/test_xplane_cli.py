"""What the command line says of every real XPlane, against a slow walk of the file and by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin import cli
from tests.formats.xplane_reading import ANSWERS, XLA, Walked, alive, file_of, real, walk

pytestmark = real
each = pytest.mark.parametrize("answer", ANSWERS, ids=lambda path: path.name.partition(".")[0])
#: Counts of these are made up: what is allocated moves by other than the events say.
_MADE_UP = "xplane_"


def said(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert cli.main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def highest(events: list[Walked]) -> int:
    """The place of the first event after which most is allocated."""
    levels = [event.number("bytes_allocated") for event in events]
    return levels.index(max(levels))


@each
def test_info_has_the_numbers_of_every_allocator(
    answer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file_of(answer)
    found, walked = said(capsys, "info", str(path)), walk(path)
    assert (found["format"], found["basis"]) == ("xplane", "size")
    assert found["devices"].keys() == walked.keys()
    for key, events in walked.items():
        device, told = found["devices"][key], found["devices"][key]["allocator"]
        assert device["events"] == len(events)
        assert device["allocs"] == sum(event.born for event in events)
        assert device["frees"] == len(events) - device["allocs"]
        assert (
            device["time_span_us"]
            == (events[-1].time_ps // 1000 - events[0].time_ps // 1000) // 1000
        )
        both = [e.number("bytes_allocated") + e.number("bytes_reserved") for e in events]
        first = both.index(max(both))
        assert (told["peak"], told["event"]) == (both[first], first)
        assert told["heap"] == events[first].number("bytes_allocated")
        assert told["stack"] == events[first].number("bytes_reserved")
        assert told["free"] == events[first].number("bytes_available")
        assert told["lifetime_peak"] == max(e.number("peak_bytes_in_use") for e in events)
        if answer.name.startswith(_MADE_UP):
            continue
        moved = events[0].number("allocation_bytes") * (1 if events[0].born else -1)
        start = events[0].number("bytes_allocated") - moved
        peak = highest(events)
        if start < events[peak].number("bytes_allocated"):
            assert device["allocated_peak"] == events[peak].number("bytes_allocated")
            assert device["allocated_peak_event"] == peak
        assert device["allocated_end"] == events[-1].number("bytes_allocated")


@each
def test_peak_is_what_a_replay_finds_alive(
    answer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file_of(answer)
    for key, events in walk(path).items():
        peak = highest(events)
        found = said(
            capsys,
            *("peak", str(path), "--device", key, "--at", f"event:{peak}", "--by", "region"),
            *("--limit", "1000"),
        )
        expected: Counter[str] = Counter()
        for one in alive(events, peak):
            expected[str(one.stats.get("region_type") or "")] += one.number("allocation_bytes")
        groups = {group["key"]: group["bytes"] for group in found["groups"]}
        before = groups.pop("…before", 0)
        assert sum(groups.values()) == sum(expected.values())
        assert {name: groups[name] for name in expected if name} == {
            name: size for name, size in expected.items() if name
        }
        if not answer.name.startswith(_MADE_UP):
            assert found["total_bytes"] == events[peak].number("bytes_allocated")
            assert before == found["total_bytes"] - sum(expected.values())


#: Of every file its memory ids, allocations, frees and the peak of stack and heap together.
_BY_HAND = {
    "jax_mi300_attention.xplane.pb": {
        "GPU_0_bfc": (126, 126, 452_985_344),
        "xla_gpu_host_bfc": (18, 18, 256),
    },
    "tf2_gpu_worker.xplane.pb": {
        "GPU_1_bfc": (19, 0, 4_013_344_768),
        "GPU_4_bfc": (761, 208, 6_208_853_760),
        "GPU_6_bfc": (761, 208, 6_210_111_488),
        "gpu_host_bfc": (318, 218, 605_952),
    },
    "tpu_4device.xplane.pb": {
        "0": (117, 117, 21_492_569_216),
        "1": (112, 112, 21_492_671_104),
        "2": (112, 112, 21_492_671_104),
        "3": (112, 112, 21_492_569_216),
    },
    "tf_mlp_cpu_bfc.xplane.pb": {"bfc_cpu_allocator_for_gpu": (126, 120, 95_338_752)},
    "synthetic/xplane_a.pb": {"A": (2, 2, 8_388_608)},
    "synthetic/xplane_c.pb": {"A": (2_500, 0, 2_621_440_000)},
    "synthetic/xplane_e.pb": {"A": (2, 0, 4_194_304)},
}


@pytest.mark.parametrize("name", _BY_HAND)
def test_numbers_by_hand(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "info", str(XLA / name))["devices"]
    assert {
        key: (told["allocs"], told["frees"], told["allocator"]["peak"])
        for key, told in found.items()
    } == _BY_HAND[name]


def test_jax_on_a_gpu_by_function_and_by_call(capsys: pytest.CaptureFixture[str]) -> None:
    """The events name no operator, and XProf has none for them."""
    path = str(XLA / "jax_mi300_attention.xplane.pb")

    def sizes(by: str) -> dict[str, int]:
        found = said(capsys, "peak", path, "--device", "GPU_0_bfc", "--by", by)
        return {group["label"]: group["bytes"] >> 20 for group in found["groups"]}

    assert sizes("op") == {
        "PjitFunction(matmul)": 312,
        "PjitFunction(true_divide)": 64,
        "before the window": 40,
        "PjitFunction(add)": 16,
    }
    by_call = sizes("stack")
    assert by_call["attention · generate_attention_trace.py:21"] == 256
    assert by_call["transformer_block · generate_attention_trace.py:29"] == 56
    assert sum(by_call.values()) == 432


def test_what_is_refused_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for name, words in (
        ("corrupt_utf8.xplane.pb", "ruined by a conversion to text"),
        ("jax_transformer_cpu.xplane.pb", "JAX on a CPU never writes them"),
    ):
        for command in ("info", "peak"):
            if command == "info" and name.startswith("jax"):
                continue
            assert cli.main([command, str(XLA / name)]) != 0
            sentence = capsys.readouterr().err.strip()
            assert words in sentence and "\n" not in sentence and name in sentence


def test_every_real_file_is_looked_at() -> None:
    refused = {"corrupt_utf8.xplane.pb", "jax_transformer_cpu.xplane.pb"}
    there = {path.name for path in XLA.glob("*.xplane.pb")} | {
        path.name for path in (XLA / "synthetic").glob("xplane_*.pb")
    }
    assert there == {file_of(answer).name for answer in ANSWERS} | refused
    assert {Path(name).name for name in _BY_HAND} == there - refused
