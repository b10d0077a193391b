"""What stacks weigh, made into a table of files and the lines in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_memory_plugin.analysis import filters
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame import weights
from tb_memory_plugin.analysis.frames import frames_of_rows
from tb_memory_plugin.analysis.instants import event_time, step_at
from tb_memory_plugin.analysis.lines import SpotTotals, file_spots, line_spots, spot_totals
from tb_memory_plugin.analysis.windows import window
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.flame_frames import cut

LIMIT = 500
MOST = 2000


def page(
    recording: Recording,
    device: Device,
    *,
    of: str = "alive",
    at: str = "peak",
    axis: str = "event",
    begin: int | None = None,
    end: int | None = None,
    filter: str = "",
    limit: int = LIMIT,
) -> dict[str, Any]:
    """The answer of ``GET lines`` (docs/architecture.md). Raises QueryError.

    The ``limit`` lines where most was made, or most passed through, the user's own before those
    of libraries; and of each file that they are in the total.
    """
    seen = window(recording, device, axis, begin, end)
    weighed = weights(recording, device, of, seen, at, filters.mask(recording, device, filter))
    lines, files = line_spots(recording), file_spots(recording)
    by_line, by_file = spot_totals(lines, weighed), spot_totals(files, weighed)
    order = _order(recording, lines.frame, by_line)
    shown = order[: max(0, min(limit, MOST))]
    moment = None
    if weighed.event is not None:
        time = event_time(recording, device, weighed.event)
        moment = {"event": weighed.event, "time": time, "step": step_at(recording, device, time)}
    nowhere = [
        {"label": label, "value": int(weighed.value[place]), "count": int(weighed.count[place])}
        for label, place in (("before the window", -2), ("no stack recorded", -1))
        if weighed.count[place]
    ]
    left = order[len(shown) :]
    return {
        "device": device.key,
        "of": of,
        "unit": weighed.unit,
        "moment": moment,
        "window": {"first": seen.first, "stop": seen.stop, "begin": seen.begin, "end": seen.end},
        "total": sum(weighed.value.tolist()),
        "count": int(weighed.count.sum()),
        "nowhere": nowhere,
        "files": _files(recording, files.frame, by_file, lines.frame[shown], by_line, shown),
        "rest": {"lines": len(left), "made": sum(by_line.made[left].tolist())},
    }


def _order(recording: Recording, frame: IntArray, sums: SpotTotals) -> IntArray:
    """Lines that something passed through, the most important first."""
    through = np.flatnonzero(sums.through_count)
    library = _library(recording, frame[through])
    keys = (-sums.through[through], -sums.made[through], library)
    order: IntArray = through[_lexsorted(keys)]
    return order


def _lexsorted(keys: tuple[IntArray, ...]) -> IntArray:
    """As ``np.lexsort``, for Python's integers too."""
    order = np.arange(len(keys[0]))
    for key in keys:
        order = order[np.argsort(key[order], kind="stable")]
    return order


def _library(recording: Recording, rows: IntArray) -> IntArray:
    frames = frames_of_rows(recording, rows)
    return np.array([frames[row]["library"] for row in rows.tolist()], dtype=bool)


def _files(
    recording: Recording,
    file_frames: IntArray,
    by_file: SpotTotals,
    line_frames: IntArray,
    by_line: SpotTotals,
    shown: IntArray,
) -> list[dict[str, Any]]:
    """The files of the lines ``shown``, in the order in which the lines name them."""
    of_file = recording.values("frames", "file")
    place = {int(of_file[row]): at for at, row in enumerate(file_frames.tolist())}
    told = frames_of_rows(recording, line_frames)
    names = cut([told[row]["function"] for row in line_frames.tolist()])
    found: dict[int, dict[str, Any]] = {}
    for row, line, name in zip(line_frames.tolist(), shown.tolist(), names, strict=True):
        frame, code = told[row], int(of_file[row])
        if code not in found:
            found[code] = {
                "file": frame["file"],
                "library": frame["library"],
                **_sums(by_file, place[code]),
                "lines": [],
            }
        found[code]["lines"].append(
            {"line": frame["line"], "function": name, **_sums(by_line, line)}
        )
    return list(found.values())


def _sums(sums: SpotTotals, at: int) -> dict[str, int]:
    return {
        "made": int(sums.made[at]),
        "made_count": int(sums.made_count[at]),
        "through": int(sums.through[at]),
        "through_count": int(sums.through_count[at]),
    }
