"""Profiles that hold no memory, or not all of it: the page says what to do, in one sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.looking import link, open_page
from tests.fixtures.kineto import span
from tests.fixtures.nsys import export, memory
from tests.fixtures.xplane import Plane, space
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

#: By name of the file: what is wrong with it, and what to do about it.
MADE = {
    "gpu.xplane.pb": ("no allocator events of its GPUs", "profile with a host_tracer_level of 2"),
    "ops.pt.trace.json": (
        "holds no memory events: it was traced without profile_memory",
        "profile_memory=True",
    ),
    "kernels.sqlite": ("memory was not traced", "nsys profile --cuda-memory-usage=true"),
}
REAL = {
    "xla/tf2_gpu_worker.xplane.pb": ("was cut off", "copy the file whole"),
    "traces/h100_bert_small.json.gz": ("ends in the middle: it was cut off", "copy it whole"),
}


def make(folder: Path) -> None:
    """Of every format, a good profile of a program whose memory nobody has asked for."""
    host = Plane()
    host.line("python").event("PjitFunction(f)", 0, 5)
    (folder / "gpu.xplane.pb").write_bytes(space(host, Plane("/device:GPU:0")))
    ops = {"schemaVersion": 1, "traceEvents": [span("aten::mm", 1, 5)]}
    (folder / "ops.pt.trace.json").write_text(json.dumps(ops))
    events = [memory(1, 512, 0x1000)]
    export(folder / "kernels.sqlite", events, without=["CUDA_GPU_MEMORY_USAGE_EVENTS"])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("without")
    (folder / "made").mkdir()
    make(folder / "made")
    cache = tmp_path_factory.mktemp("without-cache")
    with TensorBoardServer(folder, environment={"TB_MEMORY_CACHE": str(cache)}) as running:
        yield running


def said(watched: Watched, server: TensorBoardServer, run: str, name: str) -> str:
    """What the page says instead of a picture: one sentence that begins with the file."""
    frame = open_page(watched.page, server.url + link(run, name))
    told = frame.locator(".explanation", has_text=name)
    told.wait_for()
    assert frame.locator(".numbers, canvas").count() == 0
    sentence = told.inner_text().replace("\u00a0", " ")
    assert sentence.startswith(f"{name}: ") and sentence.endswith("."), sentence
    assert "\n" not in sentence and len(sentence) < 400, sentence
    # One sentence: a full stop only stands within names, such as that of a function.
    assert not re.search(r"\.\s", sentence), sentence
    return sentence


@pytest.mark.parametrize("name", MADE)
def test_a_profile_without_memory(
    watched: Watched, server: TensorBoardServer, everywhere: Any, name: str
) -> None:
    fault, remedy = MADE[name]
    sentence = said(watched, server, "made", name)
    assert fault in sentence and remedy in sentence.partition(fault)[2]
    everywhere(watched.page, name.partition(".")[0])


def test_real_files_that_were_cut_off(
    watched: Watched, shared_data: Path, tmp_path: Path, everywhere: Any
) -> None:
    (tmp_path / "run").mkdir()
    for file in REAL:
        data = (shared_data / file).read_bytes()
        (tmp_path / "run" / Path(file).name).write_bytes(data[: len(data) * 2 // 3])
    with TensorBoardServer(tmp_path) as server:
        for file, (fault, remedy) in REAL.items():
            sentence = said(watched, server, "run", Path(file).name)
            assert fault in sentence and remedy in sentence.partition(fault)[2], sentence
        everywhere(watched.page, "cut")
        watched.page.goto("about:blank")
