"""What is known of one source, made into what lists say of it."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from tb_memory_plugin.store.cache import Entry
from tb_memory_plugin.store.discovery import Found
from tb_memory_plugin.store.keys import Stat
from tb_memory_plugin.store.queue import Job

#: Seconds after which a source that could not be read is tried again when somebody opens it.
AGAIN = 5.0
_VERSIONS = 4  # of a recording that is written again and again, the ones still answered
_LIVE = 900 * 10**9  # ns after its last change that a recording may still be called live


@dataclass(frozen=True)
class Ready:
    """A version that can be looked at, and the state of the file it was made from."""

    entry: Entry
    stat: Stat


@dataclass(frozen=True)
class Failed:
    """Why a source could not be read, in which state of the file, and when that was."""

    stat: Stat
    sentence: str
    at: float

    def still_holds(self, found: Found) -> bool:
        """Whether trying again now would be of no use."""
        return self.stat == found.stat and time.monotonic() - self.at < AGAIN


@dataclass
class Source:
    """A source as it was found, and what became of it. Changed under the store's lock only."""

    found: Found
    ready: Ready | None = None
    failed: Failed | None = None
    job: Job | None = None
    versions: OrderedDict[str, None] = field(default_factory=OrderedDict)

    def note(self, ready: Ready) -> None:
        """A version that can be looked at from now on; the ones before it still can for a while."""
        self.ready, self.failed = ready, None
        self.versions[ready.entry.key] = None
        while len(self.versions) > _VERSIONS:
            self.versions.popitem(last=False)

    @property
    def live(self) -> bool:
        """Whether a job goes on writing it: it says so, and did lately."""
        says = self.found.live
        if self.ready is not None and self.ready.stat == self.found.stat:
            says = bool(self.ready.entry.about["live"])
        return says and time.time_ns() - self.found.stat.modified_ns < _LIVE

    def status(self) -> dict[str, Any]:
        """The answer of ``GET open``; call it when nothing is left to begin."""
        version = self.ready.entry.key if self.ready else ""
        state, fraction, phase, error = "ready", 1.0, "", None
        if self.job is not None:
            state, fraction, phase = self.job.state, self.job.fraction, self.job.phase
        elif self.failed is not None:
            state, fraction, error = "error", 0.0, self.failed.sentence
        return {
            "state": state,
            "fraction": fraction,
            "phase": phase,
            "error": error,
            "version": version,
        }

    def row(self) -> dict[str, Any]:
        """One of ``sources`` in the answer of ``GET sources``."""
        found, ready, failed = self.found, self.ready, self.failed
        error = failed.sentence if failed and failed.stat == found.stat else found.fault
        state = "error" if error else "ready" if ready else "new"
        if self.job is not None:
            state, error = self.job.state, None
        return {
            "id": found.id,
            "run": found.run,
            "name": found.name,
            "format": ready.entry.about["format"] if ready else found.format,
            "bytes": found.stat.size,
            "modified_ns": found.stat.modified_ns,
            "state": state,
            "error": error,
            "live": self.live,
            "uploaded": found.uploaded,
            "brief": ready.entry.about["brief"] if ready else None,
        }
