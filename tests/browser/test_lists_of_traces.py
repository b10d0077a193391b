"""Cells of the list of allocations of real traces against a plain walk over their events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tb_memory_plugin.api import load
from tests.browser.test_lists_cells import Life, births, rows, tells
from tests.browser.xplanes import FILES, opened
from tests.fixtures.kineto import Json
from tests.formats.test_kineto_real import CALLS, COPIES, KERNELS, RUNTIME, Search, events, ns

if TYPE_CHECKING:
    from tests.browser.conftest import Watched
    from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


def lives(found: list[Json]) -> dict[int, Life]:
    """What is allocated, by the event of its birth."""
    living: dict[int, int] = {}
    deaths: dict[int, int] = {}
    for at, event in enumerate(found):
        address = event["args"]["Addr"]
        if event["args"]["Bytes"] > 0:
            living[address] = at
        elif (birth := living.pop(address, None)) is not None:
            deaths[birth] = at
    return {
        at: Life(event["args"]["Bytes"], at, deaths.get(at))
        for at, event in enumerate(found)
        if event["args"]["Bytes"] > 0
    }


def start(name: str) -> int:
    """When the first thing that the page knows of happened, in ns of the file."""
    return min(
        ns(event["ts"])
        for event in events(name)
        if event["name"] == "[memory]"
        or (event["ph"] == "X" and event.get("cat") in (*CALLS, *RUNTIME, *KERNELS, *COPIES))
    )


@pytest.mark.parametrize(
    ("run", "key", "order"),
    [("bert", "1:0", "duration"), ("graphs", "6:0", "-bytes"), ("graphs", "6:0", "birth")],
)
def test_births_deaths_and_durations(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, run: str, key: str, order: str
) -> None:
    recording = load(shared_data / FILES[run]).recording
    name = Path(FILES[run]).name
    moved, origin = Search(name).memory[key], start(name)
    known = lives(moved)
    asked = {"device": key, "axis": "event", "table": "allocations", "lives": order}
    frame = opened(watched, profiled, run, **asked)
    told = rows(frame, ["Size", "Allocated", "Released", "Lived"])
    places = frame.locator("table.list tr[data-row]")
    ids = places.evaluate_all("all => all.map(row => Number(row.dataset.id))")
    assert len(told) == len(ids) == 100
    seen, freed = set(), 0
    for row, birth in zip(told, births(recording, ids), strict=True):
        if birth is None:  # what was there before: a sum, or freed with its size known
            assert (row["Allocated"], row["Lived"]) == ("before", "")
            continue
        seen.add(birth)
        life = known[birth]
        assert row["Size"] == f"{life.size} bytes"
        born = ns(moved[life.birth]["ts"])
        assert tells(row["Allocated"], born - origin)
        if life.death is None:
            assert (row["Released"], row["Lived"]) == ("not freed", "")
            continue
        died = ns(moved[life.death]["ts"])
        assert tells(row["Released"], died - origin)
        assert tells(row["Lived"], died - born)
        freed += 1
    assert len(seen) > 50 and freed > 50
