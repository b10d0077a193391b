"""A file and limits, made into a cache entry by a child process, or into one sentence why not."""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.units import format_bytes

logger = logging.getLogger(__name__)

Report = Callable[[float, str], None]

_PACKAGES = Path(__file__).resolve().parents[2]
_LAST_WORDS = 2000
_running: set[subprocess.Popen[bytes]] = set()
_guard = threading.Lock()


@dataclass(frozen=True)
class Limits:
    """What one import may take: bytes of memory, seconds."""

    memory: int
    seconds: float


def read(path: Path, key: str, entries: Path, limits: Limits, report: Report) -> None:
    """Have ``path`` read into the entry ``key`` of the folder ``entries``; returns when it is.

    Raises SourceError, whatever happens to the child: a bad file, a limit, a crash, a signal;
    OSError where the folder cannot be written or no child can be started.
    """
    request = {
        "path": str(path.absolute()),
        "key": key,
        "entries": str(entries),
        "memory": limits.memory,
        "seconds": limits.seconds,
    }
    entries.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile() as complaints:
        process = _started(entries, complaints)
        overdue = threading.Event()
        timer = threading.Timer(limits.seconds, _stop, (process, overdue))
        timer.daemon = True
        timer.start()
        try:
            last = _followed(process, request, report)
        finally:
            timer.cancel()
            _ended(process)
        if last.get("done"):
            return
        raise _sentence(path.name, last, process.returncode, overdue.is_set(), limits, complaints)


def stop_all() -> None:
    """End every import under way: this process is about to end."""
    with _guard:
        for process in _running:
            process.kill()


atexit.register(stop_all)


def _started(folder: Path, complaints: IO[bytes]) -> subprocess.Popen[bytes]:
    path = [os.environ.get("PYTHONPATH", "")]
    if _PACKAGES.name not in ("site-packages", "dist-packages"):
        path.append(str(_PACKAGES))  # run from a checkout that is not installed
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        "PYTHONSAFEPATH": "1",
        # One thread each: imports run beside each other, and threads cost address space.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tb_memory_plugin.store.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        cwd=folder,  # a folder that holds no modules: Python looks there first
        env=environment,
        start_new_session=True,  # Ctrl-C in the terminal is for TensorBoard
    )
    with _guard:
        _running.add(process)
    return process


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


def _ended(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    with _guard:
        _running.discard(process)


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
