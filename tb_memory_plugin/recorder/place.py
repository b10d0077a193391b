"""Where a process's recordings go: one name for every host, rank, process and name."""

from __future__ import annotations

import os
import re
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

SUFFIX = ".tbmem"
_UNFIT = re.compile(r"[^A-Za-z0-9_+=-]+")
_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")


def host() -> str:
    """This machine's name, fit for a file name."""
    return _UNFIT.sub("-", socket.gethostname().split(".")[0]) or "host"


def rank() -> int | None:
    """This process's rank in its job, None where nothing says so.

    From ``torch.distributed`` where it is initialised, else from ``RANK`` (torchrun),
    ``SLURM_PROCID`` or ``OMPI_COMM_WORLD_RANK``.
    """
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank())
    for name in _RANKS:
        value = os.environ.get(name, "")
        if value.isdecimal():
            return int(value)
    return None


@dataclass(frozen=True)
class Place:
    """The folder of a run's recordings, and how this process names its own."""

    folder: Path  # <logdir>/plugins/memory
    stem: str  # <host>.r<rank>.<pid>[.<name>][.<n>]

    def file(self, *extra: str) -> Path:
        """The file of the recording, or of one called ``extra`` beside it."""
        return self.folder / (".".join([self.stem, *map(fit, extra)]) + SUFFIX)


_TAKEN: set[Path] = set()


def choose(logdir: Path, name: str | None) -> Place:
    """A place that nothing was written to: a number is added where a process id came twice."""
    folder = logdir / "plugins" / "memory"
    base = f"{host()}.r{rank() or 0}.{os.getpid()}" + (f".{fit(name)}" if name else "")
    stem, count = base, 1
    while folder / stem in _TAKEN or (folder / f"{stem}{SUFFIX}").exists():
        count += 1
        stem = f"{base}.{count}"
    _TAKEN.add(folder / stem)
    return Place(folder, stem)


def fit(name: str) -> str:
    """``name`` with what does not belong into a file name replaced."""
    return _UNFIT.sub("-", name).strip("-") or "unnamed"
