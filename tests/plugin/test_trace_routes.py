"""Routes of what the program did, through a real TensorBoard, on a real trace."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from tests.plugin.server import TensorBoardServer

TRACE = "traces/h100_bert_small.json.gz"


@pytest.fixture
def logdir(tmp_path: Path, shared_data: Path) -> Path:
    run = tmp_path / "run"
    run.mkdir()
    shutil.copy(shared_data / TRACE, run / "h100.pt.trace.json.gz")
    return tmp_path


def test_every_route_answers_or_says_what_makes_no_sense(logdir: Path) -> None:
    with TensorBoardServer(logdir) as server:
        (source,) = server.sources(after=1).values()
        version = server.opened(source["id"])["version"]
        asked = {"source": source["id"], "version": version, "device": "1:0"}

        whole = server.get("trace", **asked).json()
        tracks = [track["name"] for track in whole["tracks"]]
        assert whole["tracks"][0]["events"] > 0 and len(set(tracks)) == len(tracks)
        window = {"begin": whole["begin"], "end": whole["end"], "width": 800}
        chosen = ",".join(track["id"] for track in whole["tracks"])
        answer = server.get("trace.window", **asked, **window, tracks=chosen, find="aten::")
        items = pa.ipc.open_stream(answer.body).read_all()
        spans = sum(track["spans"] for track in whole["tracks"])
        assert sum(items.column("count").to_pylist()) == spans
        assert len(answer.body) < 1_000_000
        nothing = server.get("trace.window", **asked, **window).body
        assert pa.ipc.open_stream(nothing).read_all().num_rows == 0

        found = server.get("trace.find", **asked, find="aten::linear", kind="op", exactly=1).json()
        assert found["place"] == 0 and found["count"] > 1
        after = found["span"]["id"]
        second = server.get("trace.find", **asked, find="ATEN::LINEAR", after=after).json()
        assert second["place"] == 1
        card = server.get("span", **asked, id=after).json()
        assert card["place"] == found["span"] and card["on_thread"]
        assert [row["name"] for row in card["below"]["rows"]]

        sums = server.get("trace.sums", **asked, kind="op", sort="-self_net", limit=5).json()
        assert len(sums["rows"]) == 5 < sums["found"]
        text = server.get("trace.sums.csv", **asked, kind="op").body.decode()
        assert len(text.splitlines()) == sums["found"] + 1
        steps = server.get("trace.steps", **asked).json()["steps"]
        (curve,) = server.get("trace.steps", **asked, steps=steps[0]["id"]).json()["curves"]
        assert max(curve["highest"]) == steps[0]["peak"]
        events = json.loads(server.get("trace.json", **asked).body)["traceEvents"]
        assert sum(event["ph"] == "X" for event in events) == spans
        lives = server.get("lives", **asked, limit=1).json()["rows"]
        told = server.get("allocation", **asked, id=lives[0]["id"]).json()
        assert {"made_in", "freed_in", "last_use", "between"} <= {*told}

        for route, more, words in (
            ("trace.window", {"begin": 0, "end": 5}, "The parameter width is missing"),
            ("trace.window", {"begin": 5, "end": 5, "width": 9}, "a beginning before its end"),
            ("trace.window", {**window, "tracks": "0,x"}, "tracks is no list of tracks"),
            ("trace.window", {**window, "tracks": "99"}, "There is no track 99"),
            ("trace.find", {}, "The parameter find is missing"),
            ("trace.find", {"find": "a", "way": "up"}, "There is no way 'up'"),
            ("trace.find", {"find": "a", "after": "1e9"}, "There is no span '1e9'"),
            ("trace.sums", {"kind": "x"}, "There are no spans of kind 'x'"),
            ("trace.sums", {"kind": "op", "sort": "x"}, "Cannot sort by 'x'"),
            ("trace.sums.csv", {"kind": "x"}, "There are no spans of kind 'x'"),
            ("trace.steps", {"steps": "x"}, "There is no span"),
            ("trace.json", {"begin": 9, "end": 9}, "a beginning before its end"),
            ("span", {"id": "-1"}, "There is no span '-1'"),
        ):
            refused = server.get(route, **{**asked, **more})
            assert refused.status == 400, (route, refused.body)
            assert words in refused.json()["error"], (route, refused.body)
        assert "Traceback" not in server.log
