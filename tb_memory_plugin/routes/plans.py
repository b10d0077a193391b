"""Routes of the compiler's plans: what there is beside the routes that ask a plan as a device."""

from __future__ import annotations

import re

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis import plan_tree
from tb_memory_plugin.analysis.alive import alive_rows
from tb_memory_plugin.analysis.plan_reading import Plan
from tb_memory_plugin.analysis.plan_recording import KEY, plan_recording
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.routes import asking
from tb_memory_plugin.routes.answers import ARROW, SVG, Answer
from tb_memory_plugin.routes.parameters import Parameters
from tb_memory_plugin.store.store import UnknownSource
from tb_memory_plugin.views import plan_bars, plan_buffers, plan_overview, plan_svg, summary

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")
#: Nodes of a tree: as many as can be told apart on a screen.
_MOST_NODES = 2_000
#: What is grouped by, in the words of plans.
_LABELS = {
    "region": "kind",
    "module": "computation",
    "op": "framework op",
    "rounding": "padding",
    "annotation": "opcode",
}


def chosen(recording: Recording, asked: Parameters) -> Plan:
    """The plan that ``device`` names. Raises UnknownSource."""
    key = asked.text("device")
    found = {f"{KEY}{plan.row}": plan for plan in reading.all_plans(recording)}.get(key)
    if found is None:
        raise UnknownSource(f"There is no plan {key!r} in this recording.")
    return found


def whole(recording: Recording, asked: Parameters) -> Answer:
    """``plan``: its summary as of any device, and its overview."""
    plan = chosen(recording, asked)
    planned = plan_recording(recording)
    device = planned.device(f"{KEY}{plan.row}")
    found = summary.summary(planned, version="", run="", name="", devices=[device])
    return Answer(
        {
            "groupings": [
                {**each, "label": _LABELS.get(each["key"], each["label"])}
                for each in found["groupings"]
            ],
            "device": found["devices"][0],
            "overview": plan_overview.overview(recording, plan),
        }
    )


def bars(recording: Recording, asked: Parameters) -> Answer:
    """``plan.bars``."""
    plan = chosen(recording, asked)
    event = reading.moment(plan, asked.text("at", "peak"))
    words = {name: asked.text(name, "") for name in ("by", "pattern")}
    top = asking.top(asked)
    return Answer(plan_bars.bars(recording, plan, event, **words, top=top), ARROW)


def curve(recording: Recording, asked: Parameters) -> Answer:
    """``plan.curve``."""
    plan = chosen(recording, asked)
    content = plan_buffers.curve(
        recording,
        plan,
        asked.integer("begin", 0, 1 << 62, 0),
        asked.integer("end", 0, 1 << 62, plan.numbers["events"]),
        asked.integer("width", 1, asking.WIDEST),
    )
    return Answer(content, ARROW)


def tree(recording: Recording, asked: Parameters) -> Answer:
    """``plan.tree``."""
    plan = chosen(recording, asked)
    event = reading.moment(plan, asked.text("at", "peak"))
    planned = plan_recording(recording)
    device = planned.device(f"{KEY}{plan.row}")
    rows = alive_rows(planned, device, event) + planned.rows("allocations", device).start
    return Answer(plan_tree.tree(planned, rows, _MOST_NODES))


def drawing(recording: Recording, asked: Parameters) -> Answer:
    """``plan.svg``."""
    plan = chosen(recording, asked)
    name = _UNSAFE.sub("_", f"{plan.module_name}-{plan.program_id}-{plan.space_name}")
    by = {"by": asked.text("by", "category"), "pattern": asked.text("pattern", "")}
    return Answer(
        plan_svg.drawing(recording, plan, **by, top=asking.top(asked)), SVG, f"{name}.svg"
    )


def buffer(recording: Recording, asked: Parameters) -> Answer:
    """``plan.buffer``."""
    return Answer(plan_buffers.card(recording, asked.integer("id", 0, 1 << 62)))


def near(recording: Recording, asked: Parameters) -> Answer:
    """``plan.near``."""
    return Answer(plan_buffers.near(recording, asked.integer("instruction", 0, 1 << 62)))


ROUTES = {
    "/plan": whole,
    "/plan.bars": bars,
    "/plan.curve": curve,
    "/plan.buffer": buffer,
    "/plan.near": near,
    "/plan.tree": tree,
    "/plan.svg": drawing,
}
