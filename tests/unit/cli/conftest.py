"""Sources for the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_memory_plugin.recording.recording import save
from tests.fixtures.training import training


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording of ``tests.fixtures.training`` as a file, which no test may change."""
    path = tmp_path_factory.mktemp("source") / "train.tbmem"
    save(training().only_recorded(), path, compress=True)
    return path
