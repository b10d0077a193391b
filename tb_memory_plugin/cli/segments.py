"""``tb-memory segments``: the state of a device's allocator at a moment."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from tb_memory_plugin.api import choose_device, load
from tb_memory_plugin.cli import text
from tb_memory_plugin.units import format_bytes, format_duration
from tb_memory_plugin.views import segments_csv
from tb_memory_plugin.views.segments_whole import whole


def run(arguments: argparse.Namespace) -> int:
    """Print the segments at ``arguments.at``. Raises MemoryPluginError."""
    recording = load(arguments.path).recording
    device = choose_device(recording, arguments.device)
    if arguments.csv:
        text.say_csv(segments_csv.state(recording, device, arguments.at))
        return 0
    answer = whole(recording, device, arguments.at)
    if arguments.json:
        text.say_json(answer)
        return 0
    event, time = answer["event"], answer["time"]
    recorded = len(recording.values("events", "action", device))
    moment = text.moment(event, events=recorded > 0)
    if time is not None:
        moment += f", {format_duration(time)} from the origin"
    text.say(f"{text.styled(device.name, 'bold')} {moment}")
    for line in text.facts(_facts(answer)):
        text.say(line)
    for problem in answer["problems"]:
        text.say(text.styled(f"  ! {problem}", "yellow"))
    shown = answer["segments"][: arguments.limit]
    left = answer["count"] - len(shown)
    for pool in answer["pools"]:
        text.say()
        text.say(
            f"  {pool['label']}: {format_bytes(pool['reserved'])} in "
            f"{text.grouped(pool['segments'])} segments, {format_bytes(pool['free'])} free"
        )
        rows = [_row(segment) for segment in shown if segment["key"] == pool["key"]]
        head = ["address", "size", "blocks", "requested", "rounding", "pending", "free"]
        if rows:
            for line in text.table([*head, "largest free"], rows, right=range(8), indent=4):
                text.say(line)
    if left:
        text.say(f"  {text.grouped(left)} more segments (--limit)")
    return 0


def _facts(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    rounding = answer["used"] - answer["requested"]
    rows = [
        ("reserved", text.exact_bytes(answer["reserved"])),
        ("allocated", text.exact_bytes(answer["allocated"])),
        ("rounding", text.exact_bytes(rounding)),
        ("pending free", text.exact_bytes(answer["pending"])),
        ("free", text.exact_bytes(answer["free"])),
        ("largest free", text.exact_bytes(answer["largest_free"])),
    ]
    for measure in answer["fragmentation"].values():
        value = measure["value"]
        share = "not known" if value is None else f"{100 * value:.2f} %"
        rows.append(("fragmentation", f"{share} ({measure['formula']})"))
    return rows


def _row(segment: Mapping[str, Any]) -> list[str]:
    rounding = segment["used"] - segment["requested"]
    return [
        segment["address"],
        format_bytes(segment["size"]),
        text.grouped(len(segment["blocks"])),
        format_bytes(segment["requested"]),
        format_bytes(rounding),
        format_bytes(segment["pending"]),
        format_bytes(segment["free"]),
        format_bytes(segment["largest_free"]),
    ]
