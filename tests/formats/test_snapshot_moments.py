"""What real snapshots are made of at many moments, beside a plain replay of their entries."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.readers import torch_snapshot
from tb_memory_plugin.views import breakdown

NAMES = ["small_train", "llm_training_user_metadata", "no_time_us", "oom_expandable_3gpu"]
GROUPINGS = ["stack", "category", "op", "module", "pool", "stream", "step", "annotation", "size"]
MOMENTS = 7

#: What is alive: bytes asked for and what the stack of birth says, by address.
Alive = dict[int, tuple[int, Any]]


def _said(frames: Any) -> Any:
    return tuple((f["name"], f["filename"], f["line"]) for f in frames or ()) or None


def _before(structure: dict[str, Any], device: int) -> Alive:
    """What the first entry finds: freed without a birth, or in the end state without an entry."""
    found: Alive = {}
    told: set[int] = set()
    for entry in structure["device_traces"][device]:
        if entry["action"] in ("alloc", "free_completed"):
            if entry["action"] == "free_completed" and entry["addr"] not in told:
                found[entry["addr"]] = (entry["size"], None)
            told.add(entry["addr"])
    for segment in structure["segments"]:
        address = segment["address"]
        for block in segment["blocks"] if segment["device"] == device else ():
            if block["state"] != "inactive" and address not in told:
                found[address] = (block["requested_size"], _said(block.get("frames")))
            address += block["size"]
    return found


def _replayed(structure: dict[str, Any], device: int) -> list[Alive]:
    """What is alive before the first entry, and after each."""
    alive = _before(structure, device)
    states = [dict(alive)]
    for entry in structure["device_traces"][device]:
        if entry["action"] == "alloc":
            alive[entry["addr"]] = (entry["size"], _said(entry.get("frames")))
        elif entry["action"] == "free_completed":
            del alive[entry["addr"]]
        states.append(dict(alive))
    return states


@pytest.mark.parametrize("name", NAMES)
def test_every_moment_is_made_of_what_a_replay_has_alive(name: str, shared_data: Path) -> None:
    path = shared_data / "snapshots" / f"{name}.pickle"
    structure = pickle.loads(path.read_bytes())
    recording = derive(torch_snapshot.read(path))
    for device in recording.devices:
        states = _replayed(structure, int(device.key))
        for moment in range(MOMENTS):
            at = moment * (len(states) - 1) // (MOMENTS - 1)
            alive = list(states[at].values())
            by_stack = {said: [0, 0] for _, said in alive}
            for size, said in alive:
                by_stack[said][0] += size
                by_stack[said][1] += 1
            for by in GROUPINGS:
                page = breakdown.page(recording, device, at=str(at - 1), by=by, limit=None)
                groups = [[group["bytes"], group["count"]] for group in page["groups"]]
                assert page["total_bytes"] == sum(size for size, _ in alive)
                assert sum(count for _, count in groups) == len(alive)
                assert sum(size for size, _ in groups) == page["total_bytes"]
                if by == "stack":
                    assert sorted(groups) == sorted(by_stack.values())
