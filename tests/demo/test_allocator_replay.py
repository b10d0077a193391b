"""The simulated allocator does what PyTorch's did in every real snapshot that has a history.

``REPLAYED`` and ``NOT_REPLAYED`` hold every device of every shared snapshot: what is replayed
agrees in every entry (action, address, size, stream, stack) and in the state at the end, what is
not says why. A snapshot that is added has to be put into one of them.
"""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from demo.allocator.sizes import (
    LARGE_SEGMENT,
    SMALL_LIMIT,
    SMALL_SEGMENT,
    UNIT,
    WHOLE_LIMIT,
    WHOLE_UNIT,
)
from demo.allocator.snapshot import segments
from tests.conftest import REPOSITORY, SHARED_DATA
from tests.demo.replaying import replay

pytestmark = pytest.mark.once

SNAPSHOTS = SHARED_DATA / "snapshots"
FACTS: dict[str, Any] = (
    json.loads((SNAPSHOTS / "facts.json").read_text()) if SNAPSHOTS.is_dir() else {}
)
ALL = [(name, int(device)) for name, facts in FACTS.items() for device in facts["devices"]]

START = "from the program's start"
REBUILT = "from a beginning worked out backwards: before the window something was allocated"
REPLAYED = {
    ("adam_small.pickle", 0): START,
    ("annotated_compile.pickle", 0): START,
    ("llm_2.7b_forward.pickle", 0): REBUILT,
    ("llm_fullstep.pickle", 0): REBUILT,
    ("llm_training_user_metadata.pickle", 0): REBUILT,
    ("many_snapshots.pickle", 0): REBUILT,
    ("no_time_us.pickle", 0): REBUILT,
    ("no_time_us_segments.pickle", 0): REBUILT,
    ("oom_expandable_3gpu.pickle", 0): START,
    ("oom_expandable_3gpu.pickle", 1): START,
    ("oom_expandable_3gpu.pickle", 2): START,
    ("small_train.pickle", 0): REBUILT,
}
NO_HISTORY = "no history was recorded"
ONE_ENTRY = "the history holds its last entry only"
NOT_REPLAYED = {
    ("bare_list_old.pickle", 1): NO_HISTORY,
    ("blocks_only.pickle", 0): NO_HISTORY,
    ("blocks_only_old.pickle", 0): NO_HISTORY,
    ("oom_nohistory.pickle", 0): ONE_ENTRY,
    ("private_pools_nohistory.pickle", 0): NO_HISTORY,
    ("two_gpus_wrapped.pickle", 0): ONE_ENTRY,
    ("two_gpus_wrapped.pickle", 1): ONE_ENTRY,
}
#: Replays that part from the recording: the entry where they do, and why. None does.
DIFFERENT: dict[tuple[str, int], tuple[int, str]] = {}

#: A row of the table in docs/architecture.md of what cannot be replayed.
ROW = re.compile(r"^\| `(\w[\w.]*\.pickle)` \| (\d+) \| ([^|]+) \|$", re.MULTILINE)

needs_data = pytest.mark.skipif(not FACTS, reason="the real files (../shared/data) are not here")


def loaded(name: str) -> dict[str, Any]:
    """A shared snapshot, in the form of newer ones."""
    with (SNAPSHOTS / name).open("rb") as file:
        made = pickle.load(file)
    return {"segments": made, "device_traces": []} if isinstance(made, list) else made


@needs_data
def test_every_device_of_every_snapshot_is_accounted_for() -> None:
    assert sorted([*REPLAYED, *NOT_REPLAYED]) == sorted(ALL)
    assert DIFFERENT.keys() <= REPLAYED.keys()
    for (name, device), why in NOT_REPLAYED.items():
        events = FACTS[name]["devices"][str(device)]["events"]
        assert events == (0 if why == NO_HISTORY else 1)
    for (name, device), begins in REPLAYED.items():
        before = FACTS[name]["devices"][str(device)]["blocks_before_window"]
        assert (before == 0) == (begins == START)


def test_the_documents_name_what_is_not_replayed_and_why() -> None:
    text = (REPOSITORY / "docs" / "architecture.md").read_text()
    _, _, section = text.partition("\n## The simulated allocator\n")
    section, _, _ = section.partition("\n## ")
    told = [((name, int(device)), why.strip()) for name, device, why in ROW.findall(section)]
    parted = {at: f"differs from entry {place} on: {why}" for at, (place, why) in DIFFERENT.items()}
    assert len(told) == len(dict(told))
    assert dict(told) == {**NOT_REPLAYED, **parted}
    words = " ".join(section.split())
    assert (len(REPLAYED) - len(DIFFERENT), "all twelve histories" in words) == (12, True)
    rebuilt = sum(begins == REBUILT for begins in REPLAYED.values())
    assert (rebuilt, "Seven of them begin in the middle" in words) == (7, True)


@needs_data
@pytest.mark.parametrize(("name", "device"), REPLAYED, ids=str)
def test_replaying_gives_what_was_recorded(name: str, device: int) -> None:
    made = loaded(name)

    done = replay(made, device)

    if (name, device) in DIFFERENT:
        assert done.difference is not None
        assert done.difference.place == DIFFERENT[name, device][0]
        return
    assert done.difference is None
    recorded = [segment for segment in made["segments"] if segment["device"] == device]
    simulated = segments(done.allocator, device)
    if REPLAYED[name, device] == START:
        assert simulated == recorded
    else:
        assert [*map(known, simulated)] == [*map(known, recorded)]


def known(segment: dict[str, Any]) -> dict[str, Any]:
    """What a replay from the middle can know of a segment.

    Not stacks from before the window, nor what a free block was last asked for.
    """
    blocks = [
        {
            key: value
            for key, value in block.items()
            if key != "frames" and (key, block["state"]) != ("requested_size", "inactive")
        }
        for block in segment["blocks"]
    ]
    left = {key: value for key, value in segment.items() if key != "frames"}
    return {**left, "blocks": blocks}


@needs_data
@pytest.mark.parametrize("action", ["segment_alloc", "alloc", "free_requested"])
@pytest.mark.parametrize("key", ["size", "stream", "frames"])
def test_a_recording_that_was_changed_is_noticed(action: str, key: str) -> None:
    made = loaded("adam_small.pickle")
    entries = made["device_traces"][0]
    place = next(n for n, entry in enumerate(entries) if entry["action"] == action)
    entries[place][key] = [] if key == "frames" else entries[place][key] + 4 * WHOLE_UNIT

    assert replay(made, 0).difference is not None


def states(name: str) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Segments of a snapshot with their blocks, each with an address."""
    for segment in loaded(name)["segments"]:
        address, blocks = segment["address"], []
        for block in segment["blocks"]:
            blocks.append({"address": address, **block})
            address += block["size"]
        yield segment, blocks


@needs_data
@pytest.mark.parametrize("name", sorted(FACTS))
def test_states_follow_the_rules_that_are_simulated(name: str) -> None:
    """Rounding, splitting and merging, also where there is no history to replay."""
    for segment, blocks in states(name):
        small, expandable = segment["segment_type"] == "small", segment.get("is_expandable", False)
        unit = LARGE_SEGMENT if expandable and not small else WHOLE_UNIT
        assert segment["total_size"] % unit == 0
        assert small == (segment["total_size"] == SMALL_SEGMENT) or expandable
        assert segment["total_size"] >= WHOLE_LIMIT or small or expandable
        assert sum(block["size"] for block in blocks) == segment["total_size"]
        for block in blocks:
            requested = block.get("requested_size")
            if block["state"] != "inactive" and requested is not None:
                rest = block["size"] - max(UNIT, -(-requested // UNIT) * UNIT)
                assert 0 <= rest <= (0 if small or expandable else SMALL_LIMIT)
        for left, right in pairwise(blocks):
            assert not left["state"] == right["state"] == "inactive"
