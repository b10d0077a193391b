"""Every shared snapshot, read and derived, equals the values an independent replay found."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.readers import torch_snapshot
from tb_memory_plugin.recording.recording import Recording

SNAPSHOTS = Path(__file__).parents[2] / "../shared/data/snapshots"
FACTS: dict[str, Any] = (
    json.loads((SNAPSHOTS / "facts.json").read_text()) if SNAPSHOTS.is_dir() else {}
)


@cache
def recorded(name: str) -> Recording:
    """A shared snapshot, read and derived once for all tests that look at it."""
    return derive(torch_snapshot.read(SNAPSHOTS / name))


@pytest.mark.skipif(not FACTS, reason="the shared real files (../shared/data) are not here")
@pytest.mark.parametrize("name", sorted(FACTS) or ["none"])
def test_facts_of_a_real_snapshot(name: str) -> None:
    assert facts(recorded(name)) == FACTS[name]
