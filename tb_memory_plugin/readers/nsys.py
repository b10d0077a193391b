"""Exports of Nsight Systems (SQLite) with the memory that CUDA's driver was asked for.

What ``nsys profile --cuda-memory-usage=true`` traces and ``nsys export --type sqlite`` writes: all
that is allocated and freed below the frameworks' allocators, by process, GPU and kind of memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import limits, opening
from tb_memory_plugin.readers import nsys_tables as made
from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.glance import Progress, unheard
from tb_memory_plugin.readers.nsys_calls import Calls
from tb_memory_plugin.readers.nsys_database import MAGIC, Database, opened
from tb_memory_plugin.readers.nsys_events import EVENTS, Driver, driver_events
from tb_memory_plugin.readers.nsys_meta import meta
from tb_memory_plugin.readers.nsys_ranges import RANGES, Ranges
from tb_memory_plugin.readers.nsys_spans import around as innermost
from tb_memory_plugin.readers.nsys_spans import spans
from tb_memory_plugin.readers.nsys_work import Work
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.arrays import TooMuchText
from tb_memory_plugin.recording.recording import Recording

FORMAT = "nsight_systems"

#: Reports in Nsight's own formats, which nothing else reads.
_REPORTS = (".nsys-rep", ".qdrep")
#: Tables that every export has one of.
_TELLING = ("TARGET_INFO_SESSION_START_TIME", "META_DATA_EXPORT", "StringIds", EVENTS)
_REMEDY = "export it again with nsys export --type sqlite and copy it whole"
_RECORD = "profile with nsys profile --cuda-memory-usage=true and export that"


def matches(name: str, head: bytes) -> bool:
    """Whether a file is a SQLite database by its content, or a report of Nsight's by its name."""
    return head.startswith(MAGIC) or name.lower().endswith(_REPORTS)


def probe(path: Path) -> dict[str, Any]:
    """``bytes`` of an export. Raises SourceError for reports, other databases, damaged ones."""
    try:
        with _database(path) as database:
            _check_export(path.name, database)
    except Malformed as error:
        raise SourceError(path.name, str(error), _REMEDY) from error
    return {"bytes": path.stat().st_size}


def read(path: Path, progress: Progress | None = None) -> Recording:
    """The recorded tables of an export. Raises SourceError."""
    report = progress or unheard
    try:
        with _database(path) as database, limits.memory_ceiling(path.stat().st_size) as grant:
            grant(path.stat().st_size)
            return _recording(path, database, report)
    except MemoryError:
        raise opening.out_of_memory(path.name) from None
    except Malformed as error:
        raise SourceError(path.name, str(error), _REMEDY) from error
    except TooMuchText as error:
        raise SourceError(path.name, str(error), "profile less at once") from error


@contextmanager
def _database(path: Path) -> Iterator[Database]:
    if path.name.lower().endswith(_REPORTS):
        fault = "is a report in a format that nothing but Nsight Systems reads"
        raise SourceError(
            path.name, fault, f"run nsys export --type sqlite {path.name} and open what it writes"
        )
    with opening.regular_file(path, path.name) as file:
        before = os.fstat(file.fileno())
        if file.read(len(MAGIC)) != MAGIC:
            raise Malformed("is no SQLite database, as exports are")
        with opened(path) as database:
            yield database
        opening.check_unchanged(path.name, before, os.fstat(file.fileno()))


def _check_export(name: str, database: Database) -> None:
    if not any(database.has(table) for table in _TELLING):
        fault = "is a SQLite database, but no export of Nsight Systems"
        raise SourceError(name, fault, "name a file that nsys export --type sqlite wrote")


def _recording(path: Path, database: Database, report: Progress) -> Recording:
    _check_export(path.name, database)
    if not database.has(EVENTS):
        raise SourceError(path.name, "holds no memory events: memory was not traced", _RECORD)
    report(0.0, "reading")
    driver = driver_events(database)
    if not len(driver.device):
        raise SourceError(path.name, "holds no memory events: nothing was allocated", _RECORD)
    report(0.4, "reading ranges")
    ranges = Ranges(database) if database.has(RANGES, "start", "end", "eventType") else None
    report(0.6, "finding what allocated")
    calls = Calls(database, driver)
    around = made.around(driver, calls, ranges)
    report(0.7, "reading kernels")
    work = None if driver.time is None else Work(database)
    origin = _origin(driver, ranges, work)
    facts = meta(database, driver, calls, ranges, work, origin)
    report(0.9, "indexing")
    tables: dict[str, pa.Table] = {}
    span = np.full(len(driver.device), -1)
    if work is not None:
        found = spans(ranges, work, driver.places, origin)
        tables, span = found.tables, innermost(driver, calls, ranges, work, found.place)
    return builder.recording(
        {"format": FORMAT, "basis": "requested", "source": path.name, **facts},
        {**made.tables(driver, around, span, origin), **tables},
    )


def _origin(driver: Driver, ranges: Ranges | None, work: Work | None) -> int:
    """When the first of it all happens; 0 without time stamps."""
    if driver.time is None:
        return 0
    begins = [driver.time] if ranges is None else [driver.time, ranges.nested.begin]
    begins += [part.begin for part in work.parts] if work is not None else []
    return min(int(times.min()) for times in begins if len(times))
