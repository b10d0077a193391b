"""Routes of the pictures of allocations and segments, and of the history event by event."""

from __future__ import annotations

import threading

from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.routes import asking
from tb_memory_plugin.routes.answers import ARROW, BINARY, CSV, Answer
from tb_memory_plugin.routes.parameters import Parameters
from tb_memory_plugin.views import events, holes, pools, segments, segments_csv
from tb_memory_plugin.views.tile.window import tile

#: A page asks for several tiles at once; each takes some memory while it is worked out.
_drawing = threading.Lock()


def lives(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``tile``."""
    question = {
        **asking.groups(asked, recording, device),
        "axis": asked.text("axis"),
        "level": asked.integer("level", 0, 61),
        "index": asked.integer("index", -(1 << 54), 1 << 54),
        "layout": asked.text("layout", "stacked"),
        "low": asked.integer("low", 0, 1 << 62, 0),
        "high": asked.bound("high"),
        "height": asked.integer("height", 1, asking.WIDEST, 800),
        "of": asked.text("of", "allocations"),
        "top": asking.top(asked),
        "only": asked.text("only", "all"),
        "at": asking.moment(asked),
        "minimum": asked.integer("minimum", 0, 1 << 62, 0),
        "filter": asked.text("filter", ""),
        "find": asked.text("find", ""),
    }
    with _drawing:
        return Answer(tile(recording, device, **question), BINARY)


def state(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``segments``."""
    content = segments.window(
        recording,
        device,
        at=asking.any_moment(asked),
        pixel=asked.integer("pixel", 1, 1 << 61, 1),
        begin=asked.bound("begin"),
        end=asked.bound("end"),
        by=asked.text("by", ""),
        pattern=asked.text("pattern", ""),
        top=asking.top(asked),
        filter=asked.text("filter", ""),
    )
    return Answer(content, BINARY)


def hole(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``hole``."""
    found = holes.under(
        recording,
        device,
        at=asking.moment(asked),
        place=asked.integer("place", 0, 1 << 62),
        pixel=asked.integer("pixel", 1, 1 << 61, 1),
    )
    return Answer(found)


def history(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``events``."""
    details = asked.integer("details", 0, 1, 0) == 1
    most = events.MOST_ABOUT if details else events.MOST
    found = events.page(
        recording,
        device,
        filter=asked.text("filter", ""),
        offset=asked.integer("offset", 0, 1 << 62, 0),
        limit=asked.integer("limit", 0, most, events.LIMIT),
        near=asked.bound("near"),
        longest=events.LONGEST,
        details=details,
    )
    return Answer(found)


def envelopes(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``pools``."""
    return Answer(pools.window(recording, device, **asking.window(asked)), ARROW)


def state_csv(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``segments.csv``."""
    content = segments_csv.state(recording, device, asking.moment(asked))
    return Answer(content, CSV, "segments.csv")


def history_csv(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``events.csv``."""
    content = segments_csv.listed(recording, device, asked.text("filter", ""))
    return Answer(content, CSV, "events.csv")


ROUTES = {
    "/tile": lives,
    "/segments": state,
    "/hole": hole,
    "/events": history,
    "/pools": envelopes,
    "/segments.csv": state_csv,
    "/events.csv": history_csv,
}
