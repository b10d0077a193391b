"""TensorBoard's flags, made into the folders to look in and the names their runs begin with."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tb_memory_plugin.store.storage import is_remote

_URI = re.compile(r"[a-zA-Z][0-9a-zA-Z.]*://.*")


@dataclass(frozen=True)
class Root:
    """A folder to look in. ``name`` comes before its runs' names; ``label`` is for people."""

    address: str
    name: str = ""
    label: str = ""


def roots_of(logdir: str, logdir_spec: str = "") -> list[Root]:
    """The folders that ``--logdir`` or ``--logdir_spec`` name, as TensorBoard takes them.

    A part of a spec is ``name:path`` unless it is a URI or begins with a slash or a drive.
    """
    if logdir:
        return [Root(_absolute(logdir), "", logdir)]
    roots = []
    for part in filter(None, logdir_spec.split(",")):
        name, path = "", part
        plain = _URI.match(part) or part.startswith("/") or os.path.splitdrive(part)[0]
        if not plain and ":" in part:
            name, _, path = part.partition(":")
        roots.append(Root(_absolute(path), name, name or path))
    return roots


def run_of(root: Root, folders: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The run that a folder below ``root`` belongs to, and what is left of the way to it.

    A run is a folder by its path from the root; ``plugins/…`` in it belongs to it.
    """
    if "plugins" in folders:
        place = folders.index("plugins")
        folders, left = folders[:place], folders[place:]
    else:
        left = ()
    relative = str(PurePosixPath(*folders)) if folders else "."
    return (f"{root.name}/{relative}" if root.name else relative), left


def _absolute(path: str) -> str:
    """A folder of this machine by its path alone, also where ``file://`` stands before it."""
    if is_remote(path):
        return path
    return str(Path(path.removeprefix("file://")).expanduser().absolute())
