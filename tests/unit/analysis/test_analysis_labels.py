"""What stacks are called, alone and beside each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.grouping import group_ids
from tb_memory_plugin.analysis.labels import stack_labels
from tb_memory_plugin.analysis.naming import labels as named
from tb_memory_plugin.analysis.ranking import describe
from tb_memory_plugin.store.load import load_path
from tests.fixtures.histories import history

LIB = "/env/lib/python3.11/site-packages/torch/functional.py"


@pytest.mark.parametrize(
    ("stacks", "labels"),
    [
        ([[("mm", LIB, 1), ("f", "a.py", 2), ("g", "a.py", 3)]], ["f · a.py:2"]),
        ([[("mm", LIB, 1), ("c", "x.cpp", 2)]], ["mm · functional.py:1"]),
        (
            [[("f", "a.py", 2), ("g", "a.py", 3)], [("f", "a.py", 2), ("g", "a.py", 4)]],
            ["g · a.py:3 → f · a.py:2", "g · a.py:4 → f · a.py:2"],
        ),
        (
            [[("mm", LIB, 1), ("f", "a.py", 2)], [("add", LIB, 5), ("f", "a.py", 2)]],
            ["mm · functional.py:1 ← f · a.py:2", "add · functional.py:5 ← f · a.py:2"],
        ),
        (
            [
                [("at::mm", "", 0), ("mm", LIB, 1), ("f", "a.py", 2)],
                [("at::add", "", 0), ("mm", LIB, 1), ("f", "a.py", 2)],
            ],
            ["at::mm ← f · a.py:2", "at::add ← f · a.py:2"],
        ),
        ([[("f", "a.py", 2)], [("f", "a.py", 2)]], ["f · a.py:2", "f · a.py:2"]),
        (
            [[("f", "a.py", 2)], [("mm", LIB, 1), ("f", "a.py", 2)]],
            ["f · a.py:2", "mm · functional.py:1 ← f · a.py:2"],
        ),
        (
            [[("x::unwind()", "", 0), ("torch::autograd::generated::MmBackward0::apply(", "", 0)]],
            ["MmBackward0"],
        ),
        (  # no frame is in one stack only, so two are named
            [
                [("mm", LIB, 1), ("forward", LIB, 7), ("f", "a.py", 2)],
                [("mm", LIB, 1), ("forward", LIB, 8), ("f", "a.py", 2)],
                [("add", LIB, 5), ("forward", LIB, 7), ("f", "a.py", 2)],
                [("add", LIB, 5), ("forward", LIB, 8), ("f", "a.py", 2)],
            ],
            [
                "forward · functional.py:7 → mm · functional.py:1 ← f · a.py:2",
                "forward · functional.py:8 → mm · functional.py:1 ← f · a.py:2",
                "forward · functional.py:7 → add · functional.py:5 ← f · a.py:2",
                "forward · functional.py:8 → add · functional.py:5 ← f · a.py:2",
            ],
        ),
        (  # called again by itself, or in another folder: nothing to tell them apart by
            [[("f", "x/a.py", 2)], [("f", "x/a.py", 2), ("f", "x/a.py", 2)], [("f", "y/a.py", 2)]],
            ["f · a.py:2", "(2) f · a.py:2", "(3) f · a.py:2"],
        ),
        ([[("at::_ops::add::call(", "", 0)]], ["aten::add"]),
        ([[("c10::cuda::CachingAllocator::malloc", "", 0), ("my::kernel", "", 0)]], ["my::kernel"]),
        ([[("??", "??", 0)]], ["??"]),
        ([[]], ["stack without frames"]),
    ],
)
def test_stacks_are_called_by_what_is_the_user_s_own(
    stacks: list[list[tuple[str, str, int]]], labels: list[str]
) -> None:
    recording = derive(history(stacks=[*stacks, [("last", "b.py", 1)]]))
    interned = [stacks.index(stack) for stack in stacks]
    assert stack_labels(recording, interned) == labels


def test_long_lists_are_called_by_their_innermost_own_frames() -> None:
    recording = derive(
        history(
            stacks=[[("mm", LIB, 1), (f"f{n}", "a.py", n)] for n in range(600)]
            + [[("c", "", 0)], []]
        )
    )
    labels = stack_labels(recording, list(range(602)))
    assert labels[17] == "f17 · a.py:17"
    assert labels[600:] == ["c", "stack without frames"]


FRAMES = st.sampled_from(
    [("f", "a.py", 1), ("g", "a.py", 2), ("h", "b.py", 3), ("mm", LIB, 1), ("at::mm", "", 0)]
)


@given(st.lists(st.lists(FRAMES, max_size=5), min_size=1, max_size=8, unique_by=tuple))
def test_different_stacks_have_different_labels_that_begin_with_a_frame_of_theirs(
    stacks: list[list[tuple[str, str, int]]],
) -> None:
    labels = stack_labels(derive(history(stacks=stacks)), list(range(len(stacks))))
    assert len(set(labels)) == len(labels)
    for label, stack in zip(labels, stacks, strict=True):
        function = re.sub(r"^\(\d+\) ", "", label).split(" ")[0]
        assert function in {name for name, _, _ in stack} or (not stack and "without" in label)


@pytest.mark.parametrize(
    "name",
    ["no_time_us", "llm_fullstep", "llm_training_user_metadata", "oom_expandable_3gpu"],
)
def test_the_groups_of_real_snapshots_begin_differently(shared_data: Path, name: str) -> None:
    recording = load_path(shared_data / "snapshots" / f"{name}.pickle", cache=False)
    for device in recording.devices:
        labels = [group["label"] for group in describe(recording, device, "stack", "", 16)]
        assert len(set(labels)) == len(labels)
        beginnings = {re.split(" [←→] ", label)[0] for label in labels}
        assert len(beginnings) > 0.75 * len(labels)
        assert not any(label.startswith("<module>") for label in labels)


def test_sizes_that_read_the_same_are_told_to_the_byte() -> None:
    sizes = [16 << 20, (16 << 20) + 512, 3 << 20]
    recording = derive(history([("alloc", place << 30, size) for place, size in enumerate(sizes)]))
    device = recording.devices[0]
    groups = group_ids(recording, device, "size")
    told = dict(zip(groups.values.tolist(), named(recording, groups, [2, 3, 4]), strict=True))
    assert told == {3 << 20: "3.00 MiB", 16 << 20: "16 777 216 B", sizes[1]: "16 777 728 B"}
    # Where nothing beside it reads the same, figures are enough.
    assert named(recording, groups, [3]) == ["16.0 MiB"]
