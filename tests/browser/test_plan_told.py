"""What the Memory Viewer tells beside: instructions of events, runs, opcodes, missing plans."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.api import load
from tb_memory_plugin.views import buffers, modules
from tests.browser.charting import Chart
from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.fixtures.hlo import heap
from tests.fixtures.padded import Planned, padded
from tests.fixtures.pprof import part
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

REAL = {
    "step": "jit_train_step.hlo_proto.pb",
    "tpu": "tpu_4device.xplane.pb",
    "mi300": "jax_mi300_attention.xplane.pb",
}
MADE = {
    "padded": "padded.hlo_proto.pb",
    "odd": "odd.hlo_proto.pb",
    "bare": "module_0001.jit_bare.after_optimizations.hlo.pb",
}
FILES = REAL | MADE


@pytest.fixture(scope="module")
def server(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardServer]:
    folder = tmp_path_factory.mktemp("told")
    for run in FILES:
        (folder / run).mkdir()
    for run, file in REAL.items():
        (folder / run / file).symlink_to(shared_data / "xla" / file)
    odd = heap([4096, 8192], "+1 +2 -1 -2")
    odd.allocation(512)
    bare = heap([8], "+1 -1")
    bare.name = "jit_bare"
    contents = (padded()[0].bytes(), odd.bytes(), part(1, bare.module()))
    for (run, file), content in zip(MADE.items(), contents, strict=True):
        (folder / run / file).write_bytes(content)
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("told-cache"))}
    with TensorBoardServer(folder, environment=cache) as running:
        yield running


def alive(plan: list[Planned], event: int) -> list[Planned]:
    """What is alive after an event."""
    return [
        each
        for each in plan
        if (each.birth is None or each.birth <= event)
        and (each.death is None or each.death > event)
    ]


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


def test_a_buffer_leads_to_where_its_instruction_ran(
    watched: Watched, server: TensorBoardServer, shared_data: Path
) -> None:
    frame = show(watched, server, "tpu", view="plan", device="plan:3", table="allocations")
    frame.locator("tr[data-row]").filter(has_text="broadcast_add_fusion.1").first.click()
    fact = frame.locator(".inspector dl > div").filter(has_text="Instruction ran")
    fact.wait_for()
    assert fact.locator("dd").inner_text().replace("\u00a0", " ") == "400 times: the first"
    fact.get_by_role("button", name="the first").click()
    settle(watched.page)
    words = words_of(settled_address(watched.page, "p.memory.span="))
    spans = load(shared_data / "xla" / FILES["tpu"]).recording.table("spans").to_pylist()
    ran = [row for row, span in enumerate(spans) if span["name"] == "broadcast_add_fusion.1"]
    first = spans[min(ran, key=lambda row: spans[row]["begin"])]
    assert spans[int(words["span"])] == first
    assert (words["view"], words["device"], words["axis"]) == (
        "trace",
        str(first["device"]),
        "time",
    )
    begin, end = map(int, words["window"].split(".."))
    assert begin < first["begin"] < first["end"] < end
    frame.locator(".inspector h2", has_text="broadcast_add_fusion.1").wait_for()


def test_runs_are_counted_once_where_an_allocator_of_the_host_has_them_too(
    watched: Watched, server: TensorBoardServer
) -> None:
    frame = show(watched, server, "mi300", view="plan", device="plan:3")
    frame.get_by_role("group", name="Bars of buffers").focus()
    for key in ("Home", "Enter"):
        watched.page.keyboard.press(key)
    fact = frame.locator(".inspector dl > div").filter(has_text="Module ran")
    fact.wait_for()
    settle(watched.page)
    assert fact.locator("dd").inner_text().replace("\u00a0", " ") == "3 times: GPU_0_bfc"


def test_a_plan_of_what_is_held_all_the_time_has_its_buffers_and_advice(
    watched: Watched, server: TensorBoardServer, shared_data: Path
) -> None:
    recording = load(shared_data / "xla" / FILES["mi300"]).recording
    plans = reading.all_plans(recording)
    place, chosen = next(
        (place, each)
        for place, each in enumerate(plans)
        if each.module_name == "jit_true_divide" and each.numbers["events"] == 0
    )
    wanted = buffers.alive(recording, chosen, -1)["buffers"]
    words: dict[str, object] = {"device": f"plan:{place}", "view": "plan"}
    frame = show(watched, server, "mi300", **words)
    tables = frame.get_by_role("radiogroup", name="Tables").get_by_role("radio")
    assert tables.all_inner_texts() == ["Breakdown", "Buffers", "Tree", "Compare"]
    frame.get_by_role("radio", name="Buffers").click()
    rows = frame.locator("table.list tr[data-row]")
    rows.first.wait_for()
    settle(watched.page)
    assert rows.count() == len(wanted) > 1
    total = frame.get_by_test_id("lives-total").locator("[data-bytes]").get_attribute("data-bytes")
    assert total == str(chosen.numbers["peak"])
    frame.get_by_role("radio", name="Tree").click()
    frame.get_by_test_id("plan-boxes").locator("[data-name]").first.wait_for()
    # It runs on a device, whatever allocators stand beside.
    runs = frame.locator(".plan-runs").inner_text().replace("\u00a0", " ")
    assert "It ran 3 times on GPU_0_bfc;" in runs and "host" not in runs
    # An argument could be donated: the advice leads to it.
    advice = frame.get_by_role("list", name="Advice").get_by_role("listitem")
    assert "1 argument could be donated" in advice.inner_text()
    advice.get_by_role("button", name="show it").click()
    frame.locator(".inspector").get_by_text("parameter").first.wait_for()
    settle(watched.page)


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


def test_modules_without_a_plan_are_told_with_the_reason(
    watched: Watched, server: TensorBoardServer
) -> None:
    frame = open_page(watched.page, server.url + link("bare", FILES["bare"]))
    missing = frame.locator("nav[aria-label='HLO modules'] .unplanned")
    missing.get_by_text("1 module without a plan").click()
    told = missing.locator("p").inner_text()
    assert told == "jit_bare: It holds no buffer assignment: the program alone."
    settle(watched.page)


def test_the_overview_tells_what_is_temporary_and_what_is_padded(
    watched: Watched, server: TensorBoardServer, shared_data: Path
) -> None:
    path = shared_data / "xla" / "jax_transformer_cpu.jit_train_step.memory_viewer.json"
    wanted = json.loads(path.read_text())
    frame = show(watched, server, "step")
    temporary = wanted["peakHeapMib"] - wanted["indefiniteBufferAllocationMib"]
    numbers = frame.locator("dl.numbers").inner_text().replace("\u00a0", " ")
    assert f"{temporary:.1f} MiB at the peak" in numbers
    assert frame.get_by_test_id("padding-causes").count() == 0
    watched.page.goto("about:blank")

    frame = show(watched, server, "padded")
    plan = padded()[1]
    _, event = max(
        (sum(each.size for each in alive(plan, event)), -event) for event in range(-1, 78)
    )
    by_op: dict[str, int] = {}
    for place, each in enumerate(plan):
        if each in alive(plan, -event) and each.size > each.unpadded:
            op = f"jit(train)/layer{place % 4}/{each.opcode}"
            by_op[op] = by_op.get(op, 0) + each.size - each.unpadded
    causes = frame.get_by_test_id("padding-causes")
    told = dict(
        zip(
            causes.get_by_role("button").all_inner_texts(),
            causes.locator("[data-bytes]").evaluate_all("all => all.map(e => +e.dataset.bytes)"),
            strict=True,
        )
    )
    assert told == by_op
    # A click explains the buffer that has most of it.
    causes.get_by_role("button").first.click()
    frame.get_by_label("Inspector").get_by_text("narrow").first.wait_for()
    settle(watched.page)

    # Of one allocation that no trace is of.
    frame = show(watched, server, "odd")
    assert frame.locator("[data-exact=Untraced]").get_attribute("data-bytes") == "512"


def test_buffers_have_their_opcode(watched: Watched, server: TensorBoardServer) -> None:
    frame = show(watched, server, "padded", table="allocations")
    head = frame.locator("table.list thead")
    words = [each.rstrip("▾▴ ").strip() for each in head.locator("th").all_inner_texts()]
    column = words.index("Opcode")
    head.get_by_role("button", name="Opcode").click()
    settle(watched.page)
    rows = frame.locator("table.list tr[data-row]")
    opcode = {each.name: each.opcode for each in padded()[1]}
    told = [
        (row.locator("td").nth(0).inner_text(), row.locator("td").nth(column).inner_text())
        for row in rows.all()
    ]
    assert len(told) == len(opcode)
    assert told == [(name, opcode[name]) for name, _ in told]
    assert [word for _, word in told] == sorted(word for _, word in told)
    # The source line sorts too.
    head.get_by_role("button", name="Source line").wait_for()
    assert "Padding" in words
    watched.page.goto("about:blank")
    # Nothing of a plan for a CPU is padded: there is nothing to say of it.
    frame = show(watched, server, "step", table="allocations")
    told_ = "".join(frame.locator("table.list thead th").all_inner_texts())
    assert "Opcode" in told_ and "Padding" not in told_ and "Expansion" not in told_
