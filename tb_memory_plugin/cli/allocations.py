"""``tb-memory allocations``: every life in a window or at a moment, in any order."""

from __future__ import annotations

import argparse
from typing import Any

from tb_memory_plugin.api import choose_device, load
from tb_memory_plugin.cli import text
from tb_memory_plugin.cli.windows import question
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.units import format_bytes, format_duration, parse_bytes
from tb_memory_plugin.views import lives


def run(arguments: argparse.Namespace) -> int:
    """Print the lives of the window, or of a moment, that pass. Raises MemoryPluginError."""
    recording = load(arguments.path).recording
    device = choose_device(recording, arguments.device)
    asked = {
        **question(arguments),
        "at": arguments.at,
        "filter": arguments.filter,
        "minimum": _size(arguments.minimum),
        "maximum": _size(arguments.maximum),
        "sort": arguments.sort,
    }
    if arguments.csv:
        text.say_csv(lives.whole(recording, device, **asked))
        return 0
    answer = lives.page(recording, device, **asked, offset=arguments.offset, limit=0)
    stop = min(arguments.offset + arguments.limit, answer["total_count"])
    for begin in range(arguments.offset, stop, lives.MOST):
        limit = min(lives.MOST, stop - begin)
        answer["rows"] += lives.page(recording, device, **asked, offset=begin, limit=limit)["rows"]
    if arguments.json:
        text.say_json(answer)
        return 0
    count, sums = answer["total_count"], answer["sums"]
    told = text.counted(count, "allocation")
    told += ", one of them a sum of nobody knows how many" if sums else ""
    text.say(
        f"{text.styled(device.name, 'bold')} {told}: {text.exact_bytes(answer['total_bytes'])}"
    )
    basis = recording.meta["basis"]
    rows = [
        [
            row["id"],
            format_bytes(row[basis]),
            _moment(row["birth_time"], row["birth"], "before"),
            _moment(row["death_time"], row["death"], "not freed"),
            "" if row["duration"] is None else format_duration(row["duration"]),
            row["op"] or "",
            text.cut(row["label"]),
        ]
        for row in answer["rows"]
    ]
    head = ["id", "size", "allocated", "released", "lived", "op", "where"]
    for line in text.table(head, rows, right=(0, 1, 2, 3, 4)):
        text.say(line)
    if stop < count:
        text.say(f"{text.grouped(count - stop)} more (--offset, --limit)")
    return 0


def _moment(time: int | None, event: int | None, otherwise: str) -> str:
    if event is None:
        return otherwise
    return f"event {event}" if time is None else format_duration(time)


def _size(words: str | None) -> int | None:
    """Bytes as people write them. Raises QueryError."""
    if words is None:
        return None
    try:
        found: Any = parse_bytes(words)
    except ValueError as error:
        raise QueryError(f"{error}.") from None
    return int(found)
