"""A folder that one process at a time may write to, told by a lock that ends with the process."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

#: The file that is locked; it is taken away again at the end.
NAME = ".writer"

_TRIES = 8
_OURS: set[Path] = set()  # a process does not see its own locks


@dataclass
class Claim:
    """A folder that is this process's until it is released, or the process ends."""

    folder: Path
    _descriptor: int

    def release(self) -> None:
        """Leave the folder to others."""
        _OURS.discard(self.folder)
        try:
            (self.folder / NAME).unlink(missing_ok=True)
        finally:
            os.close(self._descriptor)


def claim(folder: Path) -> Claim | None:
    """Make ``folder`` this process's.

    None if it is that of another process that lives, or of another writer in this one, or if
    its file system has no locks to tell by. Raises OSError where it cannot be written to.
    """
    folder = folder.absolute()
    if folder in _OURS:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    for _ in range(_TRIES):
        descriptor = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o644)
        if not _locked(descriptor):
            os.close(descriptor)
            return None
        if _stands(folder / NAME, descriptor):
            _OURS.add(folder)
            return Claim(folder, descriptor)
        os.close(descriptor)  # whoever had it took it away before it was locked here
    return None


def fresh(base: Path) -> Path:
    """A new folder that no other process makes: ``base``, with a number if that is there."""
    base.parent.mkdir(parents=True, exist_ok=True)
    folder, count = base, 1
    while True:
        try:
            folder.mkdir()
        except FileExistsError:
            count += 1
            folder = base.with_name(f"{base.name}.{count}")
        else:
            return folder


def _locked(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            # Not flock, which children of a fork would hold on to.
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _stands(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
