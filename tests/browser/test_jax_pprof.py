"""A JAX device memory profile on the page: what it holds, and that it says what it does not."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.looking import link, open_page, peak, settle, wait_for_table
from tests.conftest import SHARED_DATA
from tests.fixtures import pprof
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched

TPU = SHARED_DATA / "xla" / "jax_tpu8_device_memory.prof"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    """A TensorBoard on a made profile, the real one of a TPU, and a profile of Python's beside."""
    folder = tmp_path_factory.mktemp("jax")
    for run in ("made", "tpu", "zero"):
        (folder / run).mkdir()
    made = pprof.small()
    (folder / "made" / "memory.prof").write_bytes(gzip.compress(made.bytes(), mtime=0))
    (folder / "made" / "python.prof").write_bytes(b"{(\xda\x01~r\x00\x00\x00\x00" * 9)
    unsized = pprof.Writer()
    place = unsized.location(("compile", "train.py", 3))
    unsized.sample([4, -4], [place], kind="executable")
    (folder / "zero" / "memory.prof").write_bytes(unsized.bytes())
    if TPU.is_file():
        (folder / "tpu" / "memory.prof").write_bytes(TPU.read_bytes())
    cache = tmp_path_factory.mktemp("jax-cache")
    with TensorBoardServer(folder, environment={"TB_MEMORY_CACHE": str(cache)}) as running:
        yield running


def opened(
    watched: Watched, server: TensorBoardServer, run: str = "made", **words: object
) -> FrameLocator:
    frame = open_page(watched.page, server.url + link(run, "memory.prof", **words))
    settle(watched.page)
    return frame


def rows(frame: FrameLocator) -> list[list[str]]:
    found = frame.locator("table.groups tr[data-row]").all()
    return [
        [cell.replace("\u00a0", " ").strip("▸▾ \n") for cell in row.locator("td").all_inner_texts()]
        for row in found
    ]


def test_profile(watched: Watched, server: TensorBoardServer, everywhere: Any) -> None:
    frame = opened(watched, server, device="cuda:0")
    wait_for_table(frame)

    assert peak(frame) == "150 B"
    assert rows(frame) == [["<module> · train.py:12", "150 B", "100.0 %", "2", "100 B"]]
    said = frame.locator(".no-history").inner_text()
    assert "holds what was alive at one moment and has no timeline" in said
    assert "torch" not in said
    chips = frame.locator(".chip").all_inner_texts()
    assert "stack" in chips and "lifetime" not in chips and "age at the cursor" not in chips
    devices = frame.locator(".device").all_inner_texts()
    assert [text.split("\n")[0] for text in devices] == ["cuda:0", "cuda:1", "executables"]
    everywhere(watched.page, "profile")


def test_the_other_profiler_is_not_listed(watched: Watched, server: TensorBoardServer) -> None:
    frame = opened(watched, server)

    assert "python.prof" not in frame.locator(".shell").inner_text()


def test_one_buffer(watched: Watched, server: TensorBoardServer) -> None:
    frame = opened(watched, server, device="cuda:1")
    wait_for_table(frame)
    frame.locator("[data-fold]").first.click()
    frame.locator("tr.inner[data-row]").first.click()
    settle(watched.page)

    card = frame.locator(".inspector").inner_text().replace("\u00a0", " ")
    assert "1.00 MiB allocation" in card
    assert "alive at the end" in card
    assert "before the window" not in card and "0x0" not in card
    assert card.index("matmul") < card.index("forward") < card.index("<module>")


def test_flame_graph(watched: Watched, server: TensorBoardServer, everywhere: Any) -> None:
    frame = opened(watched, server, device="cuda:1", view="flame")

    assert frame.locator("[data-key=alive]").get_attribute("aria-checked") == "true"
    assert frame.locator("[data-key=kept]").is_disabled()
    text = frame.locator(".shell").inner_text().replace("\u00a0", " ")
    assert "3.00 MiB" in text
    assert "<module> · train.py:12" in text
    everywhere(watched.page, "flame")


def test_allocations(watched: Watched, server: TensorBoardServer, everywhere: Any) -> None:
    frame = opened(watched, server, device="cuda:1", view="allocations")

    address = frame.locator("[data-key=address]")
    assert address.is_disabled()
    assert "does not say where in memory" in (address.get_attribute("title") or "")
    assert frame.locator("[data-key=stacked]").get_attribute("aria-checked") == "true"
    assert "One moment" in frame.locator(".allocations-moment").inner_text()
    everywhere(watched.page, "allocations")


def test_segments(watched: Watched, server: TensorBoardServer, everywhere: Any) -> None:
    frame = opened(watched, server, view="segments")

    assert "device memory profiles of JAX do not" in frame.locator(".no-history").inner_text()
    assert frame.locator("[data-testid=segments-state]").count() == 0
    everywhere(watched.page, "segments")


def test_settings(watched: Watched, server: TensorBoardServer, everywhere: Any) -> None:
    frame = opened(watched, server, view="settings")

    text = frame.locator(".settings").inner_text()
    assert "has no timeline" in text and "does not say where in memory" in text
    everywhere(watched.page, "settings")


@pytest.mark.parametrize("view", ["flame", "allocations"])
def test_executables_of_unknown_size(
    watched: Watched, server: TensorBoardServer, view: str
) -> None:
    frame = opened(watched, server, run="zero", view=view)

    text = frame.locator(".shell").inner_text().replace("\u00a0", " ")
    assert "4 allocations of 0 bytes" in text
    assert "No stack is known" not in text


@pytest.mark.skipif(not TPU.is_file(), reason="the shared real files (../shared/data) are not here")
def test_a_real_tpu(watched: Watched, server: TensorBoardServer, everywhere: Any) -> None:
    frame = opened(watched, server, run="tpu")
    wait_for_table(frame)

    assert peak(frame) == "3.07 GiB"
    assert frame.locator(".device").count() == 9
    # Largest first, as the file itself adds up.
    sums: dict[tuple[pprof.Frame, ...], int] = {}
    for sample in pprof.read(TPU.read_bytes()):
        if sample.labels.get("device", "").startswith("TPU_0("):
            sums[sample.frames] = sums.get(sample.frames, 0) + sample.bytes
    titles = frame.locator("table.groups tr[data-row] td:nth-child(2)").evaluate_all(
        "cells => cells.map(cell => Number(cell.title.replace(/[^0-9]/g, '')))"
    )
    assert titles == sorted(sums.values(), reverse=True)[: len(titles)]
    assert len(titles) > 10
    everywhere(watched.page, "tpu")
