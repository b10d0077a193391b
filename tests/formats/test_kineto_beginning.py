"""What the first bytes of a trace say of its rank and of when it began."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.readers.kineto_beginning import beginning
from tb_memory_plugin.readers.kineto_trace import probe, read
from tests.conftest import SHARED_DATA
from tests.fixtures.kineto import memory, span

UNIX = 1_700_000_000_000_000  # µs


def said(events: list[Any], **about: Any) -> dict[str, Any]:
    return beginning(json.dumps({"schemaVersion": 1, **about, "traceEvents": events}).encode())


def test_rank_and_world_are_of_the_job_only() -> None:
    job = {"backend": "nccl", "rank": 3, "world_size": 16}
    assert said([], distributedInfo=job) == {"rank": 3, "world_size": 16}
    groups = [{"pg_name": "0", "pg_config": {"rank": 9}, "ranks": [0, 1]}]
    assert said([], distributedInfo={**job, "pg_config": groups}) == {"rank": 3, "world_size": 16}
    assert said([], distributedInfo={"rank": "3"}, rank=7) == {}
    assert said([span("x", 1, 1, args={"rank": 7})]) == {}


@pytest.mark.parametrize("base", [0, UNIX * 1000])
def test_the_first_time_is_found_to_the_nanosecond(base: int) -> None:
    first = 12.345 if base else UNIX + 12
    events = [memory(first + 50, 8), span("x", first, 1), memory(first + 9, 8)]
    expected = base + 12_345 if base else (UNIX + 12) * 1000
    assert said(events, baseTimeNanoseconds=base) == {
        "clock": "unix",
        "time_origin_ns": expected,
    }


def test_a_clock_since_the_machine_started_is_none() -> None:
    assert said([memory(1428625731896.179, 8)]) == {}


def test_as_reading_it_tells(tmp_path: Path) -> None:
    real = SHARED_DATA / "traces"
    if not real.exists():
        pytest.skip("no real traces beside the checkout")
    for name in ("v100_2gpu_216k_events.json.gz", "v100_torch19_resnet50.pt.trace.json.gz"):
        whole = read(real / name).meta
        told = probe(real / name)["meta"]
        assert told["clock"] == whole["clock"] == "unix"
        assert told.get("rank") == whole["rank"]
        # Events are not quite in order of time.
        assert 0 <= told["time_origin_ns"] - whole["time_origin_ns"] < 60 * 10**9
    broken = tmp_path / "x.pt.trace.json.gz"
    broken.write_bytes((real / name).read_bytes()[:9000])
    assert probe(broken)["meta"].keys() <= told.keys()
