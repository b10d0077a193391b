"""Every route, through a real TensorBoard, in each way it can be started."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tb_memory_plugin.recording.recording import save
from tb_memory_plugin.store.load import load_path
from tb_memory_plugin.views import events, holes, modules, pools, segments
from tb_memory_plugin.views import lives as life_list
from tb_memory_plugin.views import summary as summary_view
from tb_memory_plugin.views.tile.window import tile
from tests.fixtures.histories import history
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.plugin.logdirs import STEPS
from tests.plugin.server import TensorBoardServer

WAYS: dict[str, dict[str, Any]] = {
    "fast": {},
    "slow": {"arguments": ["--load_fast=false"]},
    "prefix": {"path_prefix": "/some/where"},
}


def rows_of(body: bytes) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(body.decode().splitlines()))


def scalars(server: TensorBoardServer, run: str) -> list[Any]:
    """The points of the scalar that ``logdirs.write_scalars`` wrote."""
    found: list[Any] = server.board(f"data/plugin/scalars/scalars?tag=loss&run={run}")
    return found


@pytest.mark.parametrize("way", WAYS)
def test_all_routes_answer(way: str, logdir: Path) -> None:
    options = dict(WAYS[way])
    arguments = options.pop("arguments", [])
    with TensorBoardServer(logdir, *arguments, **options) as server:
        found = server.sources(after=1)
        assert list(found) == ["one/snapshot.pickle"]
        source = found["one/snapshot.pickle"]
        assert (source["state"], source["uploaded"], source["live"]) == ("new", False, False)
        assert source["bytes"] == (logdir / "one" / "snapshot.pickle").stat().st_size
        plugins = server.board("data/plugins_listing")
        assert plugins["memory"]["enabled"] is True
        assert plugins["memory"]["tab_name"] == "Memory"

        status = server.opened(source["id"])
        assert (status["state"], status["fraction"], status["error"]) == ("ready", 1.0, None)
        version = status["version"]
        check_answers(server, source["id"], version, logdir / "one" / "snapshot.pickle")
        (listed,) = server.sources().values()
        assert listed["state"] == "ready"
        assert listed["brief"]["events"] == 400
        assert len(scalars(server, "one")) == len(scalars(server, "two")) == STEPS


def check_answers(server: TensorBoardServer, id: str, version: str, path: Path) -> None:
    """The routes of a ready source say what the views say of the same file."""
    recording = load_path(path)
    device = recording.devices[0]
    answer = server.get("summary", source=id).json()
    expected = summary_view.summary(
        recording, version=version, run="one", name="snapshot.pickle", live=False
    )
    origin = str(expected["time_origin_ns"])
    assert answer == {**expected, "time_origin": origin}
    asked = {"source": id, "version": version, "device": device.key}

    usage = server.get("usage", **asked, axis="event", width=100, by="stack", top=3)
    assert usage.status == 200
    assert "max-age" in usage.headers["Cache-Control"]
    table = pa.ipc.open_stream(usage.body).read_all()
    assert max(table.column("allocated").to_pylist()) == answer["devices"][0]["allocated_peak"]
    tracks = server.get("tracks", **asked, axis="time", width=500).json()
    assert [item["name"] for item in tracks["steps"]][:1] == ["ProfilerStep#0"]
    of_step = server.get("span", **asked, id=tracks["steps"][0]["id"]).json()
    assert of_step["name"] == "ProfilerStep#0"
    page = server.get("breakdown", **asked, at="peak", by="stack", sort="-bytes").json()
    assert page["total_bytes"] == answer["devices"][0]["allocated_peak"]
    key = page["groups"][0]["key"]
    rows = server.get("allocations", **asked, at=page["event"], by="stack", key=key).json()
    assert rows["total_bytes"] == page["groups"][0]["bytes"]
    lives = server.get("lives", **asked, axis="time", minimum=1, limit=3).json()
    assert lives["total_count"] == len(load_path(path).table("allocations"))
    assert len(lives["rows"]) == 3
    listed = rows_of(server.get("lives.csv", **asked, sort="birth").body)
    assert len(listed) == lives["total_count"]
    at = server.get("lives", **asked, at=1, sort="birth", limit=1000).json()
    assert at == life_list.page(recording, device, at="event:1", sort="birth", limit=1000)
    alive = rows_of(server.get("lives.csv", **asked, at=1, sort="birth").body)
    assert [row["id"] for row in alive] == [row["id"] for row in at["rows"]]
    made = server.get("operators", **asked).json()
    assert made["total"]["count"] == answer["devices"][0]["allocs"]
    found = rows_of(server.get("operators.csv", **asked).body)
    assert sum(int(row["self_count"]) for row in found) == made["total"]["count"]
    ran = server.get("modules", **asked, at="peak", sort="-duration").json()
    assert ran == modules.page(recording, device, at="peak", sort="-duration")
    assert rows_of(server.get("modules.csv", **asked).body) == []
    first = rows["rows"][0]
    card = server.get("allocation", source=id, version=version, id=first["id"]).json()
    assert {name: card[name] for name in first} == first
    graph = server.get("flame", **asked, of="alive", inverted=1, find="size>0")
    assert "max-age" in graph.headers["Cache-Control"]
    assert graph.json()["total"] == graph.json()["found"]["value"] == page["total_bytes"]
    grouped = server.get("flame", **asked, by="stack", group=key, bands=1).json()
    assert (grouped["by"], grouped["groups"][0]["key"]) == ("stack", key)
    assert grouped["nodes"]["picked"][0] == page["groups"][0]["bytes"]
    assert server.get("lines", **asked).json()["total"] == page["total_bytes"]
    folded = server.get("flame.folded.txt", **asked)
    assert "attachment" in folded.headers["Content-Disposition"]
    sizes = [int(line.rsplit(" ", 1)[1]) for line in folded.body.decode().splitlines()]
    assert sum(sizes) == page["total_bytes"]
    scope = server.get("flame.speedscope.json", **asked, folded=1).json()
    assert scope["profiles"][0]["endValue"] == page["total_bytes"]
    refused = server.get("code", source=id, version=version, file="/etc/passwd", line=1)
    assert refused.status == 400
    assert "--memory_show_source" in refused.json()["error"]
    wrong = server.path("flame", **asked, filter="size>much")
    told = server.request("GET", wrong, headers={"X-Memory-Status": "told here"})
    assert (server.request("GET", wrong).status, told.status) == (400, 200)
    assert told.headers["X-Memory-Status"] == "400"
    assert told.json() == server.request("GET", wrong).json()
    picture = server.get("tile", **asked, axis="event", level=0, index=0, by="stack", height=200)
    question = {"axis": "event", "level": 0, "index": 0, "by": "stack", "height": 200}
    assert picture.body == tile(recording, device, **question)
    assert "max-age" in picture.headers["Cache-Control"]
    state = server.get("segments", **asked, at="peak", pixel=4096)
    assert state.status == 200
    assert state.body == segments.window(recording, device, at="peak", pixel=4096)
    assert "max-age" in state.headers["Cache-Control"]
    hole = server.get("hole", **asked, at=40, place=5000, pixel=1 << 20)
    assert hole.json() == holes.under(recording, device, at="event:40", place=5000, pixel=1 << 20)
    assert "max-age" in hole.headers["Cache-Control"]
    listed = server.get("events", **asked, filter="action:alloc", limit=3, near=50).json()
    assert listed == events.page(
        recording, device, filter="action:alloc", limit=3, near=50, longest=300
    )
    told = server.get("events", **asked, limit=2, details=1).json()["rows"]
    assert [row["about"]["allocated"] for row in told] == [
        row["about"]["allocated"]
        for row in events.page(recording, device, limit=2, details=True)["rows"]
    ]
    assert server.get("events", **asked, limit=201, details=1).status == 400
    state = server.get("segments.csv", **asked, at=page["event"])
    assert 'filename="segments.csv"' in state.headers["Content-Disposition"]
    assert sum(int(row["requested"] or 0) for row in rows_of(state.body)) == page["total_bytes"]
    listed = rows_of(server.get("events.csv", **asked, filter="action:alloc").body)
    assert len(listed) == answer["devices"][0]["allocs"]
    held = server.get("pools", **asked, axis="event", width=100)
    assert held.body == pools.window(recording, device, axis="event", width=100)
    exported = server.get("export.csv", **asked, at="peak", by="stack")
    assert "attachment" in exported.headers["Content-Disposition"]
    assert exported.body.decode().count("\r\n") == 1 + len(page["groups"]) + page["rest"]["groups"]
    path = server.path("export.csv", **asked, at="peak", by="stack")
    packed = server.request("GET", path, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == exported.body
    head = server.request("HEAD", path)
    assert (head.status, head.body) == (200, b"")


def test_code_is_shown_where_it_was_asked_for_and_not_for_dropped_files(
    tmp_path: Path, logdir: Path
) -> None:
    module = tmp_path / "model.py"
    module.write_text("first\nsecond\n")
    stacks = [[("f", str(module), 2)]]
    recording = history([("alloc", 0, 8, {"stack": 0})], stacks=stacks)
    path = tmp_path / "run" / "plugins" / "memory" / "a.tbmem"
    path.parent.mkdir(parents=True)
    save(recording, path, compress=True)
    with TensorBoardServer(tmp_path / "run", "--memory_show_source") as server:
        (source,) = server.sources(after=1).values()
        server.opened(source["id"])
        asked = {"source": source["id"], "line": 2, "around": 1}
        assert server.get("code", **asked, file=module).json()["lines"] == ["first", "second"]
        other = server.get("code", **asked, file="/etc/passwd")
        assert (other.status, other.json()["error"]) == (
            400,
            "No frame of this recording names that file.",
        )
        dropped = server.post("a.tbmem", path.read_bytes()).json()["source"]
        assert server.opened(dropped)["state"] == "ready"
        refused = server.get("code", **{**asked, "source": dropped}, file=module)
        assert "not for dropped files" in refused.json()["error"]


def test_logdir_spec_names_runs_as_tensorboard_does(tmp_path: Path, logdir: Path) -> None:
    other = tmp_path / "other"
    inner = other / "deep" / "er" / "plugins" / "memory"
    inner.mkdir(parents=True)
    write_pickle(snapshot(events=100), inner / "a.pickle")
    spec = f"first:{logdir}/one,second:{other}"
    with TensorBoardServer(None, "--logdir_spec", spec) as server:
        found = server.sources(after=2)
        (run,) = {run for run in server.board("data/runs") if run.startswith("first")}
        assert set(found) == {f"{run}/snapshot.pickle", "second/deep/er/a.pickle"}
        assert server.opened(found["second/deep/er/a.pickle"]["id"])["state"] == "ready"
        assert server.get("sources").json()["logdirs"] == ["first", "second"]


BAD_QUESTIONS: list[tuple[int, str, dict[str, Any]]] = [
    (400, "open", {}),
    (400, "open", {"source": "../../etc/passwd"}),
    (404, "open", {"source": "0123456789abcdef"}),
    (404, "summary", {"source": "0123456789abcdef"}),
    (404, "usage", {"version": "00000000000000000000", "device": "0", "axis": "event", "width": 9}),
    (404, "usage", {"device": "77", "axis": "event", "width": 9, "by": "stack"}),
    (400, "usage", {"device": "0", "axis": "mood", "width": 9, "by": "stack"}),
    (400, "usage", {"device": "0", "axis": "event", "width": "wide", "by": "stack"}),
    (400, "usage", {"device": "0", "axis": "event", "width": -1, "by": "stack"}),
    (400, "usage", {"device": "0", "axis": "event", "width": 10**9, "by": "stack"}),
    (400, "usage", {"device": "0", "axis": "event", "by": "stack"}),
    (400, "usage", {"device": "0", "axis": "event", "width": 9, "by": "mood"}),
    (400, "usage", {"device": "0", "axis": "event", "width": 9, "begin": 9, "end": 3}),
    (400, "usage", {"device": "0", "axis": "event", "width": 9, "begin": 10**30}),
    (400, "tracks", {"device": "0", "axis": "event", "width": 9, "begin": "-"}),
    (400, "breakdown", {"device": "0", "by": "stack", "at": "noon"}),
    (400, "breakdown", {"device": "0", "by": "stack", "at": 10**9}),
    (400, "breakdown", {"device": "0", "by": "stack", "filter": "mood:good"}),
    (400, "breakdown", {"device": "0", "by": "stack", "sort": "mood"}),
    (400, "breakdown", {"device": "0", "by": "pattern", "pattern": "/(/"}),
    (400, "allocations", {"device": "0", "by": "stack", "offset": -3}),
    (400, "allocation", {"id": "../1"}),
    (400, "allocation", {"id": "99999999"}),
    (400, "export.csv", {"device": "0", "by": "mood"}),
    (400, "flame", {"device": "0", "of": "mood"}),
    (400, "flame", {"device": "0", "begin": 9, "end": 3}),
    (400, "flame", {"device": "0", "root": "main"}),
    (400, "flame", {"device": "0", "by": "mood", "bands": 1}),
    (400, "flame", {"device": "0", "inverted": 2}),
    (400, "flame", {"device": "0", "find": "mood:good"}),
    (404, "flame", {"device": "77"}),
    (400, "flame.folded.txt", {"device": "0", "of": "mood"}),
    (400, "flame.speedscope.json", {"device": "0", "axis": "mood"}),
    (400, "lines", {"device": "0", "of": "mood"}),
    (400, "lines", {"device": "0", "limit": -1}),
    (400, "code", {"file": "/etc/passwd", "line": 1}),
]


def test_questions_that_make_no_sense_are_answered_in_words(logdir: Path) -> None:
    with TensorBoardServer(logdir) as server:
        (source,) = server.sources(after=1).values()
        early = server.get("summary", source=source["id"])
        assert (early.status, early.json()["error"]) == (
            404,
            "snapshot.pickle was not read yet; open it first.",
        )
        server.opened(source["id"])
        for status, route, parameters in BAD_QUESTIONS:
            asked = parameters
            if route not in ("open", "summary"):
                asked = {"source": source["id"], **parameters}
            answer = server.get(route, **asked)
            assert answer.status == status, (route, parameters, answer.body)
            sentence = answer.json()["error"]
            assert len(sentence) > 10 and sentence[-1] in ".?", (route, parameters, sentence)
        answer = server.request("POST", "data/plugin/memory/sources", b"")
        assert answer.status == 405
        assert "Traceback" not in server.log


def test_static_files_are_those_of_the_page_only(logdir: Path) -> None:
    with TensorBoardServer(logdir) as server:
        index = server.get("static/index.js")
        assert index.status == 200
        assert index.headers["Content-Type"].startswith("text/javascript")
        assert index.headers["X-Content-Type-Options"] == "nosniff"
        assert b"render" in index.body
        for path in (
            "../plugin.py",
            "%2e%2e/plugin.py",
            "..%2fplugin.py",
            "",
            "nowhere.js",
            "%00.js",
        ):
            assert server.get(f"static/{path}").status == 404, path
