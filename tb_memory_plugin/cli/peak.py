"""``tb-memory peak``: a moment of a device, made into what its memory is made of."""

from __future__ import annotations

import argparse
import os
from typing import Any

from tb_memory_plugin.api import choose_device, load
from tb_memory_plugin.cli import hosts, text
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.units import format_bytes, format_duration
from tb_memory_plugin.views import csv
from tb_memory_plugin.views.summary import default_grouping


def run(arguments: argparse.Namespace) -> int:
    """Print the groups alive at ``arguments.at``. Raises MemoryPluginError."""
    if os.path.isdir(arguments.path):
        if arguments.csv:
            raise QueryError("CSV is of one recording; name a file of the folder.")
        return hosts.peak(arguments)
    found = load(arguments.path)
    device = choose_device(found.recording, arguments.device)
    by = arguments.by or (
        "pattern" if arguments.pattern else default_grouping(found.recording, device)
    )
    if arguments.csv:
        question = {name: getattr(arguments, name) for name in ("at", "pattern", "filter")}
        text.say_csv(csv.groups(found.recording, device, by=by, sort="-bytes", **question))
        return 0
    answer = found.breakdown(by, arguments.at, device.key, arguments.pattern, arguments.filter)
    if arguments.json:
        text.say_json(answer)
        return 0
    total, groups = answer["total_bytes"], answer["groups"]
    recorded = len(found.recording.values("events", "action", device))
    event, time = answer["event"], answer["time"]
    moment = text.moment(event, events=recorded > 0)
    if time is not None:
        moment += f", {format_duration(time)} from the origin"
    text.say(f"{text.styled(device.name, 'bold')} {moment}: {text.exact_bytes(total)} allocated")
    shown = groups[: arguments.limit]
    rows = [
        [
            format_bytes(group["bytes"]),
            f"{100 * group['bytes'] / total:.1f} %" if total else "",
            _count(group),
            format_bytes(group["largest"]),
            _oldest(group) if recorded else "",
            group["label"],
        ]
        for group in shown
    ]
    left = groups[len(shown) :]
    if left:
        rest = sum(group["bytes"] for group in left)
        share = f"{100 * rest / total:.1f} %" if total else ""
        count = text.grouped(sum(group["count"] for group in left))
        more = f"{len(left)} more groups (--limit)"
        largest = format_bytes(max(group["largest"] for group in left))
        rows.append([format_bytes(rest), share, count, largest, "", more])
    head = ["bytes", "share", "count", "largest", "oldest", by]
    for line in text.table(head, rows, right=(0, 1, 2, 3, 4)):
        text.say(line)
    return 0


def _count(group: dict[str, Any]) -> str:
    """How many allocations a group is; of a sum of what was there before nobody knows."""
    if not group["sums"]:
        return text.grouped(group["count"])
    blocks = group["count"] - group["sums"]
    return f"{text.grouped(blocks)} and a sum" if blocks else "sum only"


def _oldest(group: dict[str, Any]) -> str:
    """When the oldest of a group was born."""
    if group["oldest_event"] is None:
        return "before"
    if group["oldest_step"] is not None:
        return f"step {group['oldest_step']}"
    return f"event {group['oldest_event']}"
