"""An export of Nsight Systems on the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.looking import link, open_page, peak, settle, wait_for_table
from tests.browser.picturing import Picture
from tests.fixtures.nsys import GIB, Row, call, export, memory, nvtx
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

MIB = 1 << 20
MS = 1_000_000


def rows_of_a_training() -> tuple[list[Row], list[Row]]:
    """Two GiB for a framework, what a library takes in every step, a pool; and the ranges."""
    events = [memory(1 * MS, 2 * GIB, 0x7F00_0000_0000, correlationId=1)]
    ranges = []
    for step in range(4):
        at = (10 + 20 * step) * MS
        ranges += [nvtx(f"step {step}", at, at + 18 * MS), nvtx("forward", at + MS, at + 9 * MS)]
        address = 0x7F10_0000_0000 + step * 0x1000_0000
        pool = {
            "localMemoryPoolAddress": 9,
            "localMemoryPoolSize": (step + 1) * 512 * MIB,
            "localMemoryPoolUtilizedSize": 64 * MIB,
        }
        events += [
            memory(at + 2 * MS, 256 * MIB, address, correlationId=2),
            memory(at + 3 * MS, 64 * MIB, address + GIB, correlationId=3, **pool),
            memory(at + 8 * MS, -64 * MIB, address + GIB, **pool),
            memory(at + 12 * MS, 32 * MIB, address + 2 * GIB, memKind=1),
        ]
        if step < 3:
            events.append(memory(at + 9 * MS, -256 * MIB, address))
    return events, ranges


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    """A TensorBoard on an export, a report and a database of somebody else's."""
    folder = tmp_path_factory.mktemp("nsys")
    run = folder / "run"
    run.mkdir()
    events, ranges = rows_of_a_training()
    words = ["cudaMalloc_v3020", "cudaMallocAsync_v11020", "ncclCommInitRank", "/lib/libnccl.so.2"]
    export(
        run / "report.sqlite",
        events,
        NVTX_EVENTS=ranges,
        StringIds=[{"id": place, "value": word} for place, word in enumerate(words)],
        CUPTI_ACTIVITY_KIND_RUNTIME=[call(1, 0), call(2, 0, callchainId=5), call(3, 1)],
        CUDA_CALLCHAINS=[{"id": 5, "symbol": 2, "module": 3, "stackDepth": 0}],
    )
    (run / "report.nsys-rep").write_bytes(b"\1\2\3")
    export(run / "other.sqlite", [], without=_ALL)
    cache = tmp_path_factory.mktemp("nsys-cache")
    with TensorBoardServer(folder, environment={"TB_MEMORY_CACHE": str(cache)}) as running:
        yield running


_ALL = [
    "CUDA_GPU_MEMORY_USAGE_EVENTS",
    "TARGET_INFO_SESSION_START_TIME",
    "META_DATA_EXPORT",
    "StringIds",
]


def opened(
    watched: Watched, server: TensorBoardServer, source: str, **words: object
) -> FrameLocator:
    frame = open_page(watched.page, server.url + link("run", source, **words))
    settle(watched.page)
    return frame


def shown(frame: FrameLocator) -> str:
    return frame.locator(".shell").inner_text().replace("\u00a0", " ")


def test_the_profile_of_a_gpu(watched: Watched, server: TensorBoardServer, everywhere: Any) -> None:
    frame = opened(watched, server, "report.sqlite", by="region")
    wait_for_table(frame)

    assert peak(frame) == "2.31 GiB"
    text = shown(frame)
    assert "device" in text and "memory pool 1" in text
    assert "cuda:0 driver" in text and "of 80.00 GiB" in text
    assert "2.75 GiB" in text  # reserved at the peak: two GiB, 256 MiB and the whole pool
    assert "other.sqlite" not in text
    everywhere(watched.page, "nsys-profile")
    frame.get_by_role("button", name="op", exact=True).click()
    settle(watched.page)
    assert "cudaMallocAsync" in shown(frame)


def test_allocations_and_stacks(
    watched: Watched, server: TensorBoardServer, everywhere: Any
) -> None:
    asked = {"view": "allocations", "by": "stack", "axis": "event"}
    whole = Picture(watched.page, opened(watched, server, "report.sqlite", **asked))
    assert whole.highest() == (2 * GIB + (256 + 64) * MIB, 3)
    everywhere(watched.page, "nsys-allocations")
    # The framework's and the library's, before anything of the pool.
    begun = opened(watched, server, "report.sqlite", **asked, window="0..2")
    assert Picture(watched.page, begun).highest() == (2 * GIB + 256 * MIB, 2)
    frame = opened(watched, server, "report.sqlite", view="flame")
    assert "ncclCommInitRank" in shown(frame)


def test_other_kinds_of_memory_are_devices(watched: Watched, server: TensorBoardServer) -> None:
    frame = opened(watched, server, "report.sqlite", device="pinned")
    wait_for_table(frame)
    assert peak(frame) == "128.0 MiB"


def test_a_report_says_how_to_export_it(watched: Watched, server: TensorBoardServer) -> None:
    frame = opened(watched, server, "report.nsys-rep")

    frame.get_by_text("nsys export --type sqlite").first.wait_for()
