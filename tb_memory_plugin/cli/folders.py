"""Folders that a command writes: all of their files there, or all as they were before."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tb_memory_plugin.cli.writing import umask


@contextlib.contextmanager
def filled(folder: Path) -> Iterator[Path]:
    """A folder to write files to, which are moved to ``folder`` if nothing goes wrong.

    Files of the same names there are replaced, others stay. If anything goes wrong, what was there
    is there again. Raises OSError.
    """
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    made = _parents(folder)
    # Beside it, not in it: whoever looks there sees nothing half done. In it where that is a
    # file system of its own.
    beside = folder if folder.is_dir() else folder.parent
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".tmp", dir=beside))
    try:
        fresh, old = temporary / "new", temporary / "old"
        fresh.mkdir()
        yield fresh
        if folder.is_dir():
            old.mkdir()
            _swap(sorted(path.name for path in fresh.iterdir()), fresh, folder, old)
        else:
            os.chmod(fresh, 0o777 & ~umask())
            os.rename(fresh, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        for parent in made:
            with contextlib.suppress(OSError):
                parent.rmdir()
        raise
    shutil.rmtree(temporary, ignore_errors=True)


def _parents(folder: Path) -> list[Path]:
    """Make the folders above ``folder``; those that were not there, the innermost first."""
    missing = [parent for parent in folder.parents if not parent.exists()]
    folder.parent.mkdir(parents=True, exist_ok=True)
    return missing


def _swap(names: Sequence[str], fresh: Path, folder: Path, old: Path) -> None:
    """Move files from ``fresh`` to ``folder``, and what they replace to ``old``."""
    try:
        for name in names:
            if os.path.lexists(folder / name):
                os.rename(folder / name, old / name)
            os.rename(fresh / name, folder / name)
    except BaseException:
        for name in names:
            if not (fresh / name).exists():
                (folder / name).unlink()
            if os.path.lexists(old / name):
                os.rename(old / name, folder / name)
        raise
