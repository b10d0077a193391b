"""``tb-memory lines``: what stacks weigh, by line of code."""

from __future__ import annotations

import argparse
from typing import Any

from tb_memory_plugin.api import choose_device, load
from tb_memory_plugin.cli import text
from tb_memory_plugin.cli.weighing import question
from tb_memory_plugin.units import format_bytes
from tb_memory_plugin.views import source_lines


def run(arguments: argparse.Namespace) -> int:
    """Print the lines where most was made, the user's own first. Raises MemoryPluginError."""
    recording = load(arguments.path).recording
    device = choose_device(recording, arguments.device)
    answer = source_lines.page(recording, device, **question(arguments), limit=arguments.limit)
    if arguments.json:
        text.say_json(answer)
        return 0
    total, unit = answer["total"], answer["unit"]
    text.say(f"{text.styled(device.name, 'bold')}: {_said(total, unit)}")
    rows = [
        [
            _said(line["made"], unit),
            f"{100 * line['made'] / total:.1f} %" if total else "",
            _said(line["through"], unit),
            text.grouped(line["made_count"]),
            _place(file["file"], line),
        ]
        for file in answer["files"]
        for line in file["lines"]
    ]
    rows += [
        [_said(row["value"], unit), "", "", text.grouped(row["count"]), row["label"]]
        for row in answer["nowhere"]
    ]
    rest = answer["rest"]
    if rest["lines"]:
        rows.append(
            [_said(rest["made"], unit), "", "", "", f"{rest['lines']} more lines (--limit)"]
        )
    head = ["made here", "share", "through", "count", "line"]
    for row in text.table(head, rows, right=(0, 1, 2, 3)):
        text.say(row)
    return 0


def _place(file: str | None, line: dict[str, Any]) -> str:
    where = file or "no file"
    if line["line"] is not None and line["line"] > 0:
        where += f":{line['line']}"
    return f"{where} {line['function'] or ''}".rstrip()


def _said(value: int, unit: str) -> str:
    """A weight in words: bytes, a count, or bytes × time as bytes for a second (an event)."""
    if unit == "bytes":
        return format_bytes(value)
    if unit == "allocations":
        return text.grouped(value)
    if unit == "byte_events":
        return f"{format_bytes(value)} · event"
    return f"{format_bytes(value // 10**9)} · s" if value >= 10**9 else f"{value} B · ns"
