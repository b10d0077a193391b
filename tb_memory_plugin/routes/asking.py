"""Parameters that several routes share, made into the keyword arguments of views."""

from __future__ import annotations

import re
from typing import Any

from tb_memory_plugin.analysis.ranking import TOP
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.routes.parameters import Parameters
from tb_memory_plugin.views import summary, usage

#: Pixels a window may have, rows a page of a table.
WIDEST = 16_384
MOST_ROWS = 1 << 31


def window(asked: Parameters) -> dict[str, Any]:
    """A window of an axis and the pixels it is drawn on."""
    return {**span(asked, None), "width": asked.integer("width", 1, WIDEST)}


def span(asked: Parameters, axis: str | None = "event") -> dict[str, Any]:
    """A window of an axis, which must be named unless there is a usual one."""
    return {
        "axis": asked.text("axis", axis),
        "begin": asked.bound("begin"),
        "end": asked.bound("end"),
    }


def listing(asked: Parameters, sort: str) -> dict[str, Any]:
    """A window and the order of what is listed of it."""
    return {**span(asked), "sort": asked.text("sort", sort)}


def sizes(asked: Parameters) -> dict[str, Any]:
    """Which of all allocations: those that pass a filter and are of a size."""
    bounds = {name: asked.bound(name) for name in ("minimum", "maximum")}
    return {"filter": asked.text("filter", ""), **bounds}


def groups(asked: Parameters, recording: Recording, device: Device) -> dict[str, Any]:
    """What is grouped by; without a word what the page starts with."""
    by = asked.text("by", "") or summary.default_grouping(recording, device)
    return {"by": by, "pattern": asked.text("pattern", "")}


def moment(asked: Parameters) -> str:
    """The moment ``at``, as ``instants.resolve`` takes it."""
    at = asked.text("at", "peak")
    return at if at == "peak" else f"event:{asked.integer('at', -1, 1 << 62)}"


def any_moment(asked: Parameters) -> str:
    """The same, or a time in ns, ``time:N``, as ``instants.at_any_time`` takes it."""
    at = asked.text("at", "peak")
    return at if re.fullmatch(r"time:-?\d{1,18}", at) else moment(asked)


def question(asked: Parameters, recording: Recording, device: Device) -> dict[str, Any]:
    """What the tables of a breakdown are asked."""
    return {
        "at": moment(asked),
        **groups(asked, recording, device),
        "filter": asked.text("filter", ""),
        "sort": asked.text("sort", "-bytes"),
    }


def group(asked: Parameters) -> dict[str, Any]:
    """One group of a breakdown."""
    return {"key": asked.text("key", "") or None, "top": top(asked)}


def top(asked: Parameters) -> int:
    """How many groups are drawn by themselves."""
    return asked.integer("top", 1, usage.MOST_TOP, TOP)


def weighing(asked: Parameters) -> dict[str, Any]:
    """What stacks are weighed by."""
    return {
        "of": asked.text("of", "alive"),
        "at": moment(asked),
        **span(asked),
        "filter": asked.text("filter", ""),
    }


def picked(asked: Parameters) -> dict[str, Any]:
    """The group that was picked in another view, and what it is one by."""
    words = {name: asked.text(name, "") for name in ("by", "pattern", "group")}
    return {**words, "top": top(asked)}


def shape(asked: Parameters) -> dict[str, Any]:
    """How a flame graph is put up."""
    return {name: asked.integer(name, 0, 1, 0) == 1 for name in ("inverted", "folded")}
