"""``tb-memory module-runs``: when HLO modules ran, and the memory in use meanwhile."""

from __future__ import annotations

import argparse

from tb_memory_plugin.api import choose_device, load
from tb_memory_plugin.cli import text
from tb_memory_plugin.cli.windows import question
from tb_memory_plugin.units import format_bytes, format_duration
from tb_memory_plugin.views import modules


def run(arguments: argparse.Namespace) -> int:
    """Print the runs of the window, or of a moment, that pass. Raises MemoryPluginError."""
    recording = load(arguments.path).recording
    device = choose_device(recording, arguments.device)
    asked = {
        **question(arguments),
        "at": arguments.at,
        "find": arguments.find,
        "sort": arguments.sort,
    }
    if arguments.csv:
        text.say_csv(modules.whole(recording, device, **asked))
        return 0
    answer = modules.page(recording, device, **asked, offset=arguments.offset, limit=0)
    stop = min(arguments.offset + arguments.limit, answer["found"])
    for begin in range(arguments.offset, stop, modules.MOST):
        limit = min(modules.MOST, stop - begin)
        answer["rows"] += modules.page(recording, device, **asked, offset=begin, limit=limit)[
            "rows"
        ]
    if arguments.json:
        text.say_json(answer)
        return 0
    text.say(
        f"{text.styled(device.name, 'bold')} {text.counted(answer['found'], 'run')} of "
        f"{text.counted(answer['modules'], 'HLO module')}"
    )
    for note in answer["notes"]:
        text.say(text.styled(f"  {note}", "quiet"))
    rows = [
        [
            row["program"] or "",
            *("" if row[name] is None else format_duration(row[name]) for name in _TIMES),
            *("" if row[name] is None else format_bytes(row[name]) for name in _BYTES),
            row["on"],
            text.cut(row["name"]),
        ]
        for row in answer["rows"]
    ]
    head = ["program", "begin", "end", "duration", "in use", "at most", "device", "module"]
    for line in text.table(head, rows, right=range(6)):
        text.say(line)
    if stop < answer["found"]:
        text.say(f"{text.grouped(answer['found'] - stop)} more (--offset, --limit)")
    return 0


_TIMES = ("begin", "end", "duration")
_BYTES = ("before", "peak")
