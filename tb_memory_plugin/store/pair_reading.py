"""Two entries of the cache, made into what they have in common, or into one recording."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.pairs.match import as_shown, match, matched_at
from tb_memory_plugin.analysis.pairs.recording import paired, told
from tb_memory_plugin.errors import ContainerError, SourceError
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.recording import Recording, open_recording

#: ns, half of what times may be, so that none overflows.
MOST_SHIFT = 1 << 60


def made(
    request: dict[str, Any], entries: Path, report: Callable[[float, str], None]
) -> tuple[Recording, dict[str, Any]]:
    """What ``request["pair"]``, the keys of two entries, makes, and what is said of it beside.

    With ``only_match`` an empty recording, and the match is what is said. Raises SourceError.
    """
    name = Path(request["path"]).name
    try:
        ours, theirs = (open_recording(entries / f"{key}.tbmem") for key in request["pair"])
    except (OSError, ContainerError) as error:
        fault = "cannot be put together: one of both is gone from the cache folder"
        raise SourceError(name, fault, "open it again") from error
    report(0.05, "finding what both have")
    if request["only_match"]:
        found = match(ours, theirs)
        empty = builder.recording(
            {"format": "match", "basis": ours.meta["basis"], "devices": []}, {}
        )
        return empty, {"match": None if found is None else told(ours, theirs, found)}
    both = as_one(name, ours, theirs, request["shift"])
    report(0.5, "working out lives")
    return derive(both), {}


def as_one(name: str, ours: Recording, theirs: Recording, shift: int | None) -> Recording:
    """The recorded tables of both as one. Raises SourceError where they are not of one process.

    With a ``shift`` (ns) they are put together all the same, by what their clocks show. Nor where
    that is longer than ``MOST_SHIFT``.
    """
    if shift is not None and abs(shift) > MOST_SHIFT:
        fault = "cannot be shifted by that much"
        raise SourceError(name, fault, "shift by at most 36 years to either side")
    found = match(ours, theirs)
    if found is None and shift is None:
        raise not_of_one_process(name)
    return paired(
        ours, theirs, found or matched_at(ours, theirs, as_shown(ours, theirs)), shift or 0
    )


def not_of_one_process(name: str) -> SourceError:
    """Why two recordings are no pair."""
    fault = (
        "are not of one process, as far as can be seen: too few allocations are at the same "
        "addresses at times that agree"
    )
    return SourceError(name, fault, "choose others, or say by how much to shift the trace")
