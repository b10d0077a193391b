"""The Memory Viewer on real modules: choosing one, its numbers, its curve, what is alive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.charting import Chart
from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched

MIB = 1 << 20
FILES = {
    "jax": "jax_transformer_cpu.xplane.pb",
    "tpu": "tpu_4device.xplane.pb",
    "step": "jit_train_step.hlo_proto.pb",
}


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("plans")
    for run, file in FILES.items():
        (folder / run).mkdir()
        (folder / run / file).symlink_to(shared_data / "xla" / file)
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("plans-cache"))}
    with TensorBoardServer(folder, environment=cache) as running:
        yield running


def show(watched: Watched, server: TensorBoardServer, run: str, **words: object) -> FrameLocator:
    return open_page(watched.page, server.url + link(run, FILES[run], **words))


def exact(frame: FrameLocator) -> dict[str, int]:
    """Bytes behind the numbers at the head, by what they are called."""
    found = frame.locator("[data-bytes]").evaluate_all(
        "all => all.map(one => [one.dataset.exact, Number(one.dataset.bytes)])"
    )
    return dict(found)


def module(frame: FrameLocator, name: str) -> Any:
    return frame.get_by_role("navigation", name="HLO modules").get_by_role("button", name=name)


def test_a_profile_without_allocator_events_opens_at_its_largest_module(
    watched: Watched, server: TensorBoardServer, shared_data: Path
) -> None:
    frame = show(watched, server, "jax")
    frame.get_by_role("heading", name="jit_train_step").wait_for()
    settle(watched.page)
    path = shared_data / "xla" / "jax_transformer_cpu.jit_train_step.memory_viewer.json"
    wanted = json.loads(path.read_text())
    found = exact(frame)
    assert found["Peak"] == wanted["peakHeapMib"] * MIB
    assert found["Total"] == wanted["totalBufferAllocationMib"] * MIB
    assert found["Arguments"] == wanted["entryComputationParametersMib"] * MIB
    assert found["Outputs"] == wanted["maybeLiveOutMib"] * MIB
    assert found["Compiler's own peak"] == found["Peak"]
    assert found["Padding"] == 0
    told = frame.locator(".numbers").first.inner_text()
    assert f"after event {wanted['peakHeapSizePosition']} of 452" in told.replace("\u00a0", " ")
    assert module(frame, "jit_train_step").get_attribute("aria-current") == "true"

    # Names of 27 modules, of which one is looked for and chosen.
    frame.get_by_label("Filter modules").fill("generate")
    module(frame, "jit_generate").click()
    frame.get_by_role("heading", name="jit_generate").wait_for()
    settle(watched.page)
    path = shared_data / "xla" / "jax_transformer_cpu.jit_generate.memory_viewer.json"
    assert exact(frame)["Peak"] == json.loads(path.read_text())["peakHeapMib"] * MIB


def test_what_is_alive_at_a_click_is_what_xprof_has_there(
    watched: Watched, server: TensorBoardServer, shared_data: Path
) -> None:
    frame = show(watched, server, "step", by="region")
    path = shared_data / "xla" / "jax_transformer_cpu.jit_train_step.memory_viewer.json"
    heap = json.loads(path.read_text())["heapSizes"]
    settle(watched.page)
    chart = Chart(watched.page, frame)
    for share in (0.2, 0.6, 0.9):
        chart.hover(share)
        watched.page.mouse.down()
        watched.page.mouse.up()
        settle(watched.page)
        watched.page.wait_for_timeout(300)  # the address follows
        at = int(words_of(settled_address(watched.page, "p.memory.at="))["at"])
        cells = frame.locator("table.groups tr[data-row] td:nth-child(2)")
        titles = cells.evaluate_all("all => all.map(one => one.title)")
        whole = sum(int("".join(filter(str.isdigit, title))) for title in titles)
        assert whole == heap[at + 1] * MIB, at


def test_memory_spaces_are_those_that_the_module_has(
    watched: Watched, server: TensorBoardServer
) -> None:
    frame = show(watched, server, "tpu", view="profile", device="0")
    settle(watched.page)
    assert frame.get_by_role("tab", name="Memory Viewer").count() == 0
    module(frame, "jit_f").click()
    frame.get_by_role("heading", name="jit_f").wait_for()
    settle(watched.page)
    spaces = frame.get_by_role("radiogroup", name="Memory space").get_by_role("radio")
    assert spaces.all_inner_texts() == ["HBM", "sync flags", "host"]
    assert exact(frame)["Peak"] == 20 * 1024 * MIB + 32
    assert exact(frame)["Scoped VMEM"] == 24 * MIB
    frame.get_by_role("radio", name="host").click()
    settle(watched.page)
    assert exact(frame)["Peak"] == 15 * 1024 * MIB
    assert exact(frame)["Compiler's own peak"] == 37_580_963_872
    # Back at a device, there is its profile.
    frame.get_by_role("navigation", name="Devices").get_by_role("button", name="TPU:1").click()
    settle(watched.page)
    assert frame.get_by_role("tab", name="Profile").get_attribute("aria-selected") == "true"
