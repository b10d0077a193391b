"""A named stretch of the program, told to the recorder and to the engines."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

Begin = Callable[[str], Any]
End = Callable[[Any], None]


class Annotation:
    """The context manager of ``MemoryWriter.annotate``. Can be entered again when it is left."""

    def __init__(self, name: str, begin: Begin, end: End) -> None:
        self._name, self._begin, self._end = name, begin, end
        self._open: list[Any] = []

    def __enter__(self) -> None:
        self._open.append(self._begin(self._name))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end(self._open.pop())
