"""``tb-memory flame``: the stacks of a recording, weighed, made into a file for flame graphs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from tb_memory_plugin.api import choose_device, load
from tb_memory_plugin.cli import text
from tb_memory_plugin.cli.weighing import question
from tb_memory_plugin.cli.writing import keep_sources, written
from tb_memory_plugin.units import format_bytes
from tb_memory_plugin.views import flame, flame_files


def run(arguments: argparse.Namespace) -> int:
    """Print the stacks, or write them to ``arguments.output``. Raises MemoryPluginError."""
    content = _content(arguments)
    if arguments.output is None:
        for piece in content:
            for line in piece.split("\n"):
                if line:
                    text.say(line)
        return 0
    path = Path(arguments.output)
    keep_sources(path, arguments.path)
    with written(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(content)
    if path.is_file():
        text.say(f"{path} ({format_bytes(path.stat().st_size)})")
    return 0


def _content(arguments: argparse.Namespace) -> Iterator[str]:
    recording = load(arguments.path).recording
    device = choose_device(recording, arguments.device)
    asked = {
        **question(arguments),
        "inverted": arguments.inverted,
        "folded": arguments.fold_libraries,
    }
    if arguments.format == "folded":
        return flame_files.folded_stacks(recording, device, **asked)
    if arguments.format == "speedscope":
        return flame_files.speedscope(recording, device, **asked)
    return iter([json.dumps(flame.page(recording, device, **asked), indent=2)])
