"""Routes of what the program did: tracks, windows of them, and spans by name."""

from __future__ import annotations

import re
from typing import Any

from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.routes import asking
from tb_memory_plugin.routes.answers import ARROW, CSV, JSON, Answer
from tb_memory_plugin.routes.parameters import BadRequest, Parameters
from tb_memory_plugin.views.trace import export, find, layout, steps, sums, window

_ID = re.compile(r"[0-9]{1,6}")


def tracks(recording: Recording, device: Device, _: Parameters) -> Answer:
    """``trace``."""
    return Answer(layout.layout(recording, device))


def items(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``trace.window``."""
    content = window.window(
        recording,
        device,
        begin=asked.integer("begin", -(1 << 62), 1 << 62),
        end=asked.integer("end", -(1 << 62), 1 << 62),
        width=asked.integer("width", 1, asking.WIDEST),
        tracks=_tracks(asked) or (),
        find=asked.text("find", ""),
    )
    return Answer(content, ARROW)


def next_named(recording: Recording, _: Device, asked: Parameters) -> Answer:
    """``trace.find``."""
    found = find.find(
        recording,
        text=asked.text("find"),
        kind=asked.text("kind", ""),
        exactly=asked.integer("exactly", 0, 1, 0) == 1,
        way=asked.text("way", "next"),
        after=asked.text("after", ""),
    )
    return Answer(found)


def by_name(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``trace.sums``."""
    found = sums.page(
        recording,
        device,
        **_summing(asked),
        offset=asked.integer("offset", 0, 1 << 62, 0),
        limit=asked.integer("limit", 0, sums.MOST, sums.LIMIT),
    )
    return Answer(found)


def by_name_csv(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``trace.sums.csv``."""
    return Answer(sums.whole(recording, device, **_summing(asked)), CSV, "spans.csv")


def over_each_other(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``trace.steps``."""
    ids = asked.text("steps", "").split(",") if asked.has("steps") else []
    width = asked.integer("width", 1, asking.WIDEST, 1000)
    return Answer(steps.steps(recording, device, ids=ids, width=width))


def as_file(recording: Recording, _: Device, asked: Parameters) -> Answer:
    """``trace.json``."""
    pieces = export.trace_file(recording, **_window(asked), tracks=_tracks(asked))
    return Answer(pieces, JSON, "memory.trace.json")


def _summing(asked: Parameters) -> dict[str, Any]:
    return {
        "kind": asked.text("kind", ""),
        **_window(asked),
        "tracks": _tracks(asked),
        "find": asked.text("find", ""),
        "sort": asked.text("sort", "-allocated"),
    }


def _window(asked: Parameters) -> dict[str, Any]:
    return {"begin": asked.bound("begin"), "end": asked.bound("end")}


def _tracks(asked: Parameters) -> tuple[int, ...] | None:
    """Ids of tracks, with commas between; None where there are none: all."""
    if not asked.has("tracks"):
        return None
    words = asked.text("tracks").split(",")
    if len(words) > layout.MOST_TRACKS or not all(map(_ID.fullmatch, words)):
        raise BadRequest("The parameter tracks is no list of tracks.")
    return tuple(int(word) for word in words)


ROUTES = {
    "/trace": tracks,
    "/trace.window": items,
    "/trace.find": next_named,
    "/trace.sums": by_name,
    "/trace.sums.csv": by_name_csv,
    "/trace.steps": over_each_other,
    "/trace.json": as_file,
}
