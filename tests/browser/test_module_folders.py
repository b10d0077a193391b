"""A folder that XLA dumped to, in a real browser: one entry, a bar for each module, its plan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.looking import link, open_page, settle
from tests.fixtures.hlo import heap
from tests.fixtures.pprof import part
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

STAGE = "cpu_after_optimizations.hlo.pb"
#: Bytes of the only buffer of each dumped module, in the order of the dump.
PEAKS = {"jit_init": 4096, "jit_step": 3 << 20, "jit_loss": 1 << 20}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("dumped")
    (folder / "mine").mkdir()
    for number, (name, size) in enumerate(PEAKS.items(), 1):
        module = heap([size], "+1 -1")
        module.name, module.id = name, number
        stem = folder / "mine" / f"module_{number:04}.{name}"
        Path(f"{stem}.{STAGE}").write_bytes(module.bytes())
        Path(f"{stem}.after_codegen.hlo.pb").write_bytes(part(1, module.module()))
    module.name = "jit_bare"
    alone = folder / "mine" / "module_0004.jit_bare.after_codegen.hlo.pb"
    alone.write_bytes(part(1, module.module()))
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("dumped-cache"))}
    with TensorBoardServer(folder, environment=cache) as running:
        yield running


def show(watched: Watched, server: TensorBoardServer, number: int, name: str) -> FrameLocator:
    file = f"module_{number:04}.{name}.{STAGE}"
    frame = open_page(watched.page, server.url + link("mine", file))
    frame.get_by_role("heading", name=name).wait_for()
    settle(watched.page)
    return frame


def test_dumped_modules_are_one_entry_and_chosen_by_their_peaks(
    watched: Watched, server: TensorBoardServer
) -> None:
    frame = show(watched, server, 1, "jit_init")
    files = frame.get_by_role("navigation", name="Files of modules")
    files.locator(".host .number").nth(2).wait_for()
    settle(watched.page)
    rows = files.locator(".host").all_inner_texts()
    names = ["jit_step 0002", "jit_loss 0003", "jit_init 0001", "jit_bare 0004"]
    assert [row.split("\n")[0].strip() for row in rows] == names
    said = [row.replace("\u00a0", " ") for row in rows]
    assert ["3.00 MiB" in said[0], "1.00 MiB" in said[1], "4.00 KiB" in said[2]] == [True] * 3
    entries = frame.locator("button.recording")
    assert entries.count() == 1
    assert "4 modules" in entries.inner_text().replace("\u00a0", " ")

    files.locator(".host", has_text="jit_step 0002").click()
    frame.get_by_role("heading", name="jit_step").wait_for()
    settle(watched.page)
    peak = frame.locator("[data-exact=Peak]")
    assert peak.get_attribute("data-bytes") == str(PEAKS["jit_step"])

    # What holds the program alone says what is missing, and how to get it.
    files.locator(".host", has_text="jit_bare 0004").click()
    frame.get_by_role("heading", name="No plan for memory is in this file").wait_for()
    settle(watched.page)
    assert "xla_dump_hlo_as_proto" in frame.locator("body").inner_text()
    assert "The file holds the program alone" in frame.locator("body").inner_text()
