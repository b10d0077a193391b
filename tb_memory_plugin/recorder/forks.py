"""Writers of a process that forks: the child's copies are made to do nothing."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forgetful(Protocol):
    """Something that must not go on in a forked child."""

    def _forget(self) -> None: ...


_OPEN: weakref.WeakSet[Forgetful] = weakref.WeakSet()
_watching = False


def watch(writer: Forgetful) -> None:
    """Have ``writer`` forget in children of this process (DataLoader workers are such)."""
    global _watching
    _OPEN.add(writer)
    if not _watching and hasattr(os, "register_at_fork"):
        _watching = True
        os.register_at_fork(after_in_child=_forget_all)


def leave(writer: Forgetful) -> None:
    """``writer`` is closed."""
    _OPEN.discard(writer)


def _forget_all() -> None:
    for writer in list(_OPEN):
        writer._forget()
    _OPEN.clear()
