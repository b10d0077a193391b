"""Files, made into what can be told of them cheaply: their format, or why they cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers.opening import HEAD, regular_file
from tb_memory_plugin.readers.registry import READERS, reader_of
from tb_memory_plugin.store.keys import Stat


@dataclass(frozen=True)
class Probe:
    """What probing told: a format, or a sentence; whether the job that records it goes on.

    Where the file says so: its rank, of how many, and when it began (ns since 1970); of an HLO
    module whether its plan is in it.
    """

    format: str | None = None
    fault: str | None = None
    live: bool = False
    rank: int | None = None
    world: int | None = None
    begin_ns: int | None = None
    planned: bool | None = None


class Probes:
    """Probes of files, remembered for as long as the files stay as they are."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Stat, Probe | None]] = {}

    def of(self, address: str, stat: Stat) -> Probe | None:
        """The probe of a local file in the state ``stat``; None if it is no recording at all."""
        known = self._known.get(address)
        # A fault may pass without the file changing: permissions, a disk.
        if known is not None and known[0] == stat and (known[1] is None or not known[1].fault):
            return known[1]
        found = _probe(Path(address))
        self._known[address] = (stat, found)
        return found

    def forget(self, kept: set[str]) -> None:
        """Forget all files but those at the addresses ``kept``."""
        for address in self._known.keys() - kept:
            del self._known[address]


def format_by_name(name: str) -> str | None:
    """The format that a file's name alone tells; None if it tells none."""
    return next((reader.FORMAT for reader in READERS if reader.matches(name, b"")), None)


def _probe(path: Path) -> Probe | None:
    try:
        with regular_file(path, path.name) as file:
            head = file.read(HEAD)
        reader = reader_of(path.name, head)
        if reader is None:
            return None
        told = reader.probe(path)
    except SourceError as error:
        return Probe(fault=str(error)) if format_by_name(path.name) else None
    meta = told.get("meta", {})
    begin = meta.get("time_origin_ns") if meta.get("clock") == "unix" else None
    return Probe(
        reader.FORMAT,
        live=bool(meta.get("live")),
        rank=_count(meta.get("rank")),
        world=_count(meta.get("world_size")),
        begin_ns=_count(begin),
        planned=told.get("planned"),
    )


def _count(value: Any) -> int | None:
    """What a file says, if it can be counted with."""
    return value if type(value) is int and 0 <= value < 1 << 63 else None
