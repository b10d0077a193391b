"""Processes of ``child``: started in a folder, ended with this one; one may be kept ready.

To load its libraries takes a process a third of a second, longer than most sources take to be
read. So while somebody looks at sources that are not read yet one waits, loaded, for a request.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_PACKAGES = Path(__file__).resolve().parents[2]
_running: set[subprocess.Popen[bytes]] = set()
_guard = threading.Lock()


@dataclass(frozen=True)
class Child:
    """A process that waits for one request, and the file that takes what it complains of."""

    process: subprocess.Popen[bytes]
    complaints: IO[bytes]
    folder: Path

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()
        self.complaints.close()

    def end(self) -> None:
        """Close its pipes, on which it ends by itself, and see to it that it does."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with _guard:
            _running.discard(self.process)


def start(folder: Path) -> Child:
    """A new process, which works in ``folder``. Raises OSError."""
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
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        complaints = stack.enter_context(tempfile.TemporaryFile())
        process = subprocess.Popen(
            [sys.executable, "-m", "tb_memory_plugin.store.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            cwd=folder,  # a folder that holds no modules: Python looks there first
            env=environment,
            start_new_session=True,  # Ctrl-C in the terminal is for TensorBoard
        )
        stack.pop_all()
    with _guard:
        _running.add(process)
    return Child(process, complaints, folder)


class Standby:
    """At most one process that waits for a request. It gives up by itself when none comes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: Child | None = None

    def prepare(self, folder: Path) -> None:
        """Have a process wait in ``folder``. A hint: that there can be none is no error."""
        with self._lock, contextlib.suppress(OSError):
            if not self._waits(folder):
                self._child = start(folder)

    def take(self, folder: Path) -> Child | None:
        """The process that waits in ``folder``, if one does. It may have given up just now."""
        with self._lock:
            child = self._child if self._waits(folder) else None
            self._child = None
            return child

    def _waits(self, folder: Path) -> bool:
        """Whether one does there; one that is gone or waits elsewhere is let go."""
        child = self._child
        if child is None:
            return False
        if child.folder == folder and child.process.poll() is None:
            return True
        self._child = None
        child.process.kill()
        with child:
            return False


standby = Standby()


def stop_all() -> None:
    """End every process under way: this one is about to end."""
    with _guard:
        for process in _running:
            process.kill()


atexit.register(stop_all)
