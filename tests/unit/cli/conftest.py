"""Sources for the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_memory_plugin.recording.recording import save
from tests.fixtures.training import training


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The recording of ``tests.fixtures.training`` as a file."""
    path = tmp_path / "train.tbmem"
    save(training().only_recorded(), path, compress=True)
    return path
