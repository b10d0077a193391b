"""What the recorder's tests share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tb_memory_plugin.recorder import RecorderWarning

Said = Callable[[], list[str]]


@pytest.fixture
def said(recwarn: pytest.WarningsRecorder) -> Said:
    """What the recorder has warned of in this test so far, in order."""
    return lambda: [
        str(entry.message) for entry in recwarn.list if entry.category is RecorderWarning
    ]


@pytest.fixture
def every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk for every step, as in a long run."""
    monkeypatch.setattr("tb_memory_plugin.recorder.profiler.engine.CHUNK_SECONDS", 0.0)
