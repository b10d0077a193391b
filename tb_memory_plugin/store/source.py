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
from tb_memory_plugin.store.sessions import Place

#: Seconds after which a source that could not be read is tried again when somebody opens it.
AGAIN = 5.0
#: Seconds for which a file that was read before must stay as it is to be read again.
SETTLED = 1.0
_VERSIONS = 4  # of a recording that is written again and again, the ones still answered
_LIVE = 900 * 10**9  # ns after its last change that a recording may still be called live


@dataclass(frozen=True)
class Ready:
    """A version that can be looked at, and the state of the file it was made from."""

    entry: Entry
    stat: Stat


@dataclass(frozen=True)
class Failed:
    """Why a source could not be read, and in which state of the file."""

    stat: Stat
    sentence: str


@dataclass(frozen=True)
class Pair:
    """Two sources of one process, by their ids; ``shift`` (ns) moves the trace by hand."""

    snapshot: str
    trace: str
    shift: int | None = None

    @property
    def ids(self) -> tuple[str, str]:
        """The snapshot, the trace."""
        return self.snapshot, self.trace

    def row(self) -> dict[str, Any]:
        """What lists say of it."""
        return {"snapshot": self.snapshot, "trace": self.trace, "shift_ns": self.shift}


@dataclass
class Source:
    """A source as it was found, and what became of it. Changed under the store's lock only."""

    found: Found
    ready: Ready | None = None
    failed: Failed | None = None
    job: Job | None = None
    versions: OrderedDict[str, None] = field(default_factory=OrderedDict)
    changed: float = 0.0  # when the file was first seen in its state (monotonic seconds)
    pair: Pair | None = None  # what it is put together of, if it is no file by itself
    tried: float = float("-inf")  # when it was last read, or could not be

    def see(self, found: Found) -> None:
        """The source as it is found now."""
        if found.stat != self.found.stat:
            self.changed = time.monotonic()
        self.found = found

    def fail(self, stat: Stat, sentence: str) -> None:
        """It could not be read in this state."""
        self.failed, self.tried = Failed(stat, sentence), time.monotonic()

    @property
    def unread(self) -> bool:
        """Whether nobody has tried yet to read it."""
        never = self.ready is None and self.failed is None and self.job is None
        return never and self.found.is_file and not self.found.fault

    @property
    def stale(self) -> bool:
        """Whether reading it would tell something new, as far as is known without asking."""
        last = self.failed or self.ready
        unseen = last is None or last.stat != self.found.stat
        return unseen and self.found.is_file and not self.found.fault and not self.settling

    @property
    def hopeless(self) -> bool:
        """Whether it could not be read just now, so that trying again would be of no use."""
        failed = self.failed is not None and self.failed.stat == self.found.stat
        return failed and time.monotonic() - self.tried < AGAIN

    @property
    def settling(self) -> bool:
        """Whether a file that changed since it was last read is left alone for now.

        A file that is being written changes many times; it is not read at every change.
        """
        last = self.failed or self.ready
        if last is None or last.stat == self.found.stat:
            return False
        now = time.monotonic()
        return now - self.changed < SETTLED and now - self.tried < AGAIN

    def note(self, ready: Ready) -> None:
        """A version that can be looked at from now on; the ones before it still can for a while."""
        self.ready, self.failed, self.tried = ready, None, time.monotonic()
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
        elif self.settling:
            state, fraction, phase = "queued", 0.0, "waiting, as it is being written"
        elif self.failed is not None:
            state, fraction, error = "error", 0.0, self.failed.sentence
        return {
            "state": state,
            "fraction": fraction,
            "phase": phase,
            "error": error,
            "version": version,
        }

    def row(self, place: Place | None = None) -> dict[str, Any]:
        """One of ``sources`` in the answer of ``GET sources``; ``place`` is that in its session."""
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
            "session": place.session.key if place else None,
            "host": place.host if place else None,
            "rank": place.rank if place else found.rank,
            "brief": ready.entry.about["brief"] if ready else None,
            "pair": None if self.pair is None else self.pair.row(),
        }
