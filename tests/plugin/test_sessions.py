"""Sessions of several hosts, through a real TensorBoard."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED_DATA
from tests.fixtures.xplane import capture
from tests.plugin.server import TensorBoardServer

MIB = 1 << 20
BEGIN = 1_700_000_000_123_456_789
SIZES = {"worker-2": (40, 8), "worker-10": (40, 100), "worker-0": (40, 30)}
PEAKS = {host: sum(sizes) * MIB for host, sizes in SIZES.items()}


def write_host(folder: Path, host: str, sizes: tuple[int, ...]) -> Path:
    path = folder / f"{host}.xplane.pb"
    path.write_bytes(capture(host, [size * MIB for size in sizes], begin_ns=BEGIN))
    return path


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a session of three hosts and one that is cut."""
    folder = tmp_path_factory.mktemp("logs") / "job" / "plugins" / "profile" / "2026_11_30_10_00_00"
    folder.mkdir(parents=True)
    for host, sizes in SIZES.items():
        whole = write_host(folder, host, sizes)
    (folder / "worker-7.xplane.pb").write_bytes(whole.read_bytes()[:-150])
    return folder


@pytest.fixture(scope="module")
def server(session: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("cache"))}
    with TensorBoardServer(session.parents[3], environment=cache) as running:
        yield running


def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)
    return found


def hosts(server: TensorBoardServer) -> dict[str, dict[str, Any]]:
    return {row["host"]: row for row in server.sources().values()}


def test_hosts_are_read_in_the_background_and_one_that_is_broken_fails_alone(
    server: TensorBoardServer,
) -> None:
    answer = until(lambda: (found := server.get("sources").json())["sessions"] and found)
    (one,) = answer["sessions"]
    assert (one["run"], one["label"], one["of"]) == ("job", "2026_11_30_10_00_00", "host")
    found = hosts(server)
    assert sorted(found) == sorted([*SIZES, "worker-7"])
    assert {row["session"] for row in found.values()} == {one["key"]}
    first = found["worker-0"]["id"]
    assert server.opened(first)["state"] == "ready"
    assert server.get("read", source=first).json()["hosts"] == 4
    until(
        lambda: not {row["state"] for row in hosts(server).values()} & {"new", "queued", "reading"}
    )
    found = hosts(server)
    assert {host: found[host]["brief"]["peak_bytes"] for host in SIZES} == PEAKS
    assert {found[host]["brief"]["capacity"] for host in SIZES} == {1 << 34}
    assert found["worker-7"]["state"] == "error"
    assert found["worker-7"]["error"].startswith("worker-7.xplane.pb: ")
    for host in SIZES:
        summary = server.get("summary", source=found[host]["id"]).json()
        assert summary["devices"][0]["allocated_peak"] == PEAKS[host]
        # The first event is a quarter of a millisecond, or none, after the beginning.
        assert int(summary["time_origin"]) - BEGIN in (0, 250_000)
        assert summary["meta"]["clock"] == "unix"


def test_a_host_that_comes_later_joins_its_session(
    server: TensorBoardServer, session: Path
) -> None:
    until(lambda: server.get("sources").json()["sessions"])
    path = write_host(session, "worker-11", (40, 1))
    row = until(lambda: hosts(server).get("worker-11"))
    assert row["session"] == hosts(server)["worker-0"]["session"]
    server.get("read", source=row["id"])
    until(lambda: hosts(server)["worker-11"]["state"] == "ready")
    path.unlink()
    until(lambda: "worker-11" not in hosts(server))


def test_what_to_read_must_be_named(server: TensorBoardServer) -> None:
    for parameters in ({}, {"source": "../etc"}, {"source": "ab"}, {"source": "ab", "stop": 7}):
        answer = server.get("read", **parameters)
        assert answer.status in (400, 404)
        assert answer.json()["error"].endswith(".")


def test_copies_of_real_captures_are_one_session(tmp_path: Path) -> None:
    real = SHARED_DATA / "xla"
    if not real.exists():
        pytest.skip("no real captures beside the checkout")
    folder = tmp_path / "logs" / "run" / "plugins" / "profile" / "s"
    folder.mkdir(parents=True)
    names = ("tf_mlp_cpu_bfc", "tf2_gpu_worker", "tpu_4device", "corrupt_utf8")
    for name in names:
        (folder / f"{name}.xplane.pb").write_bytes((real / f"{name}.xplane.pb").read_bytes())
    cache = {"TB_MEMORY_CACHE": str(tmp_path / "cache")}
    with TensorBoardServer(tmp_path / "logs", environment=cache) as server:
        row = until(lambda: hosts(server).get("tpu_4device"))
        server.get("read", source=row["id"])
        ended = {**dict.fromkeys(names, "ready"), "corrupt_utf8": "error"}
        until(lambda: {host: row["state"] for host, row in hosts(server).items()} == ended)
        peaks = {
            host: row["brief"]["peak_bytes"] for host, row in hosts(server).items() if row["brief"]
        }
        assert len(set(peaks.values())) == 3
        assert min(peaks.values()) > 0
