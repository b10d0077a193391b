"""What stacks weigh, made into a table of files and the lines in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_memory_plugin.analysis import filters
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame import weights
from tb_memory_plugin.analysis.flame_paths import BEFORE, NONE
from tb_memory_plugin.analysis.frames import frames_of_rows
from tb_memory_plugin.analysis.lines import SpotTotals, file_spots, line_spots, spot_totals
from tb_memory_plugin.analysis.ranking import TOP
from tb_memory_plugin.analysis.telling import OWN
from tb_memory_plugin.analysis.windows import window
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.flame_frames import WORDS, cut
from tb_memory_plugin.views.weighed import described, picked_rows

LIMIT = 500
MOST = 2000
#: Bytes that the paths of files may take in an answer, as JSON: real ones do not come near it.
_ROOM = 400_000


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
    by: str = "",
    pattern: str = "",
    top: int = TOP,
    group: str = "",
) -> dict[str, Any]:
    """The answer of ``GET lines`` (docs/architecture.md). Raises QueryError.

    The ``limit`` lines where most was made, or most passed through, the user's own before those
    of libraries; and of each file that they are in the total. With ``group``, the key of one
    by ``by``, how much of what passed through each is of it.
    """
    seen = window(recording, device, axis, begin, end)
    wanted = filters.mask(recording, device, filter)
    weighed = weights(recording, device, of, seen, at, wanted)
    lines, files = line_spots(recording), file_spots(recording)
    of_group = picked_rows(recording, device, by, pattern, top, group)
    picked = None
    if of_group is not None:
        some = of_group if wanted is None else of_group & wanted
        picked = weights(recording, device, of, seen, at, some)
    by_line, by_file = (spot_totals(each, weighed, picked) for each in (lines, files))
    order = _order(recording, lines.frame, by_line)
    shown = order[: max(0, min(limit, MOST))]
    nowhere = [
        {
            "label": WORDS[lack],
            "value": int(weighed.value[at]),
            "count": int(weighed.count[at]),
            **({} if picked is None else {"picked": int(picked.value[at])}),
        }
        for lack, at in ((BEFORE, -2), (NONE, -1))
        if weighed.count[at]
    ]
    left = order[len(shown) :]
    return {
        **described(recording, device, of, seen, weighed),
        "nowhere": nowhere,
        "files": _files(recording, files.frame, by_file, lines.frame[shown], by_line, shown),
        "rest": {"lines": len(left), "made": sum(by_line.made[left].tolist())},
    }


def _order(recording: Recording, frame: IntArray, sums: SpotTotals) -> IntArray:
    """Lines that something passed through, the most important first."""
    through = np.flatnonzero(sums.through_count)
    library = recording.values("frame_kinds", "kind")[frame[through]] != OWN
    keys = (-sums.through[through], -sums.made[through], library)
    order: IntArray = through[_lexsorted(keys)]
    return order


def _lexsorted(keys: tuple[IntArray, ...]) -> IntArray:
    """As ``np.lexsort``, for Python's integers too."""
    order = np.arange(len(keys[0]))
    for key in keys:
        order = order[np.argsort(key[order], kind="stable")]
    return order


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
    answer = list(found.values())
    for file, path in zip(answer, cut([file["file"] for file in answer], _ROOM), strict=True):
        file["file"] = path
    return answer


def _sums(sums: SpotTotals, at: int) -> dict[str, int]:
    return {
        "made": int(sums.made[at]),
        "made_count": int(sums.made_count[at]),
        "through": int(sums.through[at]),
        "through_count": int(sums.through_count[at]),
        **({} if sums.picked is None else {"picked": int(sums.picked[at])}),
    }
