"""Routes of what the program did: tracks, windows of them, and spans by name."""

from __future__ import annotations

from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.routes import asking
from tb_memory_plugin.routes.answers import ARROW, Answer
from tb_memory_plugin.routes.parameters import BadRequest, Parameters
from tb_memory_plugin.views.trace import find, layout, window

_MOST_TRACKS = layout.MOST_TRACKS


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
        tracks=_tracks(asked),
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


def _tracks(asked: Parameters) -> list[int]:
    """Ids of tracks, with commas between."""
    words = asked.text("tracks", "").split(",") if asked.has("tracks") else []
    if len(words) > _MOST_TRACKS or not all(word.isascii() and word.isdigit() for word in words):
        raise BadRequest("The parameter tracks is no list of tracks.")
    return [int(word) for word in words]


ROUTES = {
    "/trace": tracks,
    "/trace.window": items,
    "/trace.find": next_named,
}
