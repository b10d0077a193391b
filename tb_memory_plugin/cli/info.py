"""``tb-memory info``: a source, made into its facts."""

from __future__ import annotations

import argparse
import os
from typing import Any

from tb_memory_plugin.analysis.alive import sums_only
from tb_memory_plugin.api import LoadedRecording, load
from tb_memory_plugin.cli import hosts, text
from tb_memory_plugin.units import format_bytes, format_duration
from tb_memory_plugin.views.summary import summary


def run(arguments: argparse.Namespace) -> int:
    """Print the facts of ``arguments.path``. Raises MemoryPluginError."""
    if os.path.isdir(arguments.path):
        return hosts.info(arguments)
    found = load(arguments.path)
    if arguments.json:
        text.say_json(answer(found))
        return 0
    text.say(text.styled(str(arguments.path), "bold"))
    text.say(f"  {found.format}, bytes as {_BASIS[found.basis]}")
    if "pair" in found.meta:
        pair = found.meta["pair"]
        text.say(f"  memory of {pair['snapshot']}, the program of {pair['trace']}")
    for problem in found.problems:
        text.say(text.styled(f"  ! {problem}", "yellow"))
    for missing in found.meta["missing"]:
        text.say(text.styled(f"  no {missing['what']}: {missing['why']}", "quiet"))
        if missing.get("remedy"):
            text.say(text.styled(f"    {missing['remedy']}", "quiet"))
    modules = len(found.recording.table("modules"))
    if modules:
        text.say(f"  plans for memory of {text.counted(modules, 'HLO module')}: tb-memory modules")
    elif not found.devices:
        text.say("  no devices: nothing in it is about memory")
    for device in found.devices.values():
        text.say()
        text.say(f"  {text.styled(device['name'], 'bold')} (device {device['key']})")
        sums = len(sums_only(found.recording, found.recording.device(device["key"])))
        for line in text.facts(_rows(device, sums), indent=4):
            text.say(line)
    return 0


def answer(found: LoadedRecording) -> dict[str, Any]:
    """``{"format", "basis", "problems", "annotations", "devices": {key: {"name", …}}, "summary"}``.

    ``summary`` is what the page begins with: capacity, steps, the peak's moment and step.
    """
    begins = summary(found.recording, version="", run="", name="")
    return {
        "format": found.format,
        "basis": found.basis,
        "problems": found.problems,
        "annotations": found.annotations,
        **({"pair": found.meta["pair"]} if "pair" in found.meta else {}),
        "devices": {
            key: {name: value for name, value in device.items() if name != "key"}
            for key, device in found.devices.items()
        },
        "summary": {name: begins[name] for name in _SUMMARY},
    }


_SUMMARY = ("time_origin_ns", "missing", "groupings", "axes", "devices")
_BASIS = {"requested": "requested by the program", "size": "given by the allocator"}


def _rows(device: Any, sums: int) -> list[tuple[str, str]]:
    rows = [
        (
            "events",
            f"{text.grouped(device['events'])} ({text.counted(device['allocs'], 'allocation')}, "
            f"{text.counted(device['frees'], 'free')})",
        ),
    ]
    if device["time_span_us"] is not None:
        rows.append(("time span", format_duration(device["time_span_us"] * 1000)))
    peak, events = device["allocated_peak_event"], device["events"]
    moment = "" if peak is None else f" {text.moment(peak, events=events > 0)}"
    if peak is None and "net_peak" in device:  # what was there before is not known, the rest is
        rows.append(("above the start, at peak", text.exact_bytes(device["net_peak"])))
        rows.append(("above the start, at end", text.exact_bytes(device["net_end"])))
    rows += [
        ("allocated at peak", f"{text.exact_bytes(device['allocated_peak'])}{moment}"),
        ("allocated at start", text.exact_bytes(device["allocated_start"])),
        ("allocated at end", text.exact_bytes(device["allocated_end"])),
        ("reserved at peak", text.exact_bytes(device["reserved_peak"])),
        ("reserved at start", text.exact_bytes(device["reserved_start"])),
        ("reserved at end", text.exact_bytes(device["reserved_end"])),
        ("before the window", text.blocks(device["blocks_before_window"], sums)),
        ("live at the end", text.blocks(device["live_blocks_end"], sums)),
        ("pending free", text.counted(device["pending_free_blocks"], "block")),
        ("pools", ", ".join(f"{first},{second}" for first, second in device["pools"]) or "none"),
        ("streams", text.grouped(device["streams"])),
    ]
    if events:
        stacks = text.counted(device["distinct_stacks"], "stack")
        words = f"{stacks} of {text.counted(device['distinct_frames'], 'frame')}"
        rows.append(("distinct in events", words))
    rows += _said(device["allocator"]) if "allocator" in device else []
    for failure in device["oom"]:
        asked, free = failure["requested"], failure["device_free"]
        words = f"event {failure['event']}"
        if asked is not None:
            words += f": {format_bytes(asked)} asked for"
        if free is not None:
            words += f", {format_bytes(free)} free on the device"
        rows.append(("out of memory", text.styled(words, "red")))
    return rows


def _said(allocator: Any) -> list[tuple[str, str]]:
    """What the allocator itself says of its peak."""
    told = f"event {allocator['event']}"
    if allocator["stack"]:
        told = f"stack + heap, {told}"
    rows = [("allocator's peak", f"{text.exact_bytes(allocator['peak'])} ({told})")]
    if allocator["stack"]:
        rows.append(("of it stack", text.exact_bytes(allocator["stack"])))
    rows.append(("free then", text.exact_bytes(allocator["free"])))
    if allocator["fragmentation"] is not None:
        rows.append(("free list fragmentation", f"{100 * allocator['fragmentation']:.2f} %"))
    rows.append(("lifetime peak", text.exact_bytes(allocator["lifetime_peak"])))
    return rows
