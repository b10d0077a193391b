"""``tb-memory spans``, ``steps`` and ``trace``: what the program did, and memory beside it."""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path
from typing import IO, Any

from tb_memory_plugin.api import choose_device, load
from tb_memory_plugin.cli import text
from tb_memory_plugin.cli.writing import keep_sources, written
from tb_memory_plugin.units import format_bytes, format_duration
from tb_memory_plugin.views.trace import export, steps, sums

_SUMS = {
    "calls": "calls",
    "time": "time",
    "allocated": "allocated",
    "self_allocated": "itself",
    "freed": "freed",
    "self_freed": "itself",
    "net": "net",
    "peak": "peak",
}
_STEPS = ("before", "peak", "after", "allocated", "freed")


def spans(arguments: argparse.Namespace) -> int:
    """Print the sums of spans by name. Raises MemoryPluginError."""
    recording = load(arguments.path).recording
    device = choose_device(recording, arguments.device)
    asked = {name: getattr(arguments, name) for name in ("kind", "begin", "end", "find", "sort")}
    if arguments.csv:
        text.say_csv(sums.whole(recording, device, **asked))
        return 0
    answer = sums.page(recording, device, **asked, limit=0)
    stop = min(arguments.limit, answer["found"])
    for begin in range(0, stop, sums.MOST):
        limit = min(sums.MOST, stop - begin)
        answer["rows"] += sums.page(recording, device, **asked, offset=begin, limit=limit)["rows"]
    if arguments.json:
        text.say_json(answer)
        return 0
    total = answer["total"]
    text.say(
        f"{text.styled(device.name, 'bold')} {text.counted(total['calls'], 'call')} of "
        f"{text.counted(total['names'], 'name')}: "
        f"allocated {text.exact_bytes(total['allocated'])}, "
        f"freed {text.exact_bytes(total['freed'])}"
    )
    outside = answer["outside"]
    if outside is not None and any(outside.values()):
        told = " and ".join(f"{word} {text.exact_bytes(outside[word])}" for word in outside)
        text.say(text.styled(f"  in no span of kind {arguments.kind}: {told}", "quiet"))
    for note in answer["notes"]:
        text.say(text.styled(f"  {note}", "quiet"))
    rows = [
        [*(_said(name, row[name]) for name in _SUMS), text.cut(row["name"])]
        for row in answer["rows"]
    ]
    for line in text.table([*_SUMS.values(), arguments.kind], rows, right=range(len(_SUMS))):
        text.say(line)
    if stop < answer["found"]:
        text.say(f"{text.grouped(answer['found'] - stop)} more (--limit)")
    return 0


def every_step(arguments: argparse.Namespace) -> int:
    """Print what memory did in every step. Raises MemoryPluginError."""
    recording = load(arguments.path).recording
    device = choose_device(recording, arguments.device)
    answer = steps.steps(recording, device, ids=[], width=1)
    found = {"device": device.key, "steps": answer["steps"], "hidden": answer["hidden"]}
    if arguments.json:
        text.say_json(found)
        return 0
    text.say(f"{text.styled(device.name, 'bold')} {text.counted(len(answer['steps']), 'step')}")
    rows = [
        [
            row["name"],
            format_duration(row["end"] - row["begin"]),
            *(format_bytes(row[name]) for name in _STEPS),
        ]
        for row in answer["steps"]
    ]
    for line in text.table(["step", "lasts", *_STEPS], rows, right=range(1, len(_STEPS) + 2)):
        text.say(line)
    return 0


def trace(arguments: argparse.Namespace) -> int:
    """Write a trace. Raises MemoryPluginError, OSError."""
    path = Path(arguments.output)
    keep_sources(path, arguments.path)
    recording = load(arguments.path).recording
    pieces = export.trace_file(recording, begin=arguments.begin, end=arguments.end)
    with written(path) as temporary, _opened(temporary, path.name) as file:
        for piece in pieces:
            file.write(piece.encode())
    if path.is_file():
        text.say(f"{path} ({format_bytes(path.stat().st_size)})")
    return 0


def _opened(temporary: Path, name: str) -> IO[bytes] | gzip.GzipFile:
    if name.lower().endswith(".gz"):
        return gzip.open(temporary, "wb", compresslevel=3)
    return temporary.open("wb")


def _said(name: str, value: Any) -> str:
    if name == "calls":
        return text.grouped(value)
    if name == "time":
        return format_duration(value)
    return f"+{format_bytes(value)}" if name == "net" and value > 0 else format_bytes(value)
