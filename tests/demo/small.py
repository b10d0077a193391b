"""The demo's two runs, smaller than ``make demo`` makes them, made once for all tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.sharing import made_once

STEPS = 5
GPU_MIB = 18  # enough for the fixed run, not for the leaky one


def small_runs(factory: pytest.TempPathFactory) -> Path:
    """A folder with ``leaky`` and ``fixed``; nobody may change what is in it."""

    def train(logdir: Path) -> None:
        command = [sys.executable, str(REPOSITORY / "demo" / "train.py"), "--logdir", str(logdir)]
        small = ["--steps", str(STEPS), "--batch-size", "8", "--gpu-mib", str(GPU_MIB)]
        subprocess.run([*command, *small], check=True)

    return made_once(factory, "demo", train)
