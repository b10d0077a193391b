"""A folder that XLA dumped to, through a real TensorBoard: one entry, a file for each module."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.hlo import heap
from tests.fixtures.pprof import part
from tests.plugin.server import TensorBoardServer

STAGE = "cpu_after_optimizations.hlo.pb"
PEAKS = {"jit_f 0001": 8, "jit_g 0002": 48, "jit_f 0003": 32}


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    for number, (name, sizes) in enumerate((("f", [8]), ("g", [16, 32]), ("f", [32])), 1):
        module = heap(sizes, "+1 +2 -1 -2" if len(sizes) > 1 else "+1 -1")
        module.name, module.id = f"jit_{name}", number
        stem = folder / f"module_{number:04}.jit_{name}"
        Path(f"{stem}.{STAGE}").write_bytes(module.bytes())
        # Stages that hold the program alone.
        for stage in ("before_optimizations", "after_optimizations", "after_codegen"):
            Path(f"{stem}.{stage}.hlo.pb").write_bytes(part(1, module.module()))
    module.name = "jit_h"
    (folder / "module_0004.jit_h.after_codegen.hlo.pb").write_bytes(part(1, module.module()))
    return tmp_path


def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)
    return found


def test_dumped_modules_of_a_folder_are_one_session_with_their_peaks(logdir: Path) -> None:
    with TensorBoardServer(logdir) as server:
        rows = until(lambda: (found := server.sources()) and len(found) == 4 and found)
        by_name = {row["host"]: row for row in rows.values()}
        assert {*by_name} == {*PEAKS, "jit_h 0004"}
        (session,) = server.get("sources").json()["sessions"]
        assert (session["run"], session["label"], session["of"]) == (
            "mine",
            "HLO modules",
            "module",
        )
        assert {row["session"] for row in rows.values()} == {session["key"]}
        assert all(by_name[name]["name"].endswith(STAGE) for name in PEAKS)

        first = by_name["jit_g 0002"]["id"]
        server.opened(first)
        server.get("read", source=first)
        until(lambda: {row["state"] for row in server.sources().values()} == {"ready"})
        done = server.sources()
        briefs = {row["host"]: row["brief"] for row in done.values()}
        assert {name: briefs[name]["peak_bytes"] for name in PEAKS} == PEAKS
        assert briefs["jit_g 0002"]["peak_device"] == "jit_g · memory"
        assert briefs["jit_h 0004"]["peak_bytes"] is None
        assert {brief["modules"] for brief in briefs.values()} == {1}

        alone = server.get("summary", source=by_name["jit_h 0004"]["id"]).json()
        assert alone["plans"] == []
        assert alone["unplanned"] == {
            "count": 1,
            "modules": [
                {
                    "module": "jit_h",
                    "program": "3",
                    "why": "It holds no buffer assignment: the program alone.",
                }
            ],
        }
        (missing,) = alone["missing"]
        assert missing["why"].startswith("The file holds the program alone")
        assert server.get("summary", source=first).json()["unplanned"]["count"] == 0
