"""The Memory Viewer on real modules: choosing one, its numbers, its curve, what is alive."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tb_memory_plugin.api import load
from tb_memory_plugin.views import modules
from tests.browser.charting import Chart
from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.fixtures.hlo import heap
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched

MIB = 1 << 20
pytestmark = pytest.mark.framed

FILES = {
    "jax": "jax_transformer_cpu.xplane.pb",
    "tpu": "tpu_4device.xplane.pb",
    "step": "jit_train_step.hlo_proto.pb",
    "odd": "jit_odd.hlo_proto.pb",
}


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("plans")
    for run, file in FILES.items():
        (folder / run).mkdir()
        if run != "odd":
            (folder / run / file).symlink_to(shared_data / "xla" / file)
    # Freed twice; and a second allocation that no trace is of.
    odd = heap([4096, 8192], "+1 +2 -1 -1 -2")
    odd.allocation(512)
    (folder / "odd" / FILES["odd"]).write_bytes(odd.bytes())
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
    assert (found["Padding"], found["Constants"]) == (0, 20)
    assert found["Temporary"] == (wanted["totalBufferAllocationMib"] * MIB) - (
        wanted["indefiniteBufferAllocationMib"] * MIB
    )
    told = frame.locator(".numbers").first.inner_text()
    assert "39.91 MiB in donated arguments" in told.replace("\u00a0", " ")
    assert f"after event {wanted['peakHeapSizePosition']} of 452" in told.replace("\u00a0", " ")
    assert module(frame, "jit_train_step").get_attribute("aria-current") == "true"
    frame.get_by_text("Not in this recording: allocator events").click()
    lack = frame.locator(".notes li").inner_text()
    assert "JAX on a CPU never writes them" in lack
    assert "jax.profiler.save_device_memory_profile" in lack

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
        settle(watched.page)
        at = int(words_of(settled_address(watched.page, "p.memory.at="))["at"])
        cells = frame.locator("table.groups tr[data-row] td:nth-child(2)")
        titles = cells.evaluate_all("all => all.map(one => one.title)")
        whole = sum(int("".join(filter(str.isdigit, title))) for title in titles)
        assert whole == heap[at + 1] * MIB, at


def test_memory_spaces_are_those_that_the_module_has(
    watched: Watched, server: TensorBoardServer
) -> None:
    # A link to a view that cannot show a device leads to the one that can.
    frame = show(watched, server, "tpu", view="plan", device="0")
    settle(watched.page)
    assert frame.get_by_role("tab", name="Profile").get_attribute("aria-selected") == "true"
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
    frame.get_by_text("It counts other memory spaces too: HBM (20.0 GiB), sync flags").wait_for()
    # Back at a device, there is its profile.
    frame.get_by_role("navigation", name="Devices").get_by_role("button", name="TPU:1").click()
    settle(watched.page)
    assert frame.get_by_role("tab", name="Profile").get_attribute("aria-selected") == "true"


def test_the_tree_is_looked_into_and_selects(watched: Watched, server: TensorBoardServer) -> None:
    frame = show(watched, server, "step", table="tree")
    boxes = frame.get_by_test_id("plan-boxes")
    boxes.locator("[data-name='jit(train_step)']").wait_for()

    def said() -> str:
        return frame.locator(".plan-tree .way").inner_text().replace("\u202f", " ")

    assert "209.5 MiB in 150 buffers" in said().replace("\u00a0", " ")
    for form in ("tree map", "flame"):
        frame.get_by_role("radio", name=form, exact=True).click()
        boxes.locator("[data-name=parameters]").click(position={"x": 4, "y": 4})
        settle(watched.page)
        assert said().replace("\u00a0", " ").startswith("all › parameters 39.91 MiB in 52 buffers")
        # Momentum is as large as what it is of: of each half the width, or of the plane.
        areas = {}
        for name in "pm":
            found = boxes.locator(f"[data-name={name}]").bounding_box()
            assert found is not None
            areas[name] = found["width"] * found["height"]
        assert areas["p"] == pytest.approx(areas["m"], rel=0.01)
        frame.get_by_role("button", name="all", exact=True).click()
    frame.locator("[data-name=parameters]").click(position={"x": 4, "y": 4})
    frame.locator("[data-name=p]").click(position={"x": 4, "y": 4})
    frame.locator("[data-name=emb]").click(position={"x": 4, "y": 4})
    frame.locator("[data-name='p__emb__.1']").click(position={"x": 4, "y": 4})
    settle(watched.page)
    chosen = words_of(settled_address(watched.page, "p.memory.allocation="))
    assert chosen["allocation"].isdigit()
    frame.locator(".inspector").get_by_text("p__emb__.1").first.wait_for()


def test_plans_are_compared_across_recordings(
    watched: Watched, server: TensorBoardServer, shared_data: Path
) -> None:
    frame = show(watched, server, "step", table="compare")
    frame.get_by_text("Choose what to compare with.").wait_for()
    frame.get_by_label("Recording to compare with").select_option(label="jax / " + FILES["jax"])
    module = frame.get_by_label("Module to compare with")
    module.locator("option", has_text="jit_generate").wait_for(state="attached")
    module.select_option(label=module.locator("option", has_text="jit_generate").inner_text())
    frame.get_by_role("radio", name="category").click()
    rows = frame.get_by_role("table", name="Plans side by side").locator("tbody tr")
    rows.nth(1).wait_for()
    settle(watched.page)

    def of(label: str) -> list[int]:
        cells = frame.locator(f"tr[data-label='{label}'] td[title]")
        titles = cells.evaluate_all("all => all.map(one => one.title)")
        return [int("".join(filter(str.isdigit, title)) or 0) for title in titles]

    mine, theirs = 219_693_504, 32_477_232
    assert of("all") == [mine, theirs, mine - theirs]
    assert of("parameter") == [20_922_368, 20_922_368, 0]
    assert of("gradient") == [12_288_000, 0, 12_288_000]


@pytest.mark.parametrize("view", ["plan", "allocations"])
def test_a_drawing_is_kept_as_svg_and_png(
    watched: Watched, server: TensorBoardServer, view: str
) -> None:
    frame = show(watched, server, "step", view=view)
    settle(watched.page)
    with watched.page.expect_download() as kept:
        frame.get_by_role("link", name="SVG").click()
    assert kept.value.suggested_filename == "jit_train_step-50-memory.svg"
    assert Path(kept.value.path()).read_text().count("<title>") == 285
    with watched.page.expect_download() as kept:
        frame.get_by_role("button", name="PNG").click()
    data = Path(kept.value.path()).read_bytes()
    assert data.startswith(b"\x89PNG")
    assert (int.from_bytes(data[16:20]), int.from_bytes(data[20:24])) == (3200, 1800)


def test_a_link_to_a_plan_without_its_device_shows_the_largest(
    watched: Watched, server: TensorBoardServer
) -> None:
    frame = show(watched, server, "tpu", view="plan")
    assert frame.locator(".plan-name h1").inner_text()
    assert frame.get_by_role("tab", name="Memory Viewer").get_attribute("aria-selected") == "true"


def test_a_link_to_a_trace_shows_the_plan_where_that_is_all_there_is(
    watched: Watched, server: TensorBoardServer
) -> None:
    frame = show(watched, server, "jax", view="trace")
    frame.get_by_role("heading", name="jit_train_step").wait_for()
    assert frame.get_by_role("tab", name="Memory Viewer").get_attribute("aria-selected") == "true"
    assert frame.get_by_role("tab", name="Trace").count() == 0
    assert "span" not in frame.locator(".inspector").inner_text()


def test_where_a_module_ran_is_shown_and_what_else_was_alive(
    watched: Watched, server: TensorBoardServer, shared_data: Path
) -> None:
    frame = show(watched, server, "tpu", view="plan", device="plan:3")
    runs = frame.locator(".plan-runs")
    runs.get_by_role("button", name="TPU:1").wait_for()
    assert "It ran 100 times on TPU:0, TPU:1, TPU:2 and TPU:3 each" in runs.inner_text().replace(
        "\u00a0", " "
    )
    recording = load(shared_data / "xla" / FILES["tpu"]).recording
    program = "/^12190760917235803885$/"
    page = modules.page(recording, recording.device("0"), find=program, sort="begin", limit=1)
    (first,) = page["rows"]
    titles = runs.locator("span[title]").evaluate_all("all => all.map(one => one.title)")
    told = [int("".join(filter(str.isdigit, title))) for title in titles]
    assert told == [first["before"], first["peak"]]
    runs.get_by_role("button", name="TPU:1").click()
    settle(watched.page)
    assert frame.get_by_role("tab", name="Profile").get_attribute("aria-selected") == "true"
    words = words_of(settled_address(watched.page, "p.memory.window="))
    assert (words["device"], words["axis"]) == ("1", "time")


def test_what_is_odd_about_a_plan_is_told_beside_what_can_be_worked_out(
    watched: Watched, server: TensorBoardServer
) -> None:
    frame = show(watched, server, "odd")
    frame.get_by_text("2 problems in the file").click()
    told = frame.locator(".notes li").all_inner_texts()
    assert any("buffer 1 is freed while not alive" in each for each in told)
    assert any("Temporary allocation 1 has no heap trace: its 512 bytes" in each for each in told)
    settle(watched.page)
    assert exact(frame)["Peak"] == 4096 + 8192 + 512


def test_the_peak_is_compared_with_what_a_device_has(
    watched: Watched, server: TensorBoardServer
) -> None:
    frame = show(watched, server, "tpu", view="plan", device="plan:3")
    choice = frame.get_by_label("Device to compare with")
    choice.select_option(value="TPU v4")
    capacity = frame.locator(".plan-capacity")
    capacity.get_by_text("62.5\u00a0% of 32.00\u00a0GiB").wait_for()
    assert capacity.locator(".danger").count() == 0
    choice.select_option(value="TPU v5e")
    assert capacity.locator(".danger").inner_text().startswith("125")
    # It is kept for the next plan.
    module(frame, "jit__psum").click()
    frame.get_by_role("heading", name="jit__psum").wait_for()
    assert frame.get_by_label("Device to compare with").input_value() == "TPU v5e"
    choice.select_option(value="")


def test_a_buffer_is_told_by_its_number_at_its_place(
    watched: Watched, server: TensorBoardServer, shared_data: Path
) -> None:
    path = shared_data / "xla" / "jax_transformer_cpu.jit_train_step.memory_viewer.json"
    wanted = json.loads(path.read_text())
    blocks = {one["logicalBufferId"]: one for one in wanted["bufferBlocks"]}
    held = int(wanted["indefiniteBufferAllocationMib"] * MIB)
    for id in (100, 200):
        frame = show(watched, server, "step", allocation=id)
        rows = frame.locator(".inspector dl > *")
        rows.filter(has_text="Place").first.wait_for()
        settle(watched.page)
        told = rows.all_inner_texts()
        facts = "\n".join(told).replace("\u202f", "").replace("\u00a0", " ")
        number = re.search(r"Buffer\s+(\d+)", facts)
        place = re.search(
            r"Place\s+(\d+) \(0x([0-9a-f]+)\) in allocation 135 .*; (\d+) from", facts
        )
        assert number and place, facts
        block = blocks[int(number[1])]
        assert int(place[1]) == int(place[2], 16) == block.get("offset", 0)
        assert int(place[3]) == block.get("offset", 0) + held
        watched.page.goto("about:blank")
