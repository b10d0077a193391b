"""Logdirs and a cache, made into sources that can be listed, opened and asked."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, BinaryIO

from tb_memory_plugin.errors import MemoryPluginError, SourceError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.store.cache import Cache, touch
from tb_memory_plugin.store.children import Limits
from tb_memory_plugin.store.discovery import Found
from tb_memory_plugin.store.keys import key_of
from tb_memory_plugin.store.obtaining import obtained
from tb_memory_plugin.store.openings import Openings
from tb_memory_plugin.store.pair_entries import obtained_pair
from tb_memory_plugin.store.pairs import (
    can_be,
    found_as_one,
    id_of,
    is_about,
    pair_of,
    proposed,
    reading,
)
from tb_memory_plugin.store.proposals import Proposals
from tb_memory_plugin.store.queue import Job, Queue
from tb_memory_plugin.store.roots import Root
from tb_memory_plugin.store.scanner import Scanner
from tb_memory_plugin.store.sessions import Place, natural, sessions
from tb_memory_plugin.store.settings import Settings
from tb_memory_plugin.store.source import Pair, Ready, Source
from tb_memory_plugin.store.starting import standby
from tb_memory_plugin.store.storage import is_remote, storage_of
from tb_memory_plugin.store.uploads import Uploads

logger = logging.getLogger(__name__)

#: Seconds for which a look through the logdirs is waited for: most take less, and the list is new.
_GLANCE = 0.1
#: Pairs that one source is proposed to be of.
_MOST_PAIRS = 16


class UnknownSource(MemoryPluginError):
    """An id of no source there is, or a version of it that is gone."""


class Store:
    """The sources of some logdirs. Every method may be called from any thread."""

    def __init__(self, roots: Sequence[Root], settings: Settings | None = None) -> None:
        self._roots = roots
        self._settings = settings or Settings()
        self._limits = Limits(self._settings.memory, self._settings.seconds)
        self._lock = threading.RLock()
        self._sources: dict[str, Source] = {}
        self._places: dict[str, Place] | None = None  # in sessions; None: to be worked out
        self._changes = 0  # of what there is, so far
        self._scanner = Scanner(roots, self._see, self._forget)
        self._queue = Queue(self._settings.workers)
        self._kept: tuple[Cache, Openings, Uploads] | None = None
        self._proposals = Proposals(self._queue, lambda: self._cached()[0], self._limits)
        self.active = False

    def look(self) -> None:
        """Have the logdirs looked through again, in the background."""
        self._scanner.nudge()

    def sources(self) -> dict[str, Any]:
        """The answer of ``GET sources``."""
        self._scanner.nudge(wait=_GLANCE)
        places = self._placed()
        with self._lock:
            rows = [source.row(places.get(id)) for id, source in self._sources.items()]
        self._expect()
        rows.sort(key=lambda row: (row["uploaded"], natural(row["run"]), natural(row["name"])))
        found = {place.session.key: place.session for place in places.values()}
        return {
            "scanning": self._scanner.scanning,
            "logdirs": [root.label for root in self._roots],
            "sessions": [asdict(found[key]) for key in sorted(found)],
            "sources": rows,
        }

    def open(self, id: str) -> dict[str, Any]:
        """The answer of ``GET open``: starts reading the source unless that is done or under way.

        Raises UnknownSource.
        """
        source = self._source(id)
        found = self._as_it_is(source)
        with self._lock:
            # Here, not when it was looked up: a scan that looked earlier may come in between.
            if found.stat != source.found.stat and not is_remote(found.address):
                source.see(replace(source.found, stat=found.stat))
            if source.job is None:
                self._begin(source, found)
            else:
                self._queue.hurry(source.job)
            return source.status()

    def read_session(self, id: str, *, stop: bool = False) -> dict[str, int]:
        """The answer of ``GET read``: has all of a source's session read when nobody waits.

        What is read, under way or cannot be read is left as it is. ``stop``: what nobody has begun
        is not read. Raises UnknownSource.
        """
        self._source(id)
        places = self._placed()
        with self._lock:
            hosts = list(self._beside(id, places))
            for source in hosts:
                if stop and source.job is not None and source.job.patient:
                    source.job = None if self._queue.drop(source.job) else source.job
                elif not stop:
                    self._read_sometime(source)
            waiting = sum(source.job is not None for source in hosts)
            return {
                "hosts": len(hosts),
                "read": sum(source.ready is not None for source in hosts),
                "waiting": waiting,
            }

    def pairs(self, id: str, match: str = "", shift: int | None = None) -> dict[str, Any]:
        """The answer of ``GET pairs``; what ``match`` is of is read, when nobody waits.

        Raises UnknownSource, QueryError.
        """
        source, places = self._source(id), self._placed()
        asked = self._source(match) if match else None
        if asked is source and source.pair is None:
            asked = None  # nothing is a pair with itself
        with self._lock:
            wanted = proposed(source, asked, self._sources, places)
        told = (self._proposal(pair, asked, shift) for pair in wanted[:_MOST_PAIRS])
        rows = [row for row in told if row is not None]
        rows.sort(key=lambda row: -(row["match"] or {"matched": -1})["matched"])
        return {"source": id, "hidden": max(len(wanted) - _MOST_PAIRS, 0), "pairs": rows}

    def _proposal(
        self, pair: Pair, asked: Source | None, shift: int | None
    ) -> dict[str, Any] | None:
        """One of ``pairs`` in the answer of ``GET pairs``; None if one of both is gone."""
        if shift is not None:
            pair = replace(pair, shift=shift)
        told = {"pair": id_of(pair), "snapshot": pair.snapshot, "trace": pair.trace}
        with self._lock:
            both = [self._sources[id] for id in pair.ids if id in self._sources]
            if len(both) < len(pair.ids):
                return None
            if asked is not None and is_about(pair, asked):
                for one in both:
                    self._read_sometime(one)
            ready = [one.ready for one in both if one.ready is not None]
            state = reading(both)
        if len(ready) == len(both):
            state = self._proposals.of(ready[0].entry, ready[1].entry)
        return {**told, **state}

    def summary(self, id: str) -> dict[str, Any]:
        """The answer of ``GET summary``. Raises UnknownSource if the source was not read yet."""
        source = self._source(id)
        with self._lock:
            ready, found = source.ready, source.found
        if ready is None:
            raise UnknownSource(f"{found.name} was not read yet; open it first.")
        about = ready.entry.about
        origin = about["summary"]["time_origin_ns"]
        own = {
            "version": ready.entry.key,
            "run": found.run,
            "name": found.name,
            "time_origin": None if origin is None else str(origin),
        }
        return {**about["summary"], **own, "live": source.live}

    def recording(self, id: str, version: str | None = None) -> Recording:
        """A version of a source, by default the current one. Raises UnknownSource."""
        source = self._source(id)
        with self._lock:
            key = source.ready.entry.key if source.ready and version is None else version
            known = key in source.versions
        recording = self._cached()[1].get(key) if key is not None and known else None
        if recording is None:
            with self._lock:
                if source.ready and source.ready.entry.key == key:
                    source.ready = None  # another server removed it: the next opening reads it
            raise UnknownSource(
                f"That version of {source.found.name} is gone: it was written again, or the "
                "cache was cleared. Open it again."
            )
        return recording

    def uploaded(self, id: str) -> bool:
        """Whether a source was dropped on the page. Raises UnknownSource."""
        source = self._source(id)
        with self._lock:
            return source.found.uploaded

    def add_upload(self, name: str, stream: BinaryIO, length: int | None) -> str:
        """Keep a file dropped on the page; the id of the source it is. Raises QueryError."""
        cache, _, uploads = self._cached()
        found = uploads.add(name, stream, length)
        cache.trim(keep=found.id)
        self._see(found)
        return found.id

    # What the scanner finds

    def _see(self, found: Found) -> None:
        with self._lock:
            known = self._sources.get(found.id)
            if known is None:
                known = self._sources[found.id] = Source(found)
            elif known.found == found:
                return
            known.see(found)
            self._places, self._changes = None, self._changes + 1
            self.active = self.active or found.is_file
            settled = known.ready is not None or known.job is not None
        if not settled and found.is_file and not found.fault and not is_remote(found.address):
            ready = self._in_cache(found)
            if ready is not None:
                with self._lock:
                    if known.ready is None:
                        known.note(ready)

    def _forget(self, ids: set[str]) -> None:
        """End of a round: sources that are there no more go, uploads come."""
        with self._lock:
            known = self._sources.keys() - ids  # what comes from now on is not old
        for found in self._cached()[2].all():
            ids.add(found.id)
            self._see(found)
        with self._lock:
            for id in known - ids:
                pair = self._sources[id].pair
                if pair is not None and all(one in self._sources for one in pair.ids):
                    continue
                if self._sources[id].job is None:
                    del self._sources[id]
                    self._places, self._changes = None, self._changes + 1

    def _in_cache(self, found: Found) -> Ready | None:
        try:
            keyed = key_of(Path(found.address))
        except SourceError:
            return None  # opening it will say why
        entry = self._cached()[0].lookup(keyed.key)
        return None if entry is None else Ready(entry, keyed.stat)

    # Sessions

    def _placed(self) -> dict[str, Place]:
        """The places of sources in sessions. Not under the lock: of many it takes a while."""
        with self._lock:
            if self._places is not None:
                return self._places
            changes = self._changes
            found = [one.found for one in self._sources.values() if one.pair is None]
        places = sessions(found)
        with self._lock:
            if changes == self._changes:
                self._places = places
        return places

    def _beside(self, id: str, places: dict[str, Place]) -> Iterator[Source]:
        """The sources of the session that one is of, itself included. Under the lock."""
        if id in places:
            for other, source in self._sources.items():
                if other in places and places[other].session == places[id].session:
                    yield source

    # Opening

    def _source(self, id: str) -> Source:
        with self._lock:
            source = self._sources.get(id)
            pair = pair_of(id)
            if source is None and pair is not None:
                snapshot, trace = (self._sources.get(one) for one in pair.ids)
                if snapshot is not None and trace is not None and can_be(snapshot, trace):
                    found = found_as_one(pair, snapshot.found, trace.found)
                    source = self._sources[id] = Source(found, pair=pair)
        if source is None:
            raise UnknownSource("There is no such recording here (any more).")
        return source

    def _read_sometime(self, source: Source) -> None:
        """Have a source read when nobody waits, unless it is or cannot be. Under the lock."""
        if source.job is None and source.stale:
            source.job = Job(self._reading(source, source.found), patient=True)
            self._queue.add(source.job)

    def _as_it_is(self, source: Source) -> Found:
        """The source with the state its file is in now; of a remote one, when it was listed."""
        if source.pair is not None:
            parts = (self._as_it_is(self._source(id)) for id in source.pair.ids)
            return found_as_one(source.pair, *parts)
        with self._lock:
            found = source.found
        if not found.is_file or is_remote(found.address):
            return found
        try:
            stat = storage_of(found.address).stat(found.address)
        except OSError:
            return found  # reading it will say why
        if stat == found.stat and not found.fault:
            return found
        # What was wrong with it may be right by now; reading finds out.
        return replace(found, stat=stat, fault=None)

    def _begin(self, source: Source, found: Found) -> None:
        """Start reading unless it is read, or was tried just now. Under the lock."""
        ready = source.ready
        if ready is not None and ready.stat == found.stat and source.failed is None:
            if self._cached()[1].get(ready.entry.key) is not None:
                if found.uploaded and source.pair is None:
                    touch(Path(found.address).parent)
                return
            source.ready = None  # removed or damaged since
        if not found.is_file:
            source.fail(found.stat, found.fault or "It cannot be read.")
        elif not source.settling and not source.hopeless:
            source.job = Job(self._reading(source, found))
            self._queue.add(source.job)

    def _reading(self, source: Source, found: Found) -> Callable[[Job], None]:
        return lambda job: self._read(source, found, job)

    def _read(self, source: Source, found: Found, job: Job) -> None:
        """What a worker does; every way it can end is noted in ``source``."""
        try:
            ready = self._obtained(source, found, job)
        except MemoryPluginError as error:
            self._fail(source, found, str(error))
        except Exception as error:  # one source's fault must not end the worker
            logger.exception("Reading %s failed", found.name)
            fault = f"could not be read ({type(error).__name__}: {error})"
            sentence = SourceError(found.name, fault, "see TensorBoard's log, and try again")
            self._fail(source, found, str(sentence))
        else:
            with self._lock:
                source.note(ready)
                if found.stat == source.found.stat:
                    source.see(replace(source.found, stat=ready.stat, fault=None))
                source.job = None
        self._expect()

    def _obtained(self, source: Source, found: Found, job: Job) -> Ready:
        """A version of a source; of a pair, once both parts are read. Raises MemoryPluginError."""
        cache = self._cached()[0]
        if source.pair is None:
            return obtained(cache, found, self._limits, job.report)
        parts = [self._source(id) for id in source.pair.ids]

        def noted(place: int, ready: Ready) -> None:
            with self._lock:
                parts[place].note(ready)
                parts[place].see(replace(parts[place].found, stat=ready.stat, fault=None))

        its = [self._as_it_is(part) for part in parts]
        return obtained_pair(cache, its, source.pair.shift, self._limits, job.report, noted)

    def _expect(self) -> None:
        """Have a process ready where somebody sees sources that were not read yet."""
        with self._lock:
            unread = any(source.unread for source in self._sources.values())
        if unread:
            standby.prepare(self._cached()[0].entries)

    def _fail(self, source: Source, found: Found, sentence: str) -> None:
        with self._lock:
            source.fail(found.stat, sentence)
            source.job = None

    def _cached(self) -> tuple[Cache, Openings, Uploads]:
        """The cache, made when it is first needed: TensorBoard starts whatever its disk is like."""
        with self._lock:
            if self._kept is None:
                cache = Cache(self._settings.cache, self._settings.cache_bytes)
                limit = min(self._settings.upload_bytes, self._settings.cache_bytes)
                uploads = Uploads(cache.uploads, self._roots, limit)
                self._kept = (cache, Openings(cache), uploads)
            return self._kept
