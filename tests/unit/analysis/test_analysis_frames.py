"""Which frames are the user's own, and what stacks are called."""

from __future__ import annotations

import pytest

from tb_memory_plugin.analysis.frames import frame_label, is_library, stack_labels
from tests.fixtures.histories import history

OWN = [
    "/home/user/project/train/models.py",
    "/home/user/project/transformers/activations.py",
    "/home/user/project/lib/select_n.py",
    "/home/me/torch/train.py",
    "train.py",
    "C:\\research\\cezo_fl\\client.py",
    "/tmp/ipykernel/3105878423.py",
    "<ipython-input-3-abc>",
    "<stdin>",
]
LIBRARY = [
    "/opt/env/lib/python3/site-packages/torch/nn/functional.py",
    "/usr/lib/python3/dist-packages/numpy/core.py",
    "/opt/env/lib/python3.11/runpy.py",
    "/usr/lib64/python3.9/threading.py",
    "C:\\me\\.venv\\lib\\site-packages\\torch\\_tensor.py",
    "C:\\uv\\python\\cpython-3.10.19-windows-x86_64-none\\lib\\copy.py",
    "/src/pytorch/torch/nn/modules/module.py",
    "torch/optim/adam.py",
    "/tmp/torchinductor_user/l4/cl4iff.py",
    "<eval_with_key>.5",
    "<frozen importlib._bootstrap>",
    "CUDACachingAllocator.cpp",
    "/src/python-3.10.14/Python/ceval.c",
    "??",
    "",
]


@pytest.mark.parametrize("file", OWN)
def test_own(file: str) -> None:
    assert not is_library(file)


@pytest.mark.parametrize("file", LIBRARY)
def test_library(file: str) -> None:
    assert is_library(file)


def test_frames_are_called_by_function_and_place() -> None:
    assert frame_label({"function": "forward", "file": "/a/m.py", "line": 8}) == "forward · m.py:8"
    assert frame_label({"function": "f", "file": "C:\\a\\m.py", "line": 8}) == "f · m.py:8"
    assert frame_label({"function": "at::mm(at::Tensor)", "file": "??", "line": 0}) == "at::mm"
    assert frame_label({"function": "a" * 80, "file": "", "line": 0}) == "a" * 59 + "…"
    assert frame_label({"function": "f", "file": "x.cpp", "line": 0}) == "f · x.cpp"
    assert frame_label({"function": None, "file": None, "line": None}) == "?"


LIB = "/env/lib/python3.11/site-packages/torch/functional.py"


@pytest.mark.parametrize(
    ("stacks", "labels"),
    [
        ([[("mm", LIB, 1), ("f", "a.py", 2), ("g", "a.py", 3)]], ["f · a.py:2"]),
        ([[("mm", LIB, 1), ("c", "x.cpp", 2)]], ["mm · functional.py:1"]),
        (
            [[("f", "a.py", 2), ("g", "a.py", 3)], [("f", "a.py", 2), ("g", "a.py", 4)]],
            ["f · a.py:2 ← g · a.py:3", "f · a.py:2 ← g · a.py:4"],
        ),
        (
            [[("mm", LIB, 1), ("f", "a.py", 2)], [("add", LIB, 5), ("f", "a.py", 2)]],
            ["f · a.py:2 → mm · functional.py:1", "f · a.py:2 → add · functional.py:5"],
        ),
        (
            [
                [("at::mm", "", 0), ("mm", LIB, 1), ("f", "a.py", 2)],
                [("at::add", "", 0), ("mm", LIB, 1), ("f", "a.py", 2)],
            ],
            ["f · a.py:2 → at::mm", "f · a.py:2 → at::add"],
        ),
        ([[("f", "a.py", 2)], [("f", "a.py", 2)]], ["f · a.py:2", "f · a.py:2"]),
        (
            [[("f", "a.py", 2)], [("mm", LIB, 1), ("f", "a.py", 2)]],
            ["f · a.py:2", "f · a.py:2 → mm · functional.py:1"],
        ),
        (
            [[("x::unwind()", "", 0), ("torch::autograd::generated::MmBackward0::apply(", "", 0)]],
            ["MmBackward0"],
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
    recording = history(stacks=[*stacks, [("last", "b.py", 1)]])
    interned = [stacks.index(stack) for stack in stacks]
    assert stack_labels(recording, interned) == labels


def test_long_lists_are_called_by_their_innermost_own_frames() -> None:
    recording = history(
        stacks=[[("mm", LIB, 1), (f"f{n}", "a.py", n)] for n in range(600)] + [[("c", "", 0)], []]
    )
    labels = stack_labels(recording, list(range(602)))
    assert labels[17] == "f17 · a.py:17"
    assert labels[600:] == ["c", "stack without frames"]
