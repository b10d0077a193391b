"""Names of files and folders, made into what they say of the capture that a source is a part of.

Conventions: XProf's ``plugins/profile/<session>/<host>.xplane.pb``; this package's recorder
(``recorder/place.py``); ``torch.profiler.tensorboard_trace_handler``, which writes
``<worker>.<time>.pt.trace.json``; HLO modules that XLA dumps or XProf unpacks into one folder;
whatever is numbered by rank: ``rank0``, ``rank_12``, ``r3of8``.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from tb_memory_plugin.readers.hlo_names import module_name
from tb_memory_plugin.store.discovery import Found

#: A rank as people write it. ``r3`` alone may be the third run: it counts with "of" only.
_RANK = re.compile(
    r"(?<![a-z0-9])(?:(rank[ _.=-]?)(\d{1,6})(?=[_-]?of[_-]?\d|[^a-z0-9]|$)"
    r"|(r)(\d{1,6})(?=[_-]?of[_-]?\d))",
    re.IGNORECASE,
)
_XPLANE = re.compile(r"(?P<host>.+)\.xplane\.pb(?:\.gz)?", re.IGNORECASE)
_RECORDED = re.compile(r"(?P<host>[\w+=-]+)\.r(?P<rank>\d+)\.\d+(?P<rest>(?:\.[\w+=-]+)*)\.tbmem")
_TRACE = re.compile(r"(?P<worker>.+?)\.(?P<time>\d{10,19})(?P<end>\.pt\.trace\.json(?:\.gz)?)")
_NANOSECONDS = 19  # digits of a time since 1970 in them, in this century


Times = tuple[int, int, int]


@dataclass(frozen=True)
class Named:
    """What a source's names say.

    ``group`` is the same for all that may be of one session, ``worker`` tells them apart in it.
    The session would be called ``label`` in the run of ``folders``. ``times`` tells captures of
    one folder apart: when this one began and ended, and which of the two is certain, in ns since
    1970.
    """

    kind: str
    group: tuple[str, ...]
    worker: str
    ranks: tuple[int, ...]
    folders: tuple[str, ...]
    label: str
    times: Times | None = None

    @property
    def host(self) -> str:
        """The worker, as people read it."""
        return f"rank {self.worker}".strip() if self.ranks else self.worker.strip()


@functools.lru_cache(1 << 16)  # asked of all sources whenever one of them changes
def named(found: Found) -> Named | None:
    """What the names of ``found`` say; None where they say nothing of others like it."""
    if not found.is_file:
        return None
    *folders, name = found.way
    xplane = _XPLANE.fullmatch(name)
    if xplane is not None and folders[-3:-1] == ["plugins", "profile"]:
        group = ("xplane", found.root, *folders)
        return Named("xplane", group, xplane["host"], (), tuple(folders), folders[-1])
    recorded = _RECORDED.fullmatch(name)
    if recorded is not None:
        begin = found.begin_ns or found.stat.modified_ns
        times = (begin, max(begin, found.stat.modified_ns), begin)
        shape, rank = f"*{recorded['rest']}.tbmem", int(recorded["rank"])
        return _numbered(found, "recording", shape, (rank,), times=times)
    trace = _TRACE.fullmatch(name)
    if trace is not None:
        end = int(trace["time"]) * 10 ** (_NANOSECONDS - len(trace["time"]))
        begin = found.begin_ns if found.begin_ns and found.begin_ns <= end else end
        times, shape = (begin, end, end), f"*{trace['end']}"
        if found.rank is not None:
            return _numbered(found, "trace", shape, (found.rank,), times=times)
        return _numbered(found, "trace", shape, (), trace["worker"], times)
    module = module_name(name)
    if module is not None:
        group = ("modules", found.root, *folders)
        called = f"{module.name} {module.number}" if module.name else module.which
        return Named("modules", group, called, (), tuple(folders), "HLO modules")
    shape, own = _shape(name)
    one = _numbered(found, "ranks", shape, own)
    return one if one.ranks else None


def _numbered(
    found: Found,
    kind: str,
    shape: str,
    own: tuple[int, ...],
    who: str = "",
    times: Times | None = None,
) -> Named:
    """One of several whose way is the same but for ranks: those of folders, and its ``own``."""
    shapes = [_shape(folder) for folder in found.way[:-1]]
    ranks = tuple(number for _, numbers in shapes for number in numbers) + own
    words = [words for words, _ in shapes]
    deep = next((place for place, (_, numbers) in enumerate(shapes) if numbers), len(shapes))
    below = [word for word in words[deep:] if word not in ("plugins", "memory")]
    told = (found.format, str(found.world), str(len(ranks)))
    worker = " ".join([".".join(map(str, ranks)), who])
    group = (kind, found.root, *words, shape, *told)
    return Named(kind, group, worker, ranks, tuple(words[:deep]), "/".join([*below, shape]), times)


@functools.lru_cache(8192)  # folders come again and again
def _shape(name: str) -> tuple[str, tuple[int, ...]]:
    """``name`` with a star for every rank in it, and the ranks."""
    ranks: list[int] = []

    def starred(found: re.Match[str]) -> str:
        ranks.append(int(found[2] or found[4]))
        return f"{found[1] or found[3]}*"

    return _RANK.sub(starred, name), tuple(ranks)
