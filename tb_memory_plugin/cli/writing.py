"""Files that a command writes: there whole, or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tb_memory_plugin.errors import QueryError


@contextlib.contextmanager
def written(path: Path) -> Iterator[Path]:
    """A name beside ``path`` to write to, which takes that name if nothing goes wrong.

    A link stays one: what it leads to is written. So does what is no file, such as a pipe or
    ``/dev/null``, which is written to as it is. Raises OSError.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        yield path
        return
    path = path.resolve()
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    except OSError as error:  # it names the temporary file
        raise OSError(error.errno, os.strerror(error.errno or 0), str(path)) from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, 0o666 & ~umask())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def keep_sources(target: Path, *sources: str | Path) -> None:
    """Raises QueryError where ``target`` is one of the files that are read, by any name."""
    for source in map(Path, sources):
        if target.is_file() and source.is_file() and target.samefile(source):
            raise QueryError(f"{target} is what is read, and would be lost; write to another file.")


def reason(error: OSError) -> str:
    """Why something could not be written, in the system's words alone."""
    return os.strerror(error.errno) if error.errno else str(error)


def umask() -> int:
    """What files of this process may not be; ``mkstemp`` lets nobody else read."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
