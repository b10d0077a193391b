"""What was worked out for a recording, kept while that recording is open and there is room."""

from __future__ import annotations

import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from tb_memory_plugin.recording.recording import Recording

T = TypeVar("T")

#: Anonymous memory that results may hold, in bytes, over all recordings.
ROOM = 24 << 20

#: The same for each event of the largest recording that is asked about, if that is more: what one
#: screen takes has to fit, or every question works it out anew.
ROOM_PER_EVENT = 12


class _Memo:
    """Results by recording and name, least recently used out first."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._held = 0
        self._results: OrderedDict[tuple[int, Hashable], tuple[Any, int]] = OrderedDict()
        self._known: dict[int, int] = {}  # the room a recording asks for, by its identity
        self._working: dict[tuple[int, Hashable], threading.Event] = {}
        self._lock = threading.RLock()

    def get(self, recording: Recording, name: Hashable, work: Callable[[], Any]) -> Any:
        key = (id(recording), name)
        with self._lock:
            if key in self._results:
                return self._found(key)
            if id(recording) not in self._known:
                self._known[id(recording)] = ROOM_PER_EVENT * recording.table("events").num_rows
                weakref.finalize(recording, self._forget, id(recording))
            others = self._working.get(key)
            mine = None if others else self._working.setdefault(key, threading.Event())
        if others is not None:
            # A page asks for several things at once, and all need the same: doing it twice at the
            # same time takes as long for each as doing it twice in turn.
            others.wait()
            with self._lock:
                if key in self._results:
                    return self._found(key)
        try:
            result = work()
            self._keep(key, result)
        finally:
            if mine is not None:
                with self._lock:
                    del self._working[key]
                mine.set()
        return result

    def _found(self, key: tuple[int, Hashable]) -> Any:
        self._results.move_to_end(key)
        return self._results[key][0]

    def _keep(self, key: tuple[int, Hashable], result: Any) -> None:
        size = _size(result) + _size(key[1])  # what a user typed is part of many a name
        with self._lock:
            room = max([self._room, *self._known.values()])
            if key not in self._results and size <= room:
                self._results[key] = (result, size)
                self._held += size
                while self._held > room:
                    _, (_, dropped) = self._results.popitem(last=False)
                    self._held -= dropped

    def _forget(self, identity: int) -> None:
        with self._lock:
            self._known.pop(identity, None)
            for key in [key for key in self._results if key[0] == identity]:
                self._held -= self._results.pop(key)[1]


_MEMO = _Memo(ROOM)


def memo(recording: Recording, name: Hashable, work: Callable[[], T]) -> T:
    """``work()``, or what it gave before for this very ``recording`` and ``name``.

    The result must not hold on to the recording, or it would never be let go.
    """
    found: T = _MEMO.get(recording, name, work)
    return found


def _size(result: Any) -> int:
    """Bytes of memory that ``result`` holds, roughly; mapped columns count as nothing.

    A part of an array holds all of it.
    """
    if isinstance(result, np.ndarray):
        whole = result
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        return int(whole.nbytes) if whole.flags.owndata else 0
    if isinstance(result, (tuple, list)):
        return sys.getsizeof(result) + sum(map(_size, result))
    if isinstance(result, dict):
        return sys.getsizeof(result) + _size([*result.keys(), *result.values()])
    if is_dataclass(result):
        return sum(_size(getattr(result, field.name)) for field in fields(result))
    return sys.getsizeof(result)
