"""``tb-memory import``: a source, made into a recording in a run's folder."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from tb_memory_plugin.api import load
from tb_memory_plugin.cli import text
from tb_memory_plugin.cli.writing import keep_sources, reason
from tb_memory_plugin.errors import QueryError, SourceError
from tb_memory_plugin.recording.recording import save
from tb_memory_plugin.store.storage import is_remote
from tb_memory_plugin.units import format_bytes

_ENDINGS = re.compile(r"(\.(pickle|pkl|json|tbmem|gz))+$", re.IGNORECASE)
_NAME = re.compile(r"[^/\\\0]{1,200}")


def run(arguments: argparse.Namespace) -> int:
    """Write the recorded tables of ``arguments.path`` into the run. Raises MemoryPluginError."""
    if is_remote(arguments.logdir):
        raise QueryError(f"{arguments.logdir} is not on this machine; copy the file there instead.")
    source = Path(arguments.path)
    name = _ENDINGS.sub("", arguments.name or source.name) or "recording"
    if not _NAME.fullmatch(name) or name.startswith("."):
        raise QueryError(f"{name!r} is not a name for a recording; leave out slashes and dots.")
    target = Path(arguments.logdir) / "plugins" / "memory" / f"{name}.tbmem"
    if os.path.exists(target) and not arguments.force:
        raise QueryError(f"{target} is there already; choose another --name, or --force.")
    keep_sources(target, source)
    recording = load(source).recording.only_recorded()
    try:
        save(recording, target, compress=True)
    except OSError as error:
        fault = f"cannot be written ({reason(error)})"
        raise SourceError(str(target), fault, "check the folder's permissions and space") from error
    size = target.stat().st_size
    if arguments.json:
        text.say_json({"path": str(target), "bytes": size})
    else:
        text.say(f"{source} is in the run as {target} ({format_bytes(size)})")
    return 0
