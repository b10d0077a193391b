"""What the Memory Viewer tells beside: instructions of events, runs, opcodes, missing plans."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tb_memory_plugin.api import load
from tb_memory_plugin.views import modules
from tests.browser.charting import Chart
from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

FILES = {"step": "jit_train_step.hlo_proto.pb", "tpu": "tpu_4device.xplane.pb"}


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("told")
    for run, file in FILES.items():
        (folder / run).mkdir()
        (folder / run / file).symlink_to(shared_data / "xla" / file)
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("told-cache"))}
    with TensorBoardServer(folder, environment=cache) as running:
        yield running


def show(watched: Watched, server: TensorBoardServer, run: str, **words: object) -> FrameLocator:
    frame = open_page(watched.page, server.url + link(run, FILES[run], **words))
    frame.get_by_role("group", name="Bars of buffers").wait_for()
    settle(watched.page)
    return frame


def test_a_buffer_leads_to_where_its_module_ran(
    watched: Watched, server: TensorBoardServer, shared_data: Path
) -> None:
    frame = show(watched, server, "tpu", view="plan", device="plan:3", table="allocations")
    frame.locator("tr[data-row]").first.click()
    fact = frame.locator(".inspector dl > div").filter(has_text="Module ran")
    fact.wait_for()
    assert fact.locator("dd").inner_text().replace("\u00a0", " ") == (
        "400 times: TPU:0, TPU:1, TPU:2 and TPU:3"
    )
    fact.get_by_role("button", name="TPU:2").click()
    settle(watched.page)
    words = words_of(settled_address(watched.page, "p.memory.window="))
    recording = load(shared_data / "xla" / FILES["tpu"]).recording
    program = "/^12190760917235803885$/"
    page = modules.page(recording, recording.device("2"), find=program, sort="begin", limit=1)
    (first,) = page["rows"]
    assert (words["device"], words["axis"]) == ("2", "time")
    assert words["window"] == f"{first['begin']}..{first['end']}"


def test_the_chart_names_the_instruction_of_the_event(
    watched: Watched, server: TensorBoardServer, shared_data: Path
) -> None:
    path = shared_data / "xla" / "jax_transformer_cpu.jit_train_step.memory_viewer.json"
    names = json.loads(path.read_text())["hloInstructionNames"]
    frame = show(watched, server, "step", window="60..140")
    chart = Chart(watched.page, frame)
    for event in (61, 106, 130):
        chart.hover_event(event, (event - 60 + 0.5) / 80)
        told = frame.get_by_test_id("timeline-tooltip").locator("[data-told=instruction]")
        assert told.inner_text() == names[event]
    assert len({names[event] for event in (61, 106, 130)}) == 3
