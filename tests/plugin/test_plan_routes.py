"""Routes of plans through a real TensorBoard: what they answer, and what makes no sense."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.fixtures.hlo import heap
from tests.plugin.server import TensorBoardServer


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    run = tmp_path / "run"
    run.mkdir()
    (run / "jit_f.hlo_proto.pb").write_bytes(heap([8, 16, 32], "+1 +2 3=1 -1 -2 -3").bytes())
    return tmp_path


def test_every_route_answers_or_says_what_makes_no_sense(logdir: Path) -> None:
    with TensorBoardServer(logdir) as server:
        (source,) = server.sources(after=1).values()
        version = server.opened(source["id"])["version"]
        (plan,) = server.get("summary", source=source["id"]).json()["plans"]
        assert (plan["key"], plan["module"], plan["peak"]) == ("plan:0", "jit_f", 24)
        asked = {"source": source["id"], "version": version, "device": "plan:0"}

        whole = server.get("plan", **asked).json()
        assert (whole["device"]["allocated_peak"], whole["overview"]["peak"]) == (24, 24)
        alive = pa.ipc.open_stream(server.get("plan.bars", **asked, at=1).body).read_all()
        assert alive.column("bytes").to_pylist() == [8, 16]
        curve = pa.ipc.open_stream(server.get("plan.curve", **asked, width=100).body).read_all()
        assert curve.column("size").to_pylist() == [8, 24, 24, 24, 8, 0]
        assert server.get("plan.tree", **asked, at=1).json()["bytes"] == 24
        card = server.get("plan.buffer", **asked, id=0).json()
        assert (card["bytes"], card["instruction"]["name"]) == (8, "i1")
        near = server.get("plan.near", **asked, instruction=card["instruction"]["row"]).json()
        assert near == {key: card[key] for key in ("instruction", "operands", "users")}
        drawing = server.get("plan.svg", **asked, by="region")
        assert drawing.body.startswith(b"<svg ")
        name = drawing.headers["Content-Disposition"]
        assert name == 'attachment; filename="jit_f-7-device_memory.svg"'
        other = {"other_source": source["id"], "other_version": version, "other_device": "plan:0"}
        assert server.get("plan.compare", **asked, **other, by="name").json()["bytes"] == 24
        # All that is asked of devices is answered of plans.
        groups = server.get("breakdown", **asked, at=1, by="region").json()["groups"]
        assert [group["bytes"] for group in groups] == [24]
        assert server.get("allocation", **asked, id=0).json()["size"] == 8

        for route, more, code, words in (
            ("plan", {"device": "plan:9"}, 404, "There is no plan 'plan:9'"),
            ("plan", {"device": "0"}, 404, "There is no plan '0'"),
            ("usage", {"device": "plan:9", "axis": "event", "width": 9}, 404, "no device 'plan:9'"),
            ("plan.bars", {"at": "x"}, 400, "'x' is no moment of this plan"),
            ("plan.bars", {"at": 6}, 400, "'6' is no moment of this plan"),
            ("plan.buffer", {"id": 99}, 400, "There is no buffer 99"),
            ("plan.near", {"instruction": 99}, 400, "There is no instruction 99"),
            ("plan.near", {"instruction": "x"}, 400, "instruction"),
            ("plan.near", {}, 400, "The parameter instruction is missing"),
            ("plan.svg", {"by": "x"}, 400, "Cannot group by 'x'"),
            ("plan.curve", {}, 400, "The parameter width is missing"),
            ("plan.compare", {**other, "by": "x"}, 400, "cannot be compared by 'x'"),
            ("plan.compare", {**other, "other_device": "1"}, 404, "There is no device '1'"),
        ):
            answer = server.get(route, **{**asked, **more})
            assert answer.status == code, (route, answer.body)
            assert words in answer.json()["error"], (route, answer.body)
        assert "Traceback" not in server.log
