"""A thread that looks through the logdirs when asked to, without getting in anybody's way."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from tb_memory_plugin.store.discovery import Found, walk
from tb_memory_plugin.store.probing import Probes
from tb_memory_plugin.store.roots import Root
from tb_memory_plugin.store.storage import is_remote

logger = logging.getLogger(__name__)

_WORK, _REST = 0.02, 0.005  # seconds at a time: the interpreter is for whoever waits for an answer
_LEAST, _LEAST_REMOTE = 1.0, 30.0  # seconds between two rounds
_SHARE = 10  # and so many times what a round takes


class Scanner:
    """Looks through ``roots`` in rounds; ``found`` is called for each source, ``done`` after each.

    ``done`` gets the ids of all sources there are. Nothing happens before the first ``nudge``.
    """

    def __init__(
        self,
        roots: Sequence[Root],
        found: Callable[[Found], None],
        done: Callable[[set[str]], None],
    ) -> None:
        self._roots = roots
        self._found = found
        self._done = done
        self._probes = Probes()
        self._asked = threading.Event()
        self._guard = threading.Lock()
        self._started = False
        self._worked = 0.0
        self._over = threading.Condition()
        self._rested = True  # a round that is asked for begins at once
        self.rounds = 0

    @property
    def scanning(self) -> bool:
        """Whether the first round is not over: what comes later is news, not the rest."""
        return self.rounds == 0

    def nudge(self, wait: float = 0.0) -> None:
        """Ask for a round: at once for the first time, else when it is time.

        Returns when a round that can begin now is over, after ``wait`` seconds at the latest.
        """
        if not self._started:
            with self._guard:
                if not self._started:
                    self._started = True
                    threading.Thread(target=self._run, name="memory-scan", daemon=True).start()
        with self._over:
            before = self.rounds
            self._asked.set()
            if wait and self._rested:
                self._over.wait_for(lambda: self.rounds > before, wait)

    def _run(self) -> None:
        while True:
            self._asked.wait()
            with self._over:
                self._asked.clear()
                self._rested = False
            began = time.monotonic()
            try:
                self._round()
            except Exception:  # a thread that ends would never find anything again
                logger.exception("Looking for memory recordings failed; trying again later")
            took = time.monotonic() - began
            with self._over:
                self.rounds += 1
                self._over.notify_all()
            remote = any(is_remote(root.address) for root in self._roots)
            time.sleep(max(_LEAST_REMOTE if remote else _LEAST, _SHARE * took))
            with self._over:
                self._rested = True

    def _round(self) -> None:
        ids: set[str] = set()
        addresses: set[str] = set()
        self._worked = time.monotonic()
        for root in self._roots:
            for found in walk(root, self._probes, self._pace):
                if found.id not in ids:
                    ids.add(found.id)
                    addresses.add(found.address)
                    self._found(found)
        self._probes.forget(addresses)
        self._done(ids)

    def _pace(self) -> None:
        now = time.monotonic()
        if now - self._worked > _WORK:
            time.sleep(_REST)
            self._worked = time.monotonic()
