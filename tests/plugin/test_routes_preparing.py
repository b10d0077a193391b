"""What is begun when a summary is asked for, in a thread that harms nobody."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.routes import preparing
from tb_memory_plugin.store.store import UnknownSource
from tb_memory_plugin.views import first
from tests.fixtures.training import training


def test_the_first_device_is_prepared_in_its_own_grouping(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = training()
    prepared: list[tuple[Any, ...]] = []
    monkeypatch.setattr(first, "prepare", lambda *asked: prepared.append(asked))
    told = {"devices": [{"default_grouping": "op"}, {"default_grouping": "stack"}]}
    preparing.begin(lambda: recording, told).join(30)
    assert prepared == [(recording, recording.devices[0], "op")]


def test_nothing_happens_where_the_recording_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    failures: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)

    def gone() -> Recording:
        raise UnknownSource("gone")

    thread = preparing.begin(gone, {"devices": []})
    thread.join(30)
    assert not thread.is_alive()
    assert not failures
