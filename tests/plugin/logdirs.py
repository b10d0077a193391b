"""Parts of logdirs, and what a folder holds at a moment."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

STEPS = 5


def write_scalars(run: Path) -> None:
    """An event file with a scalar ``loss``, as any training loop leaves it."""
    run.mkdir(parents=True, exist_ok=True)
    writer = EventFileWriter(str(run))
    for step in range(STEPS):
        value = summary_pb2.Summary.Value(tag="loss", simple_value=float(step))
        event = event_pb2.Event(step=step, summary=summary_pb2.Summary(value=[value]))
        writer.add_event(event)
    writer.close()


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Kind, time of modification and content of everything in a folder, itself included."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        state = path.lstat()
        content = b""
        if stat.S_ISREG(state.st_mode) and os.access(path, os.R_OK):
            content = path.read_bytes()
        found[str(path.relative_to(folder))] = (state.st_mode, state.st_mtime_ns, content)
    return found
