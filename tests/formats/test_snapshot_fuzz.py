"""Mutations of real bytes: a recording that holds together or a SourceError, nothing else."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.plan_devices import PREFIX
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import torch_snapshot
from tb_memory_plugin.readers.torch_structure import from_structure
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import SCHEMAS
from tests.fixtures.snapshots import Snapshot, snapshot

_ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
    1 << 64,
    1 << 200,
    1.5,
    float("nan"),
    "",
    "alloc",
    "\ud800",
    b"x",
    [],
    [[]],
    (),
    (1, 2),
    {},
    {"a": []},
    [None],
)


def made(**changes: Any) -> Snapshot:
    return snapshot(
        events=80,
        stacks=5,
        depth=3,
        step_events=30,
        optimizer=True,
        pending=0.1,
        event_pools=True,
        private_pools=True,
        capacity=60 << 20,
        **changes,
    )


def check(recording: Recording) -> None:
    """The tables fit the schema and refer to rows that are there, and analysis takes them."""
    sizes = {name: recording.table(name).num_rows for name in SCHEMAS}
    for name, table in recording.tables.items():
        assert table.schema == SCHEMAS[name.removeprefix(PREFIX)]
        table.validate(full=True)
    for name, column, target in (
        ("events", "stack", sizes["stacks"]),
        ("events", "forward_stack", sizes["stacks"]),
        ("events", "span", sizes["spans"]),
        ("events", "pool", len(recording.meta["pools"])),
        ("blocks", "segment", sizes["segments"]),
        ("blocks", "stack", sizes["stacks"]),
        ("spans", "parent", sizes["spans"]),
        ("events", "device", len(recording.devices)),
        ("blocks", "device", len(recording.devices)),
    ):
        values = recording.values(name, column)
        assert not len(values) or (values.min() >= -1 and values.max() < target)
    json.dumps(recording.meta)


@pytest.mark.parametrize("protocol", [2, 4])
def test_mutated_bytes(tmp_path: Path, protocol: int) -> None:
    chance = random.Random(protocol)
    whole = pickle.dumps(made(), protocol)
    path = tmp_path / "mutant.pickle"
    outcomes = {"read": 0, "refused": 0}
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 1, 2, 8))):
            place = chance.randrange(len(data))
            kind = chance.randrange(4)
            if kind == 0:
                data[place] = chance.randrange(256)
            elif kind == 1:
                data[place] ^= 1 << chance.randrange(8)
            elif kind == 2:
                del data[place : place + chance.randrange(1, 20)]
            else:
                start = chance.randrange(len(data))
                data[place:place] = data[start : start + chance.randrange(1, 40)]
        path.write_bytes(data)
        try:
            recording = torch_snapshot.read(path)
        except SourceError:
            outcomes["refused"] += 1
            continue
        check(recording)
        outcomes["read"] += 1

    assert outcomes["read"] > 5 and outcomes["refused"] > 100


def _containers(value: Any, found: list[Any]) -> list[Any]:
    if isinstance(value, dict):
        found.append(value)
        for item in value.values():
            _containers(item, found)
    elif isinstance(value, list):
        found.append(value)
        for item in value:
            _containers(item, found)
    return found


def mutated(structure: Any, chance: random.Random) -> Any:
    """``structure`` with a few values deleted or replaced by odd ones."""
    places = [place for place in _containers(structure, []) if place]
    for _ in range(chance.choice((1, 1, 3))):
        place = chance.choice(places)
        key = (
            chance.choice(list(place)) if isinstance(place, dict) else chance.randrange(len(place))
        )
        if chance.random() < 0.2:
            del place[key]
            places = [place for place in places if place]
        else:
            place[key] = chance.choice(_ODD)
    return structure


def test_mutated_structures() -> None:
    chance = random.Random(7)
    whole = pickle.dumps(made())
    outcomes = {"read": 0, "refused": 0}
    for _ in range(600):
        structure = mutated(pickle.loads(whole), chance)
        try:
            recording = from_structure(structure, "mutant")
        except SourceError:
            outcomes["refused"] += 1
            continue
        check(recording)
        derive(recording)
        outcomes["read"] += 1

    assert outcomes["read"] > 100 and outcomes["refused"] > 50
