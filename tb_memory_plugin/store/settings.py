"""What the store may use: where its cache is, how much memory, time and space it takes."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

CACHE_BYTES = 10 << 30
UPLOAD_BYTES = 16 << 30
SECONDS = 900
_LEAST_MEMORY = 1 << 30
_CONTROL_GROUPS = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


def machine_memory() -> int:
    """Bytes of memory this machine, or the container this process is in, has."""
    try:
        amounts = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, OSError, ValueError):  # Windows
        amounts = [8 << 30]
    for name in _CONTROL_GROUPS:
        try:
            amounts.append(int(Path(name).read_text()))
        except (OSError, ValueError):
            continue  # not such a system, or no limit ("max")
    return min(amounts)


def default_memory() -> int:
    """Bytes one import may take: half of the machine's, at least one GiB."""
    return max(_LEAST_MEMORY, machine_memory() // 2)


def default_workers() -> int:
    """Imports at once: one core is left to whoever waits for an answer."""
    return max(1, (os.cpu_count() or 2) - 1)


def user_cache() -> Path:
    """``$TB_MEMORY_CACHE``, else ``tb_memory_plugin`` in the user's cache folder."""
    own = os.environ.get("TB_MEMORY_CACHE")
    if own:
        return Path(own).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base).expanduser().absolute() / "tb_memory_plugin"
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "tb_memory_plugin"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home)) / "tb_memory_plugin" / "cache"
    return home / ".cache" / "tb_memory_plugin"


@dataclass(frozen=True)
class Settings:
    """Limits of a store; sizes in bytes."""

    cache: Path = field(default_factory=user_cache)
    cache_bytes: int = CACHE_BYTES
    memory: int = field(default_factory=default_memory)
    seconds: float = SECONDS
    upload_bytes: int = UPLOAD_BYTES
    workers: int = field(default_factory=default_workers)
