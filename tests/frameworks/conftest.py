"""Runs of real frameworks, each made once, by a program in an interpreter that has the framework.

TensorFlow and JAX are in an environment of their own, which ``make frameworks`` makes; another
Python that has both can be named by ``TB_MEMORY_FRAMEWORKS``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin import cli
from tests.conftest import REPOSITORY
from tests.sharing import made_once

_PROGRAMS = Path(__file__).parent / "programs"
_HAS_BOTH = "import importlib.util as u; assert u.find_spec('tensorflow') and u.find_spec('jax')"
_OWN = REPOSITORY / ".venv-frameworks" / "bin" / "python"


@dataclass(frozen=True)
class Run:
    """The folder that a program filled, and what it printed."""

    folder: Path
    told: Any


def run(factory: pytest.TempPathFactory, python: str, program: str) -> Run:
    """What ``program`` leaves behind, the same for all workers."""

    def make(folder: Path) -> None:
        command = [python, str(_PROGRAMS / f"{program}.py"), str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        (folder / "told.json").write_text(done.stdout.splitlines()[-1])

    folder = made_once(factory, program, make)
    return Run(folder, json.loads((folder / "told.json").read_text()))


def said(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    """What ``tb-memory`` answers, as JSON."""
    assert cli.main([*map(str, words), "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return json.loads(printed.out)


@pytest.fixture(scope="session")
def frameworks() -> str:
    """A Python that has TensorFlow and JAX; without one the test is skipped."""
    python = os.environ.get("TB_MEMORY_FRAMEWORKS") or str(_OWN)
    if not Path(python).exists() or subprocess.run([python, "-c", _HAS_BOTH]).returncode:
        pytest.skip("no Python with TensorFlow and JAX here: make frameworks")
    return python


@pytest.fixture(scope="session")
def tensorflow_run(frameworks: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A profile of TensorFlow on the CPU's BFC allocator."""
    return run(tmp_path_factory, frameworks, "tensorflow_training")


@pytest.fixture(scope="session")
def jax_run(frameworks: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A device memory profile and a trace of JAX on the CPU."""
    return run(tmp_path_factory, frameworks, "jax_training")


@pytest.fixture(scope="session")
def jax_plans(frameworks: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """What the CPU's compiler plans for functions of JAX: by itself, dumped, in a trace."""
    return run(tmp_path_factory, frameworks, "jax_compiling")


@pytest.fixture(scope="session")
def torch_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A trace and memory timelines of PyTorch's profiler on the CPU."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed here")
    return run(tmp_path_factory, sys.executable, "torch_training")
