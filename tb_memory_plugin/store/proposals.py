"""Pairs of sources that were read, made into whether they are of one process: asked once each."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from tb_memory_plugin.errors import MemoryPluginError
from tb_memory_plugin.store.cache import Cache, Entry
from tb_memory_plugin.store.children import Limits
from tb_memory_plugin.store.pair_entries import match_entry, match_key
from tb_memory_plugin.store.queue import Job, Queue

logger = logging.getLogger(__name__)

#: Answers that are remembered; the cache has all.
_MOST = 4096


class Proposals:
    """What two entries have in common, worked out in a process of its own when nobody waits."""

    def __init__(self, queue: Queue, cached: Callable[[], Cache], limits: Limits) -> None:
        self._queue = queue
        self._cached = cached
        self._limits = limits
        self._guard = threading.Lock()
        self._known: dict[str, Job | dict[str, Any]] = {}

    def of(self, snapshot: Entry, trace: Entry) -> dict[str, Any]:
        """``state``, ``fraction``, ``error`` and ``match`` of a pair; begins to work it out."""
        key = match_key(snapshot, trace)
        with self._guard:
            known = self._known.get(key)
        if known is None:
            kept = self._cached().lookup(key)
            known = None if kept is None else _answer(kept)
            with self._guard:
                known = self._known.get(key, known) or self._begun(key, snapshot, trace)
                self._known[key] = known
                while len(self._known) > _MOST:
                    self._known.pop(next(iter(self._known)))
        if isinstance(known, Job):
            return {"state": "matching", "fraction": known.fraction, "error": None, "match": None}
        return known

    def _begun(self, key: str, snapshot: Entry, trace: Entry) -> Job:
        def work(job: Job) -> None:
            try:
                kept = match_entry(self._cached(), snapshot, trace, self._limits, job.report)
                answer = _answer(kept)
            except MemoryPluginError as error:
                answer = _failed(str(error))
            except Exception as error:  # one pair's fault must not end the worker
                logger.exception("Matching two sources failed")
                answer = _failed(f"They could not be matched ({type(error).__name__}).")
            with self._guard:
                self._known[key] = answer

        job = Job(work, patient=True)
        self._queue.add(job)
        return job


def _answer(kept: Entry) -> dict[str, Any]:
    found = kept.about.get("match")
    state = "different" if found is None else "matched"
    return {"state": state, "fraction": 1.0, "error": None, "match": found}


def _failed(sentence: str) -> dict[str, Any]:
    return {"state": "error", "fraction": 0.0, "error": sentence, "match": None}
