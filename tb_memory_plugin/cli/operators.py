"""``tb-memory operators``: what operators did to memory in a window."""

from __future__ import annotations

import argparse
from typing import Any

from tb_memory_plugin.api import choose_device, load
from tb_memory_plugin.cli import text
from tb_memory_plugin.cli.windows import question
from tb_memory_plugin.units import format_bytes
from tb_memory_plugin.views import operators

_HEAD = {
    "calls": "calls",
    "self_count": "allocs",
    "count": "with inner",
    "self_bytes": "allocated",
    "bytes": "with inner",
    "self_increase": "increase",
    "increase": "with inner",
    "peak": "most alive",
}
_COUNTS = ("calls", "count", "self_count")


def run(arguments: argparse.Namespace) -> int:
    """Print the operators that allocated or freed. Raises MemoryPluginError."""
    recording = load(arguments.path).recording
    device = choose_device(recording, arguments.device)
    asked = {**question(arguments), "find": arguments.find, "sort": arguments.sort}
    if arguments.csv:
        text.say_csv(operators.whole(recording, device, **asked))
        return 0
    answer = operators.page(recording, device, **asked, limit=0)
    stop = min(arguments.limit, answer["found"])
    for begin in range(0, stop, operators.MOST):
        limit = min(operators.MOST, stop - begin)
        part = operators.page(recording, device, **asked, offset=begin, limit=limit)
        answer["rows"] += part["rows"]
    if arguments.json:
        text.say_json(answer)
        return 0
    before, after = answer["before"], answer["after"]
    text.say(
        f"{text.styled(device.name, 'bold')} "
        f"{text.counted(answer['total']['operators'], 'operator')}: allocated "
        f"{text.exact_bytes(before)} before, {text.exact_bytes(after)} after "
        f"({_signed(after - before)})"
    )
    for note in answer["notes"]:
        text.say(text.styled(f"  {note}", "quiet"))
    columns = [name for name in _HEAD if any(row[name] is not None for row in answer["rows"])]
    rows = [
        [*(_said(name, row[name]) for name in columns), text.cut(row["label"])]
        for row in answer["rows"]
    ]
    head = [*(_HEAD[name] for name in columns), "operator"]
    for line in text.table(head, rows, right=range(len(columns))):
        text.say(line)
    if stop < answer["found"]:
        text.say(f"{text.grouped(answer['found'] - stop)} more (--limit)")
    return 0


def _said(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name in _COUNTS:
        return text.grouped(value)
    return _signed(value) if name.endswith("increase") else format_bytes(value)


def _signed(value: int) -> str:
    return f"+{format_bytes(value)}" if value > 0 else format_bytes(value)
