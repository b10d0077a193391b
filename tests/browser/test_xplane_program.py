"""What a real XPlane's program did, on the page: calls of Python as stacks, steps, annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.looking import wait_for_table
from tests.browser.xplanes import opened

if TYPE_CHECKING:
    from tests.browser.conftest import Watched
    from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed


def test_memory_of_jax_by_the_calls_that_made_it(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    frame = opened(watched, profiled, "mi300", device="GPU_0_bfc", by="stack")
    wait_for_table(frame)
    row = frame.locator("table.groups tr[data-row]").first
    assert "attention · generate_attention_trace.py:21" in row.inner_text()
    assert "256.0 MiB" in row.inner_text().replace("\u00a0", " ")
    frame = opened(watched, profiled, "mi300", device="GPU_0_bfc", by="op")
    wait_for_table(frame)
    row = frame.locator("table.groups tr[data-row]").first
    assert "PjitFunction(matmul)" in row.inner_text()
    assert "312.0 MiB" in row.inner_text().replace("\u00a0", " ")


def test_steps_and_annotations_of_tensorflow(watched: Watched, profiled: TensorBoardServer) -> None:
    frame = opened(watched, profiled, "bfc")
    wait_for_table(frame)
    # Beside it stands what is known of other recordings, which may have modules.
    said = frame.locator(".stage").inner_text()
    assert "annotations" in said and "steps" in said and "modules" not in said
