"""Routes of stacks, weighed: the flame graph, its files, lines of code."""

from __future__ import annotations

from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.routes import asking
from tb_memory_plugin.routes.answers import JSON, TEXT, Answer
from tb_memory_plugin.routes.parameters import Parameters
from tb_memory_plugin.views import flame, flame_files, source_lines


def graph(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``flame``."""
    found = flame.page(
        recording,
        device,
        **asking.weighing(asked),
        **asking.shape(asked),
        find=asked.text("find", ""),
        root=asked.text("root", ""),
        width=asked.integer("width", 1, asking.WIDEST, flame.WIDTH),
        **asking.picked(asked),
        bands=asked.integer("bands", 0, 1, 0) == 1,
    )
    return Answer(found)


def speedscope(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``flame.speedscope.json``."""
    question = {**asking.weighing(asked), **asking.shape(asked)}
    content = flame_files.speedscope(recording, device, **question)
    return Answer(content, JSON, "memory.speedscope.json")


def folded(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``flame.folded.txt``."""
    question = {**asking.weighing(asked), **asking.shape(asked)}
    content = flame_files.folded_stacks(recording, device, **question)
    return Answer(content, TEXT, "memory.folded.txt")


def lines(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``lines``."""
    limit = asked.integer("limit", 0, asking.MOST_ROWS, source_lines.LIMIT)
    question = {**asking.weighing(asked), **asking.picked(asked), "limit": limit}
    return Answer(source_lines.page(recording, device, **question))


ROUTES = {
    "/flame": graph,
    "/flame.speedscope.json": speedscope,
    "/flame.folded.txt": folded,
    "/lines": lines,
}
