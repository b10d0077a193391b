"""A TensorBoard on the real XPlanes and traces, a run each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.looking import link, open_page, settle
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched

FILES = {
    "tpu": "xla/tpu_4device.xplane.pb",
    "gpus": "xla/tf2_gpu_worker.xplane.pb",
    "mi300": "xla/jax_mi300_attention.xplane.pb",
    "bfc": "xla/tf_mlp_cpu_bfc.xplane.pb",
    "bert": "traces/h100_bert_small.json.gz",
    "qwen": "traces/h100_qwen_chat.json.gz",
    "vit": "traces/mi300_vit.json.gz",
    "v100": "traces/v100_2gpu_216k_events.json.gz",
    "resnet": "traces/v100_torch19_resnet50.pt.trace.json.gz",
    "timeline": "timelines/tl.json",
    "graphs": "traces/mi300_sglang_graph_capture.json.gz",
}


@pytest.fixture(scope="session")
def profiled(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    """The server; runs are the keys of :data:`FILES`."""
    folder = tmp_path_factory.mktemp("profiled")
    for run, file in FILES.items():
        (folder / run).mkdir()
        (folder / run / Path(file).name).symlink_to(shared_data / file)
    cache = tmp_path_factory.mktemp("profiled-cache")
    with TensorBoardServer(folder, environment={"TB_MEMORY_CACHE": str(cache)}) as running:
        yield running


def opened(watched: Watched, server: TensorBoardServer, run: str, **words: object) -> FrameLocator:
    """The page at a link to a run."""
    frame = open_page(watched.page, server.url + link(run, Path(FILES[run]).name, **words))
    settle(watched.page)
    return frame


def numbers(frame: FrameLocator) -> dict[str, str]:
    """The numbers that answer first, by label."""
    facts: Any = frame.locator("dl.numbers > div").all()
    return {
        fact.locator("dt").inner_text(): fact.locator(".big").inner_text().replace("\u00a0", " ")
        for fact in facts
    }
