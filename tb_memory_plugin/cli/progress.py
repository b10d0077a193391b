"""How far a reading is, made into a bar on a terminal and into nothing anywhere else."""

from __future__ import annotations

import shutil
import time
from types import TracebackType
from typing import TextIO

from tb_memory_plugin.cli.text import harmless

_CELLS = 24
_EVERY = 0.1  # seconds between two pictures
_ERASE = "\r\033[K"


class Progress:
    """A bar on ``stream`` while the block lasts, gone afterwards.

    ``report`` is what a reader calls. Nothing is written where ``stream`` is no terminal, or
    where the bar is ``hidden``.
    """

    def __init__(self, name: str, stream: TextIO, *, hidden: bool = False) -> None:
        self._name = harmless(name)
        self._stream = stream
        self._shows = stream.isatty() and not hidden
        self._last = float("-inf")

    def report(self, fraction: float, phase: str) -> None:
        """Draw the bar, unless it was drawn a moment ago."""
        now = time.monotonic()
        if not self._shows or now - self._last < _EVERY:
            return
        self._last = now
        filled = round(_CELLS * min(max(fraction, 0.0), 1.0))
        bar = "█" * filled + "░" * (_CELLS - filled)
        line = f"{bar} {100 * fraction:3.0f} %  {self._name}: {phase}"
        self._stream.write(_ERASE + line[: shutil.get_terminal_size().columns - 1])
        self._stream.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shows:
            self._stream.write(_ERASE)
            self._stream.flush()
