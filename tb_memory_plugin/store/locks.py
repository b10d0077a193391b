"""A file, made into a lock between processes that ends with the process that holds it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: two servers may read a source twice
    fcntl = None  # type: ignore[assignment]

_PAUSE = 0.1


@contextmanager
def held(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Holds the lock ``path`` inside the block; calls ``waiting`` while somebody else does.

    The operating system lets go of it when the holder dies, so no lock is ever stale. Where the
    file system has no locks, there is none: work may be done twice, its result is the same.
    """
    handle = _acquired(path, waiting)
    try:
        yield
    finally:
        if handle is not None:
            # While it is held: whoever opened it before sees that it is gone and makes a new one.
            path.unlink(missing_ok=True)
            os.close(handle)


def _acquired(path: Path, waiting: Callable[[], None]) -> int | None:
    if fcntl is None:
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            waiting()
            time.sleep(_PAUSE)
            continue
        except OSError:
            os.close(handle)
            return None
        if os.fstat(handle).st_nlink:
            return handle
        os.close(handle)
