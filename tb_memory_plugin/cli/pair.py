"""``tb-memory pair``: a snapshot and a trace, made into what they have in common and into one."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from tb_memory_plugin.analysis.pairs.match import match
from tb_memory_plugin.analysis.pairs.recording import told
from tb_memory_plugin.cli import text
from tb_memory_plugin.cli.progress import Progress
from tb_memory_plugin.cli.writing import keep_sources, reason
from tb_memory_plugin.errors import QueryError, SourceError
from tb_memory_plugin.recording.recording import Recording, save
from tb_memory_plugin.store.load import load_path
from tb_memory_plugin.store.pair_reading import as_one, not_of_one_process
from tb_memory_plugin.units import format_bytes, format_duration


def run(arguments: argparse.Namespace) -> int:
    """Say what two recordings have in common; write both as one. Raises MemoryPluginError."""
    target = None if arguments.out is None else Path(arguments.out)
    if target is not None and target.suffix != ".tbmem":
        raise QueryError(f"{target} is not called *.tbmem, as recordings are; name it so.")
    if target is not None and os.path.exists(target) and not arguments.force:
        raise QueryError(f"{target} is there already; choose another --out, or --force.")
    if target is not None:
        keep_sources(target, arguments.snapshot, arguments.trace)
    ours, theirs = (_loaded(path, arguments) for path in (arguments.snapshot, arguments.trace))
    if theirs.meta["format"] == "torch_snapshot" != ours.meta["format"]:
        raise QueryError(f"{arguments.trace} is a snapshot; name it first, and then the trace.")
    both = _together(ours, theirs, arguments, whole=target is not None)
    found = None if both is None else both.meta["pair"]
    if both is not None and target is not None:
        _write(both, target)
    if arguments.json:
        text.say_json({"match": found, "out": None if target is None else str(target)})
        return 0 if found else 1
    if found is None:
        raise not_of_one_process(_name(arguments))
    for line in _lines(found, arguments.shift):
        text.say(line)
    if target is not None:
        text.say(f"  both as one: {target} ({format_bytes(target.stat().st_size)})")
    return 0


def _loaded(path: str, arguments: argparse.Namespace) -> Recording:
    with Progress(Path(path).name, sys.stderr, hidden=arguments.json) as shown:
        return load_path(Path(path), shown.report)


def _name(arguments: argparse.Namespace) -> str:
    return f"{arguments.snapshot} + {arguments.trace}"


def _together(
    ours: Recording, theirs: Recording, arguments: argparse.Namespace, *, whole: bool
) -> Recording | None:
    """Both as one recording, with nothing but its ``meta`` if it is not wanted ``whole``."""
    if whole or arguments.shift is not None:
        try:
            return as_one(_name(arguments), ours, theirs, arguments.shift)
        except SourceError:
            if not arguments.json:
                raise
            return None
    found = match(ours, theirs)
    return None if found is None else Recording({"pair": told(ours, theirs, found)}, {})


def _write(both: Recording, target: Path) -> None:
    try:
        save(both, target, compress=True)
    except OSError as error:
        fault = f"cannot be written ({reason(error)})"
        raise SourceError(str(target), fault, "check the folder's permissions and space") from error


def _lines(found: dict[str, Any], shift: int | None) -> list[str]:
    """What a match is, for people."""
    if not found["matched"]:
        return ["Nothing in them is the same; they are put together by what their clocks show."]
    residual, drift = found["residual_ns"], found["drift_ppm"]
    rows = [
        ("the same", f"{text.grouped(found['matched'])} births and frees"),
        ("of the snapshot's", f"{found['snapshot_share']:.1%} in the time that both have"),
        ("of the trace's", f"{found['trace_share']:.1%}"),
        ("offset", f"{text.grouped(found['offset_ns'])} ns: the snapshot's clock shows more"),
        ("drift", f"{drift:+.3f} millionths" if drift else "none"),
        (
            "left over",
            f"{format_duration(residual['median'])} (median), {format_duration(residual['p95'])} "
            "(95 of 100 are within)",
        ),
    ]
    if shift:
        rows.append(("shift by hand", f"{text.grouped(shift)} ns"))
    lines = [f"{found['snapshot']} and {found['trace']} are of one process", *text.facts(rows)]
    if not found["certain"]:
        lines.append("  ! other offsets fit nearly as well: what happens repeats itself evenly")
    return lines
