"""Sources as they were found, made into sessions: hosts of a capture, ranks of a job, modules.

A wrong merge is worse than none: what names (and, in one folder, times) do not tell stays alone.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tb_memory_plugin.store.captures import Taken, captures
from tb_memory_plugin.store.discovery import Found
from tb_memory_plugin.store.named import Named, named
from tb_memory_plugin.store.roots import Root, run_of


@dataclass(frozen=True)
class Session:
    """Sources recorded together. ``of`` is what they are one each of: ``host``, ``rank`` or, of
    HLO modules that were dumped into one folder, ``module``.
    """

    key: str
    run: str
    label: str
    of: str


@dataclass(frozen=True)
class Place:
    """Where a source is in its session: which host (or module), and its rank where it has one."""

    session: Session
    host: str
    rank: int | None


def sessions(found: Iterable[Found]) -> dict[str, Place]:
    """The place of every source that is of a session with others, by its id.

    No two sources of a session are of the same host or rank. The order of ``found`` is no matter.
    """
    groups: dict[tuple[str, ...], list[tuple[Found, Named]]] = {}
    for one in found:
        name = named(one)
        if name is not None:
            groups.setdefault(name.group, []).append((one, name))
    places: dict[str, Place] = {}
    for group in groups.values():
        if len(group) > 1:
            group.sort(key=lambda each: (each[1].worker, each[0].way, each[0].id))
            places.update(_places(group))
    return places


def natural(text: str) -> list[tuple[int, int, str]]:
    """Sorts run 10 after run 9."""
    parts = re.findall(r"\d+|\D+", text)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p.casefold()) for p in parts]


def _places(group: Sequence[tuple[Found, Named]]) -> dict[str, Place]:
    kind = group[0][1].kind
    if kind == "xplane":
        # Beside <host>.xplane.pb may be the same compressed; it is an entry by itself.
        hosts: dict[str, tuple[Found, Named]] = {}
        for one, name in group:
            hosts.setdefault(name.worker, (one, name))
        return _session(list(hosts.values()))
    if kind == "modules":
        return _session(_told_apart(group))
    if kind == "ranks":
        return _session(group) if _are_ranks([name.ranks for _, name in group]) else {}
    by_id = {one.id: (one, name) for one, name in group}
    taken = [Taken(*name.times, name.worker, one.id) for one, name in group if name.times]
    turns = captures(taken)
    places: dict[str, Place] = {}
    for turn, members in enumerate(turns, start=1):
        which = turn if len(turns) > 1 else None
        places.update(_session([by_id[id] for id in members], which))
    return places


def _told_apart(group: Sequence[tuple[Found, Named]]) -> list[tuple[Found, Named]]:
    """The same; what is called alike (of two dumps into one folder) goes by its file's name."""
    often = Counter(name.worker for _, name in group)
    return [
        (one, name if often[name.worker] == 1 else replace(name, worker=one.way[-1]))
        for one, name in group
    ]


def _are_ranks(ranks: Sequence[tuple[int, ...]]) -> bool:
    """Whether these number processes: all different, from 0 on. (LoRA has ranks 8 and 16.)"""
    return len(set(ranks)) == len(ranks) and all(0 in column for column in zip(*ranks, strict=True))


def _session(group: Sequence[tuple[Found, Named]], turn: int | None = None) -> dict[str, Place]:
    if len(group) < 2:
        return {}
    first, name = group[0]
    run, left = run_of(Root("", first.root), name.folders)
    inner = left[2:] if left[:2] == ("plugins", "memory") else left
    if name.folders == first.way[:-1]:
        run = first.run
    label = name.label if name.kind == "xplane" else "/".join([*inner, name.label])
    if turn is not None:
        label += f" · capture {turn}"
    # Of several captures in a folder the first recording stays what it is when others come.
    which = "" if turn is None else min(one.id for one, _ in group)
    way = "\0".join([*name.group, which]).encode(errors="surrogateescape")
    key = hashlib.blake2b(way, digest_size=8).hexdigest()
    # The same number several times (rank3/rank3.pickle) is one rank.
    numbered = bool(name.ranks) and all(len(set(name.ranks)) == 1 for _, name in group)
    of = "module" if name.kind == "modules" else "rank" if numbered else "host"
    session = Session(key, run, label, of)
    places = {}
    for one, name in group:
        rank = name.ranks[0] if numbered else None
        host = f"rank {rank}" if numbered else name.host
        places[one.id] = Place(session, host, rank)
    return places
