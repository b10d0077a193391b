"""Device memory profiles of JAX (pprof, mostly gzip) to recordings: what was alive at one moment.

What ``jax.profiler.save_device_memory_profile()`` writes: of every live buffer its device, its size
and the stack that made it, and the executables that are loaded. Nothing in it is in time.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import jax_pprof_tables as made
from tb_memory_plugin.readers import opening
from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.glance import Progress, look, unheard
from tb_memory_plugin.readers.jax_pprof_head import is_device_memory
from tb_memory_plugin.readers.jax_pprof_samples import samples
from tb_memory_plugin.readers.jax_pprof_stacks import LocationStacks, Strings
from tb_memory_plugin.readers.whole import whole
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.arrays import TooMuchText
from tb_memory_plugin.recording.recording import Recording

FORMAT = "jax_pprof"

#: Inflated bytes; real profiles have a few million.
MOST_BYTES = 1 << 30

_NAMES = re.compile(r"\.p?prof(\.gz)?$", re.IGNORECASE)
_TELLING_NAMES = re.compile(r"memory.*\.p?prof(\.gz)?$", re.IGNORECASE)
_REMEDY = "save it again with jax.profiler.save_device_memory_profile() and copy it whole"


def matches(name: str, head: bytes) -> bool:
    """Whether a file begins like such a profile, or by its name is one whose gzip is damaged.

    A name is not enough, since Python's own profiler writes ``*.prof`` files too; where nothing
    else is known, one with ``memory`` in it is.
    """
    if not head:
        return _TELLING_NAMES.search(name) is not None
    start = opening.inflated_head(head)
    if is_device_memory(start):
        return True
    damaged = head.startswith(opening.GZIP_MAGIC) and not start
    return damaged and _NAMES.search(name) is not None


def probe(path: Path) -> dict[str, Any]:
    """``compressed`` and ``bytes`` of a file. Raises SourceError where it cannot be read."""
    told, _ = look(path)
    return told


def read(path: Path, progress: Progress | None = None, limit: int = MOST_BYTES) -> Recording:
    """The recorded tables of a profile, of at most ``limit`` inflated bytes. Raises SourceError."""
    report = progress or unheard
    try:
        with whole(path, limit, lambda part: report(0.5 * part, "reading")) as data:
            report(0.5, "indexing buffers")
            return _recording(_profile(data), path.name)
    except Malformed as error:
        fault = f"is not a valid device memory profile: {error}"
        raise SourceError(path.name, fault, _REMEDY) from error
    except TooMuchText as error:
        raise SourceError(path.name, str(error), _REMEDY) from error


def _profile(data: bytes) -> Any:
    from google.protobuf.message import DecodeError

    from tb_memory_plugin.proto.profile import profile_class

    try:
        return profile_class().FromString(data)
    # The implementations of protobuf (C, Python) do not raise the same.
    except (DecodeError, RecursionError, ValueError, TypeError, IndexError):
        raise Malformed("it is no protobuf, was cut off, or is still being written") from None


def _recording(profile: Any, name: str) -> Recording:
    strings = Strings(profile.string_table)
    stacks = LocationStacks(profile, strings)
    found = list(samples(profile, strings, stacks))
    if not found:
        raise SourceError(
            name,
            "holds no live buffers: nothing was on any device when it was saved",
            "save it while the arrays are alive",
        )
    order = made.devices(found)
    meta = {
        "format": FORMAT,
        "basis": "size",
        "source": name,
        "devices": [made.meta_of(device) for device in order],
        "has_history": False,
        "missing": made.missing(found),
        "problems": made.problems(found),
    }
    tables = {**made.tables(found, order), **stacks.interner.tables()}
    return builder.recording(meta, tables)
