"""Failures of the recorder, turned into one warning instead of an exception in training."""

from __future__ import annotations

import logging
import warnings

log = logging.getLogger("tb_memory_plugin")


class RecorderWarning(UserWarning):
    """Something was not recorded; training goes on untouched."""


class Voice:
    """Says the first thing that goes wrong aloud, and the rest to the log."""

    def __init__(self) -> None:
        self.spoken = False

    def failed(self, doing: str, error: BaseException) -> None:
        """Report that ``doing`` raised ``error``."""
        log.debug("while %s", doing, exc_info=error)
        self.say(f"{doing} failed ({type(error).__name__}: {error}); it stops here")

    def say(self, sentence: str) -> None:
        """Warn with ``sentence`` if nothing was said before."""
        message = f"MemoryWriter: {sentence}. Training goes on."
        if self.spoken:
            log.info(message)
            return
        self.spoken = True
        try:
            warnings.warn(message, RecorderWarning, stacklevel=4)
        except RecorderWarning:  # warnings are errors here, and must not become ours
            log.warning(message)
