"""Pairs of a snapshot and a trace, through a real TensorBoard."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.fixtures.pairs import write_pair
from tests.plugin.server import TensorBoardServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("logs") / "run"
    folder.mkdir()
    write_pair(folder)
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("cache"))}
    with TensorBoardServer(folder.parent, environment=cache) as running:
        yield running


def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)
    return found


def ids(server: TensorBoardServer) -> dict[str, str]:
    until(lambda: len(server.get("sources").json()["sources"]) >= 2)
    return {row["name"]: row["id"] for row in server.get("sources").json()["sources"]}


def test_a_pair_is_proposed_read_and_opened(server: TensorBoardServer) -> None:
    known = ids(server)
    snapshot, trace = known["snapshot.pickle"], known["profile.pt.trace.json"]
    (row,) = server.get("pairs", source=snapshot).json()["pairs"]
    assert (row["state"], row["match"]) == ("unread", None)

    def matched() -> Any:
        (row,) = server.get("pairs", source=snapshot, match=trace).json()["pairs"]
        return row if row["state"] not in ("reading", "matching") else None

    row = until(matched)
    assert row["state"] == "matched" and row["match"]["certain"]
    version = server.opened(row["pair"])["version"]
    summary = server.get("summary", source=row["pair"]).json()
    assert summary["version"] == version
    assert summary["meta"]["pair"]["offset_ns"] == row["match"]["offset_ns"]
    asked = {"source": row["pair"], "version": version, "device": summary["devices"][0]["key"]}
    operators = server.get("operators", **asked).json()
    assert any(each["op"].startswith("operator_") for each in operators["rows"] if each["op"])
    usage = server.get("usage", **asked, axis="event", width=100)
    assert usage.status == 200
    tracks = server.get("tracks", **asked, axis="time", width=100).json()
    assert tracks["steps"]
    listed = {each["id"]: each for each in server.get("sources").json()["sources"]}
    assert listed[row["pair"]]["pair"] == {"snapshot": snapshot, "trace": trace, "shift_ns": None}


def test_what_cannot_be_asked_is_a_sentence(server: TensorBoardServer) -> None:
    known = ids(server)
    snapshot, trace = known["snapshot.pickle"], known["profile.pt.trace.json"]
    for parameters, status in (
        ({}, 400),
        ({"source": "../etc"}, 400),
        ({"source": "ab"}, 404),
        ({"source": "ab" * 16}, 404),
        ({"source": snapshot, "match": "ab" * 8}, 404),
        ({"source": snapshot, "shift": "soon"}, 400),
        ({"source": snapshot, "shift": str(1 << 63)}, 400),
        ({"source": snapshot, "shift": str(10**18 + 1)}, 400),
    ):
        answer = server.get("pairs", **parameters)
        assert answer.status == status, parameters
        assert answer.json()["error"].endswith(".")
    far = (snapshot + trace + shift for shift in ("7" + "f" * 15, "8" + "0" * 15, "4" + "0" * 15))
    for id in (*far, snapshot + snapshot, trace + trace, trace + snapshot, snapshot + "ab" * 8):
        assert server.get("open", source=id).status == 404
