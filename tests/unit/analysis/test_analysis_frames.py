"""Which frames are the user's own, and what frames are called."""

from __future__ import annotations

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.frames import frame_labels, frames_of
from tb_memory_plugin.analysis.telling import is_library
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


@pytest.mark.parametrize(
    ("frame", "label"),
    [
        (("forward", "/a/m.py", 8), "forward · m.py:8"),
        (("f", "C:\\a\\m.py", 8), "f · m.py:8"),
        (("at::mm(at::Tensor)", "??", 0), "at::mm"),
        (("void at::f<at::g<int> >(X)", "", 0), "at::f"),
        (("(anonymous namespace)::f()", "", 0), "f"),
        (("<lambda>", "a.py", 1), "<lambda> · a.py:1"),
        (("a" * 80, "", 0), "a" * 59 + "…"),
        (("f", "x.cpp", 0), "f · x.cpp"),
        (("", "", 0), "?"),
    ],
)
def test_frames_are_called_by_function_and_place(frame: tuple[str, str, int], label: str) -> None:
    assert frame_labels(derive(history(stacks=[[frame]])), [-1, 0]) == {0: label}


def test_frames_are_told_as_they_are() -> None:
    recording = derive(history(stacks=[[("f", "train.py", 3), ("g", "/x/torch/nn/a.py", 4)], []]))
    assert frames_of(recording, -1) is None
    assert frames_of(recording, 1) == []
    assert frames_of(recording, 0) == [
        {"function": "f", "file": "train.py", "line": 3, "library": False},
        {"function": "g", "file": "/x/torch/nn/a.py", "line": 4, "library": True},
    ]
