"""The picture by address of XPlanes and traces, of which a part has no address."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tb_memory_plugin.api import load
from tests.browser.looking import settle, words_of
from tests.browser.xplanes import FILES, opened

if TYPE_CHECKING:
    from tests.browser.conftest import Watched
    from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


@pytest.mark.parametrize(("run", "key"), [("bfc", "bfc_cpu_allocator_for_gpu"), ("bert", "1:0")])
def test_the_rest_is_drawn_and_a_line_says_what_is_not(
    watched: Watched,
    profiled: TensorBoardServer,
    shared_data: Path,
    everywhere: Any,
    run: str,
    key: str,
) -> None:
    recording = load(shared_data / FILES[run]).recording
    device = recording.device(key)
    lives = [
        life
        for life in recording.table("allocations").to_pylist()
        if life["device"] == device.index
    ]
    (away,) = [life["size"] for life in lives if life["address"] is None]
    frame = opened(watched, profiled, run, device=key, view="allocations", layout="address")
    assert frame.locator("[data-key=address]").get_attribute("aria-checked") == "true"
    assert frame.get_by_test_id("allocations-instead").count() == 0
    said = frame.get_by_test_id("allocations-hidden").inner_text().replace("\u00a0", " ")
    assert said == (
        f"{away / 2**20:.2f} MiB that were alive before the window are not shown: the source has "
        "their sum only, and no addresses."
    )
    everywhere(watched.page, f"address-{run}")

    # Stacked, it is there, and there is nothing to say.
    frame.locator("[data-key=stacked]").click()
    settle(watched.page)
    assert frame.get_by_test_id("allocations-hidden").count() == 0
    assert "layout" not in words_of(watched.page.url)


def test_made_up_addresses_are_none(watched: Watched, profiled: TensorBoardServer) -> None:
    frame = opened(watched, profiled, "timeline", view="allocations", layout="address")
    said = frame.get_by_test_id("allocations-instead").inner_text()
    assert "does not say where allocations are" in said
    assert frame.locator("[data-key=address]").is_disabled()
