"""Files for the user to keep: made piece by piece, never held whole."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from werkzeug.test import EnvironBuilder

from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.routes import files
from tb_memory_plugin.routes.answers import Answer, respond
from tb_memory_plugin.routes.calls import ROUTES as CALLS
from tb_memory_plugin.routes.parameters import Parameters
from tb_memory_plugin.routes.pictures import ROUTES as PICTURES
from tb_memory_plugin.routes.profile import ROUTES as PROFILE
from tb_memory_plugin.views import breakdown, flame_files, segments_csv
from tb_memory_plugin.views import csv as tables
from tests.unit.analysis.simulated import simulated

Question = Callable[[Recording, Device, Parameters], Answer]
ROUTES: dict[str, Question] = {**PROFILE, **PICTURES, **CALLS}
FILES = {
    "/flame.speedscope.json": {},
    "/flame.folded.txt": {},
    "/segments.csv": {"at": "peak"},
    "/events.csv": {},
    "/export.csv": {"by": "stack"},
    "/export.csv of a group": {"by": "pool", "key": "…rest", "top": "1"},
}


def pieces_of(route: str, recording: Recording, **parameters: str) -> Any:
    """What a route answers with, as it is given to the response."""
    asked = Parameters(SimpleNamespace(args=parameters))
    return ROUTES[route.split(" ")[0]](recording, recording.devices[0], asked).content


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Recording:
    """A recording of many pieces: a piece is but a few rows."""
    monkeypatch.setattr(flame_files, "_AT_ONCE", 2)
    monkeypatch.setattr(segments_csv, "_AT_ONCE", 2)
    monkeypatch.setattr(tables, "_ROWS_AT_ONCE", 2)
    monkeypatch.setattr(breakdown, "MOST", 2)
    return simulated(4, expandable=True).recording


@pytest.mark.parametrize("route", FILES)
def test_files_come_in_pieces(route: str, small: Recording) -> None:
    content = pieces_of(route, small, **FILES[route])
    assert isinstance(content, Iterator)
    if route == "/flame.speedscope.json":
        assert json.loads("".join(content))["profiles"][0]["samples"]
    else:
        assert "".join(content)


def test_pieces_are_what_the_whole_would_be(
    small: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {name: "".join(pieces_of(name, small, **asked)) for name, asked in FILES.items()}
    assert len(list(csv.DictReader(few["/segments.csv"].splitlines()))) > 4
    monkeypatch.undo()
    for name, asked in FILES.items():
        assert "".join(pieces_of(name, small, **asked)) == few[name]


@pytest.mark.parametrize("encoding", ["", "br, GZIP;q=0.5"])
def test_a_response_asks_for_pieces_as_it_is_sent(encoding: str) -> None:
    made = 0

    def content() -> Iterator[str]:
        nonlocal made
        for number in range(100):
            made += 1
            # What no packer makes smaller.
            yield "".join(
                chr(0x4E00 + (number * 7919 + place * 104729) % 20000) for place in range(9000)
            )

    whole = "".join(content()).encode()
    made = 0
    request = EnvironBuilder(headers=[("Accept-Encoding", encoding)]).get_request()
    response = respond(request, Answer(content(), "text/csv", "a.csv"))
    assert made == 0
    sent = iter(response.response)
    first = next(sent)
    assert made < 50
    body = first + b"".join(sent)
    assert (gzip.decompress(body) if encoding else body) == whole
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert len(first) < 4 * files.PIECE


def test_what_fails_on_the_way_does_not_end_as_if_whole() -> None:
    def content() -> Iterator[str]:
        yield "a,b\r\n" * files.PIECE
        raise MemoryError

    response = respond(EnvironBuilder().get_request(), Answer(content(), "text/csv", "a.csv"))
    sent = iter(response.response)
    next(sent)
    with pytest.raises(MemoryError):
        next(sent)
