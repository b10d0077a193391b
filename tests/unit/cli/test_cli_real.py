"""``tb-memory`` on snapshots from real GPUs, beside what an independent replay of them found."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.compute as compute
import pyarrow.parquet as parquet
import pytest

from tb_memory_plugin.cli import main
from tests.conftest import SHARED_DATA

Capture = pytest.CaptureFixture[str]

SNAPSHOTS = SHARED_DATA / "snapshots"
FACTS: dict[str, Any] = (
    json.loads((SNAPSHOTS / "facts.json").read_text()) if SNAPSHOTS.is_dir() else {}
)
#: What stands for allocations without a stack in folded stacks.
UNKNOWN = ("before the window", "no stack recorded")


@pytest.mark.skipif(not FACTS, reason="the real recordings (../shared/data) are not here")
@pytest.mark.parametrize("name", sorted(FACTS) or ["none"])
def test_every_command_says_what_a_replay_found(name: str, tmp_path: Path, capsys: Capture) -> None:
    def said(command: str, *arguments: object) -> str:
        assert main([command, str(SNAPSHOTS / name), *map(str, arguments)]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out

    said("export", "-o", tmp_path)
    allocations = parquet.read_table(tmp_path / "allocations.parquet")
    about = json.loads((tmp_path / "meta.json").read_text())["meta"]
    keys = [device["key"] for device in about["devices"]]
    for key, facts in FACTS[name]["devices"].items():
        of = ("--device", key)
        last = facts["events"] - 1
        state = json.loads(said("segments", *of, "--at", f"event:{last}", "--json"))
        assert (state["reserved"], state["allocated"]) == (
            facts["reserved_end"],
            facts["allocated_end"],
        )
        assert state["pending"] == 0 or facts["pending_free_blocks"]
        held = [each["key"] for each in state["pools"]]
        pools = {pool for pool, _, _ in (each.rpartition("@") for each in held)}
        assert pools == {",".join(map(str, pool)) for pool in facts["pools"]}
        assert (
            len({stream for _, _, stream in (each.rpartition("@") for each in held)})
            == (facts["streams"])
        )
        history = json.loads(said("events", *of, "--limit", 1, "--json"))
        assert history["count"] == history["events"] == facts["events"]
        check_flame(said("flame", *of), facts)
        rows = allocations.filter(compute.equal(allocations["device"], keys.index(key)))
        check_lives(rows.select(["birth", "death", "requested"]).to_pylist(), facts)


def check_flame(folded: str, facts: dict[str, Any]) -> None:
    """That the peak is made of the stacks that it is."""
    weights: Counter[str] = Counter()
    for line in folded.splitlines():
        stack, _, size = line.rpartition(" ")
        weights["" if stack in UNKNOWN else stack] += int(size)
    assert weights.total() == facts["allocated_peak"]
    largest = [size for _, size in weights.most_common(5)]
    assert largest == facts["peak_bytes_by_stack_top5"]


def check_lives(lives: list[dict[str, Any]], facts: dict[str, Any]) -> None:
    """That those alive before the first event, at the peak and at the end are as many bytes."""

    def alive(event: int) -> list[int]:
        return [
            life["requested"]
            for life in lives
            if (life["birth"] is None or life["birth"] <= event)
            and (life["death"] is None or life["death"] > event)
        ]

    assert sum(alive(-1)) == facts["allocated_start"]
    assert sum(alive(facts["allocated_peak_event"])) == facts["allocated_peak"]
    assert sum(alive(facts["events"] - 1)) == facts["allocated_end"]
    assert len(alive(facts["events"] - 1)) == facts["live_blocks_end"]
