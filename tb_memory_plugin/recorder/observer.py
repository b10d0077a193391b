"""Allocators that are about to raise out-of-memory, told to the engines that listen."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Protocol


class Listener(Protocol):
    """Something that wants to know."""

    def failed(self) -> None:
        """The allocator is about to raise."""


# torch can attach an observer but not take it off: one for the process, that tells who listens.
_LISTENING: dict[str, weakref.WeakSet[Listener]] = {}


def listen(torch: Any, kind: str, listener: Listener) -> bool:
    """Tell ``listener`` of failures on ``kind`` ("cuda"); False where torch tells nobody."""
    attach: Callable[[Any], None] | None = getattr(
        torch._C, f"_{kind}_attach_out_of_memory_observer", None
    ) or getattr(torch._C, f"_{kind}_attachOutOfMemoryObserver", None)
    if attach is None:
        return False
    first = kind not in _LISTENING
    listening = _LISTENING.setdefault(kind, weakref.WeakSet())
    listening.add(listener)
    if first:

        def observer(*_: Any) -> None:
            for each in list(listening):
                each.failed()

        attach(observer)
    return True


def leave(kind: str, listener: Listener) -> None:
    """Tell ``listener`` no more."""
    _LISTENING.get(kind, weakref.WeakSet()).discard(listener)
