"""A path, made into its recording: for the command line and ``tb_memory_plugin.load``."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.store.cache import Cache
from tb_memory_plugin.store.children import Limits
from tb_memory_plugin.store.importing import imported
from tb_memory_plugin.store.settings import Settings


def load_path(
    path: Path,
    progress: Callable[[float, str], None] | None = None,
    cache: bool = True,
    settings: Settings | None = None,
) -> Recording:
    """The recording of a local file, with its derived tables, memory-mapped. Raises SourceError.

    It is read in a child process unless the cache that TensorBoard uses too has it already.
    ``progress(fraction, phase)`` may be called often. ``cache=False`` neither looks nor leaves
    anything there.
    """
    chosen = settings or Settings()
    if cache:
        return _loaded(Cache(chosen.cache, chosen.cache_bytes), path, chosen, progress)
    # What is mapped stays when its file goes.
    with tempfile.TemporaryDirectory(prefix="tb_memory_plugin-") as folder:
        return _loaded(Cache(Path(folder), chosen.cache_bytes), path, chosen, progress)


def _loaded(
    cache: Cache,
    path: Path,
    settings: Settings,
    progress: Callable[[float, str], None] | None,
) -> Recording:
    limits = Limits(settings.memory, settings.seconds)
    for _ in range(2):  # an entry that turns out damaged is removed and made anew
        _, entry = imported(cache, path, limits, progress or _silent)
        recording = cache.open(entry.key)
        if recording is not None:
            if progress is not None:
                progress(1.0, "ready")
            return recording
    raise SourceError(
        path.name, "was read, but its entry in the cache folder is damaged", "check the disk"
    )


def _silent(fraction: float, phase: str) -> None:
    """Progress nobody asked for."""
