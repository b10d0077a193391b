"""``tb-memory events``: a part of a device's history, event by event."""

from __future__ import annotations

import argparse

from tb_memory_plugin.api import choose_device, load
from tb_memory_plugin.cli import text
from tb_memory_plugin.units import format_bytes, format_duration
from tb_memory_plugin.views import events, segments_csv


def run(arguments: argparse.Namespace) -> int:
    """Print the events that pass ``arguments.filter``. Raises MemoryPluginError."""
    recording = load(arguments.path).recording
    device = choose_device(recording, arguments.device)
    if arguments.csv:
        text.say_csv(segments_csv.listed(recording, device, arguments.filter))
        return 0
    answer = events.page(
        recording, device, filter=arguments.filter, offset=arguments.offset, limit=0
    )
    stop = min(arguments.offset + arguments.limit, answer["count"])
    for begin in range(arguments.offset, stop, events.MOST):
        part = events.page(
            recording,
            device,
            filter=arguments.filter,
            offset=begin,
            limit=min(events.MOST, stop - begin),
            details=arguments.json,
        )
        answer["rows"] += part["rows"]
    if arguments.json:
        text.say_json(answer)
        return 0
    shown = answer["rows"]
    total = f"{text.grouped(answer['count'])} of {text.grouped(answer['events'])} events"
    range_ = f"{text.grouped(arguments.offset)} to {text.grouped(stop - 1)}" if shown else "none"
    text.say(f"{text.styled(device.name, 'bold')} {total} pass, shown: {range_}")
    lines = [
        [
            str(row["event"]),
            "" if row["time"] is None else format_duration(row["time"]),
            row["action"],
            row["address"] or "",
            "" if row["size"] is None else format_bytes(row["size"]),
            row["stream"] or "",
            row["pool"] or "",
            text.cut(row["label"] or ""),
        ]
        for row in shown
    ]
    head = ["event", "time", "action", "address", "size", "stream", "pool", "where"]
    for line in text.table(head, lines, right=(0, 1, 3, 4)):
        text.say(line)
    return 0
