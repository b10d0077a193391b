"""What is prepared for the first picture is what it needs, and the picture is the same."""

from __future__ import annotations

from typing import Any

import pytest

from tb_memory_plugin.analysis import grouping, ranking
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import bands, first, peaks, usage
from tb_memory_plugin.views.tile.window import tile
from tests.fixtures.training import training


def answers(recording: Recording) -> tuple[bytes, bytes]:
    device = recording.devices[0]
    shared: dict[str, Any] = {"axis": "time", "by": "stack", "top": first.TOP}
    return (
        tile(recording, device, level=4, index=0, **shared),
        usage.window(recording, device, width=300, **shared),
    )


def test_the_first_picture_needs_nothing_that_was_not_prepared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = answers(training())
    recording = training()
    first.prepare(recording, recording.devices[0], "stack")

    def refuse(*_: Any) -> None:
        raise AssertionError("worked out again")

    for module, name in (
        (grouping, "_groups"),
        (ranking, "_ranking"),
        (ranking, "_describe"),
        (bands, "_ranked"),
        (peaks, "peaks"),
    ):
        monkeypatch.setattr(module, name, refuse)
    assert answers(recording) == expected
    with pytest.raises(AssertionError, match="worked out again"):
        answers(training())


def test_without_time_stamps_it_is_prepared_by_event() -> None:
    recording = training()
    first.prepare(recording, recording.devices[1], "stack")  # has an end state only
