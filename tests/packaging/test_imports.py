"""Importing the package costs nothing, and no process imports what it must not."""

from __future__ import annotations

import subprocess
import sys

import pytest


def modules_after(statement: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after ``statement``."""
    code = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


def test_the_package_itself_imports_nothing_heavy() -> None:
    heavy = {"numpy", "pyarrow", "tensorboard", "torch", "werkzeug"}
    assert not heavy & modules_after("import tb_memory_plugin")


@pytest.mark.parametrize("module", ["store.child", "readers.registry", "analysis.derive"])
def test_the_import_child_needs_no_tensorboard_and_no_torch(module: str) -> None:
    loaded = modules_after(f"import tb_memory_plugin.{module}")
    assert not {"tensorboard", "torch", "tensorflow", "jax"} & loaded


def test_the_recorder_needs_no_tensorboard_and_no_reader_at_start() -> None:
    code = "import tb_memory_plugin\ntb_memory_plugin.MemoryWriter"
    result = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = result.stdout.split()
    assert "tensorboard" not in loaded
    assert not any(name.startswith("tb_memory_plugin.readers") for name in loaded)


def test_the_loader_needs_only_the_standard_library_and_tensorboard() -> None:
    assert not {"numpy", "pyarrow"} & (
        modules_after("import tb_memory_plugin.loader")
        - modules_after("from tensorboard.plugins import base_plugin")
    )
