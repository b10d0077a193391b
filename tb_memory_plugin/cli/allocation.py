"""``tb-memory allocation``: one allocation, everything that is known of it."""

from __future__ import annotations

import argparse
from typing import Any

from tb_memory_plugin.api import load
from tb_memory_plugin.cli import text
from tb_memory_plugin.units import format_bytes, format_duration
from tb_memory_plugin.views.allocation import card

_STACKS = {
    "birth_stack": "allocated by",
    "death_stack": "freed by",
    "forward_stack": "in the forward pass",
}

_TOLD = ("name", "op", "module", "region", "dtype", "shape", "annotation")


def run(arguments: argparse.Namespace) -> int:
    """Print the allocation in row ``arguments.id``. Raises MemoryPluginError."""
    recording = load(arguments.path).recording
    found = card(recording, arguments.id)
    if arguments.json:
        text.say_json(found)
        return 0
    text.say(text.styled(f"allocation {found['id']}: {found['label']}", "bold"))
    for line in text.facts(_rows(found)):
        text.say(line)
    for name, words in _STACKS.items():
        if found[name]:
            text.say(text.styled(f"  {words}", "quiet"))
            for frame in found[name]:
                text.say(f"    {_place(frame)}")
    return 0


def _rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    segment, siblings = found["segment"], found["siblings"]
    inferred = {True: " (inferred)", False: ""}
    size = text.exact_bytes(found["size"]) + inferred[found["size_inferred"]]
    said = {
        "requested": text.exact_bytes(found["requested"]),
        "size": None if found["size"] is None else size,
        "address": found["address"],
        "born": _moment(found, "birth") or "before the window",
        "freed": _moment(found, "death") or "never in the window",
        "category": found["category"] and found["category"] + inferred[found["category_inferred"]],
        **{name: found[name] for name in _TOLD},
        "step": None if found["step"] is None else str(found["step"]),
        "pool": found["pool"],
        "stream": found["stream"],
        "segment": segment and f"{segment['address']}, {text.exact_bytes(segment['size'])}",
        "compile context": found["compile_context"],
        "user metadata": found["user_metadata"],
        "may be": _guesses(found["guesses"]),
        "same stack": siblings
        and f"{text.counted(siblings['count'], 'allocation')}, "
        f"{text.exact_bytes(siblings['bytes'])}, {siblings['alive_at_peak']} alive at the peak",
    }
    return [(name, words) for name, words in said.items() if words]


def _guesses(guesses: dict[str, Any] | None) -> str | None:
    """``8 × 640 elements of 2 bytes, or 8 × 1.25 KiB``; None where there is no guess."""
    if guesses is None:
        return None
    said = []
    for shape in guesses["shapes"]:
        sides = " × ".join(map(str, shape["dimensions"]))
        said.append(f"{sides} elements of {text.counted(shape['width'], 'byte')}")
    said += [f"{each['times']} × {format_bytes(each['bytes'])}" for each in guesses["multiples"]]
    return ", or ".join(said) or None


def _place(frame: dict[str, Any]) -> str:
    where = frame["file"] or ""
    if where and frame["line"]:
        where += f":{frame['line']}"
    return f"{frame['function'] or ''}  {where}".strip()


def _moment(found: dict[str, Any], which: str) -> str | None:
    event, time = found[which], found[f"{which}_time"]
    if event is None:
        return None
    return f"event {event}" + ("" if time is None else f", {format_duration(time)} from the origin")
