"""A file and limits, made into a cache entry by a child process, or into one sentence why not."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.store.starting import Child, standby, start
from tb_memory_plugin.units import format_bytes

logger = logging.getLogger(__name__)

Report = Callable[[float, str], None]

_LAST_WORDS = 2000
_SOON = 10.0  # seconds in which a process that waits must have begun


@dataclass(frozen=True)
class Limits:
    """What one import may take: bytes of memory, seconds."""

    memory: int
    seconds: float


def read(path: Path, key: str, entries: Path, limits: Limits, report: Report, **more: Any) -> None:
    """Have ``path`` read into the entry ``key`` of the folder ``entries``; returns when it is.

    ``more`` is asked for beside that; of a pair ``path`` is but a name.

    Raises SourceError, whatever happens to the child: a bad file, a limit, a crash, a signal;
    OSError where the folder cannot be written or no child can be started.
    """
    request = {
        "path": str(path.absolute()),
        "key": key,
        "entries": str(entries),
        "memory": limits.memory,
        "seconds": limits.seconds,
        **more,
    }
    waiting = standby.take(entries)
    if waiting is not None and _read_by(waiting, path, request, limits, report):
        return
    _read_by(start(entries), path, request, limits, report, is_last=True)


def _read_by(
    child: Child,
    path: Path,
    request: dict[str, Any],
    limits: Limits,
    report: Report,
    *,
    is_last: bool = False,
) -> bool:
    """Whether ``child`` has read it. False where it gave up before it was asked to.

    Raises SourceError where it could not be read; if the child ``is_last``, in that case too.
    """
    overdue = threading.Event()
    with child:
        # One that waits answers at once, unless something keeps it from running.
        silent = threading.Timer(_SOON, child.process.kill)
        timer = threading.Timer(limits.seconds, _stop, (child.process, overdue))
        silent.daemon = timer.daemon = True

        def heard(fraction: float, phase: str) -> None:
            silent.cancel()
            report(fraction, phase)

        try:
            timer.start()
            if not is_last:
                silent.start()
            last = _followed(child.process, request, heard)
        finally:
            silent.cancel()
            timer.cancel()
            child.end()
        if last.get("done"):
            return True
        if not last and not is_last:
            return False
        status = child.process.returncode
        raise _sentence(path.name, last, status, overdue.is_set(), limits, child.complaints)


def _followed(
    process: subprocess.Popen[bytes], request: dict[str, Any], report: Report
) -> dict[str, Any]:
    """The child's last message, after its progress was passed on."""
    requests, answers = process.stdin, process.stdout
    if requests is None or answers is None:
        raise ValueError("the child was started without pipes")
    last: dict[str, Any] = {}
    try:
        requests.write(json.dumps(request).encode() + b"\n")
        requests.flush()
    except OSError:
        return last  # it is gone already; its status says why
    for line in answers:
        last = json.loads(line)
        if "fraction" in last:
            report(last["fraction"], last["phase"])
    return last


def _stop(process: subprocess.Popen[bytes], overdue: threading.Event) -> None:
    overdue.set()
    process.kill()


def _sentence(
    name: str,
    last: dict[str, Any],
    status: int,
    overdue: bool,
    limits: Limits,
    complaints: IO[bytes],
) -> SourceError:
    if "error" in last:
        return SourceError(*last["error"])
    if last.get("memory"):
        return SourceError(
            name,
            f"needs more than {format_bytes(limits.memory)} of memory, the most reading may take",
            "give TensorBoard a higher --memory_limit, or record fewer events",
        )
    if overdue:
        return SourceError(
            name,
            f"was not read within {limits.seconds:g} seconds, the longest it may take",
            "give TensorBoard a higher --memory_time_limit, or record fewer events",
        )
    complaints.seek(0, os.SEEK_END)
    complaints.seek(max(0, complaints.tell() - _LAST_WORDS))
    words = complaints.read().decode(errors="replace").strip()
    logger.warning("Reading %s failed with status %s: %s", name, status, words)
    if status < 0:
        return SourceError(
            name,
            f"ended the process that read it ({_signal(-status)})",
            "it is damaged, or the machine has too little memory; record it again or try again",
        )
    said = words.splitlines()[-1][:200] if words else f"status {status}"
    return SourceError(
        name,
        f"could not be read ({said})",
        "this is a fault of the reader: please report it with the file",
    )


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
