"""Files of HLO modules: one that is named, or all in a folder that XLA dumped or XProf filled."""

from __future__ import annotations

from pathlib import Path

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.plan_reading import Plan
from tb_memory_plugin.api import load
from tb_memory_plugin.cli import text
from tb_memory_plugin.errors import QueryError, SourceError
from tb_memory_plugin.readers import hlo, xplane
from tb_memory_plugin.readers.hlo_glance import holds_plan
from tb_memory_plugin.readers.hlo_names import superseded
from tb_memory_plugin.recording.recording import Recording


def recordings(path: str) -> dict[str, Recording]:
    """The recordings of ``path`` by file name; of a folder those of its files that hold modules.

    A file of a folder that cannot be read is told, and the others are read. Raises
    MemoryPluginError.
    """
    folder = Path(path)
    if not folder.is_dir():
        return {folder.name: load(path).recording}
    try:
        files = sorted(each for each in folder.iterdir() if each.is_file() and _holds(each.name))
    except OSError as error:
        fault = f"cannot be listed ({error.strerror or error})"
        raise SourceError(str(folder), fault, "check the folder and its disk") from error
    others = superseded([file.name for file in files], lambda name: _has_plan(folder / name))
    files = [file for file in files if file.name not in others]
    found: dict[str, Recording] = {}
    for file in files:
        try:
            found[file.name] = load(file).recording
        except SourceError as error:
            text.warn(f"tb-memory: {error}")
    if not found:
        fault = "is a folder without a file of HLO modules that can be read"
        remedy = "name one that XLA dumped to, with --xla_dump_hlo_as_proto, or a file"
        raise SourceError(str(folder), fault, remedy)
    return found


def chosen(path: str, module: str, space: int | None) -> tuple[Recording, Plan]:
    """The plan of ``module``, and the recording that holds it. Raises MemoryPluginError."""
    among = recordings(path)
    found: dict[str, tuple[Recording, Plan]] = {}
    faults: list[QueryError] = []
    for name, recording in among.items():
        try:
            found[name] = recording, reading.chosen_plan(recording, module, space)
        except QueryError as error:
            faults.append(error)
    if len(found) > 1:
        raise QueryError(f"Several files hold {module}: {', '.join(found)}; name one of them.")
    if not found and len(among) > 1:
        raise QueryError(f"No file of the folder holds a plan of {module}; see tb-memory modules.")
    if not found:
        raise faults[0]
    return next(iter(found.values()))


def _has_plan(file: Path) -> bool | None:
    try:
        return holds_plan(file)
    except SourceError:
        return None  # reading it says why


def _holds(name: str) -> bool:
    return hlo.matches(name, b"") or xplane.matches(name, b"")
