"""Entries of two sources, made into the entry of what they have in common or of both as one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

from tb_memory_plugin.store import children
from tb_memory_plugin.store.cache import Cache, Entry
from tb_memory_plugin.store.children import Limits
from tb_memory_plugin.store.discovery import Found
from tb_memory_plugin.store.importing import made
from tb_memory_plugin.store.obtaining import obtained
from tb_memory_plugin.store.pairs import stat_of
from tb_memory_plugin.store.source import Ready

Report = Callable[[float, str], None]


def match_key(ours: Entry, theirs: Entry) -> str:
    """The key under which is kept what two entries have in common."""
    return _key("match", ours, theirs, None)


def match_entry(cache: Cache, ours: Entry, theirs: Entry, limits: Limits, report: Report) -> Entry:
    """The entry whose ``about["match"]`` is what both have in common. Raises SourceError."""
    return _entry(cache, match_key(ours, theirs), (ours, theirs), limits, report, only_match=True)


def obtained_pair(
    cache: Cache,
    found: Sequence[Found],
    shift: int | None,
    limits: Limits,
    report: Report,
    noted: Callable[[int, Ready], None],
) -> Ready:
    """Snapshot and trace as one recording, both read or taken from the cache first.

    ``noted`` is told of each that is. Raises SourceError, also where they are not of one process.
    """
    ready: list[Ready] = []

    def heard(fraction: float, phase: str) -> None:
        report((len(ready) + fraction) / (len(found) + 1), phase)

    for place, one in enumerate(found):
        ready.append(obtained(cache, one, limits, heard))
        noted(place, ready[-1])
    snapshot, trace = ready
    both = (snapshot.entry, trace.entry)
    key = _key("pair", *both, shift)
    entry = _entry(cache, key, both, limits, heard, only_match=False, shift=shift)
    return Ready(entry, stat_of(snapshot.stat, trace.stat))


def _key(what: str, ours: Entry, theirs: Entry, shift: int | None) -> str:
    """Keys of entries tell contents and versions; so does one that is made of them."""
    about = json.dumps([what, ours.key, theirs.key, shift])
    return hashlib.blake2b(about.encode(), digest_size=10).hexdigest()


def _entry(
    cache: Cache,
    key: str,
    both: tuple[Entry, Entry],
    limits: Limits,
    report: Report,
    **asked: Any,
) -> Entry:
    names = [one.about["summary"].get("name") or "?" for one in both]
    path = cache.entries / " + ".join(name.replace("/", "_") for name in names)

    def make() -> None:
        mapped = sum(one.path.stat().st_size for one in both)
        keys = [one.key for one in both]
        more = {"pair": keys, "mapped": mapped, **asked}
        children.read(path, key, cache.entries, limits, report, **more)

    found = made(cache, key, path.name, make, report)
    cache.trim(keep=key)
    return found
