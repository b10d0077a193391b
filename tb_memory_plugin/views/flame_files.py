"""A tree of calls, made into files for other viewers, whole: speedscope's JSON, folded stacks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from tb_memory_plugin import __version__
from tb_memory_plugin.analysis import filters
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame import weights
from tb_memory_plugin.analysis.flame_nodes import lengths, ways_of
from tb_memory_plugin.analysis.flame_paths import LIBRARY
from tb_memory_plugin.analysis.flame_rows import OF
from tb_memory_plugin.analysis.flame_tree import Calls, calls, totals
from tb_memory_plugin.analysis.frames import frames_of_rows
from tb_memory_plugin.analysis.windows import window
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.flame_frames import words

#: Stacks whose frames are looked up together.
_AT_ONCE = 1000
#: What a frame is called by: its row, or what it is instead, with the frames it stands for.
_Name = tuple[int, int, int]

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(recording: Recording, device: Device, **question: Any) -> Iterator[str]:
    """A file of https://www.speedscope.app, a piece at a time: one sample a stack.

    ``question`` is what ``flame.page`` takes, without ``find``, ``root`` and ``width``. Weights
    are bytes; of other things than bytes the file has no unit. Raises QueryError before the first
    piece.
    """
    tree, value, unit = _weighed(recording, device, **question)
    head = {
        "$schema": _SCHEMA,
        "exporter": f"tb_memory_plugin@{__version__}",
        "name": str(recording.meta["source"] or "recording"),
        "activeProfileIndex": 0,
    }
    profile = {
        "type": "sampled",
        "name": f"{device.name}: {OF[question.get('of', 'alive')]}",
        "unit": "bytes" if unit == "bytes" else "none",
        "startValue": 0,
        "endValue": sum(value.tolist()),
    }
    return _document(recording, tree, value, head, profile)


def _document(
    recording: Recording,
    tree: Calls,
    value: IntArray,
    head: dict[str, Any],
    profile: dict[str, Any],
) -> Iterator[str]:
    """``head`` with the profile and its frames, which are known only once all samples are."""
    ends = np.flatnonzero(value)
    frames: dict[_Name, int] = {}

    def samples() -> Iterator[list[list[int]]]:
        for some in _parts(ends):
            yield [
                [frames.setdefault(name, len(frames)) for name in way]
                for way in _ways(recording, tree, some)
            ]

    yield f'{_json(head)[:-1]},"profiles":[{_json(profile)[:-1]},"samples":['
    yield from _elements(samples())
    yield '],"weights":['
    yield from _elements(value[some].tolist() for some in _parts(ends))
    yield ']}],"shared":{"frames":['
    names = list(frames)
    yield from _elements(
        _frames(recording, names[start : start + _AT_ONCE])
        for start in range(0, len(names), _AT_ONCE)
    )
    yield "]}}"


def _parts(ends: IntArray) -> Iterator[IntArray]:
    return (ends[start : start + _AT_ONCE] for start in range(0, len(ends), _AT_ONCE))


def _elements(lists: Iterator[list[Any]]) -> Iterator[str]:
    """The elements of lists as those of one list in JSON, without its brackets."""
    comma = ""
    for each in lists:
        yield comma + _json(each)[1:-1]
        comma = ","


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def folded_stacks(recording: Recording, device: Device, **question: Any) -> Iterator[str]:
    """A line a stack, outermost frame first (inverted: last): ``outer;inner 1024``.

    Arguments as :func:`speedscope`; raises QueryError before the first line. What would end a
    name or a line in it is replaced: ``;`` by ``:``, line ends by spaces.
    """
    tree, value, _ = _weighed(recording, device, **question)
    return _lines(recording, tree, value)


def _lines(recording: Recording, tree: Calls, value: IntArray) -> Iterator[str]:
    made: dict[_Name, str] = {}
    for some in _parts(np.flatnonzero(value)):
        ways = _ways(recording, tree, some)
        fresh = [name for name in dict.fromkeys(chain.from_iterable(ways)) if name not in made]
        for name, frame in zip(fresh, _frames(recording, fresh), strict=True):
            made[name] = _plain(frame)
        for way, weight in zip(ways, value[some].tolist(), strict=True):
            yield f"{';'.join(made[name] for name in way)} {weight}\n"


def _weighed(
    recording: Recording,
    device: Device,
    *,
    of: str = "alive",
    at: str = "peak",
    axis: str = "event",
    begin: int | None = None,
    end: int | None = None,
    filter: str = "",
    inverted: bool = False,
    folded: bool = False,
) -> tuple[Calls, IntArray, str]:
    """A tree, what ends with each of its stretches, and in which unit that is."""
    seen = window(recording, device, axis, begin, end)
    wanted = filters.mask(recording, device, filter)
    weighed = weights(recording, device, of, seen, at, wanted)
    tree = calls(recording, inverted=inverted, folded=folded)
    return tree, totals(tree, weighed).own, weighed.unit


def _ways(recording: Recording, tree: Calls, ends: IntArray) -> list[list[_Name]]:
    """The names on the way to the last nodes of stretches, without that of the root."""
    of = tree.stretches
    at = of.first[ends]
    read, path = ways_of(recording, tree, at)
    sizes = of.end[ends].astype(np.int64) - 1
    stops = np.cumsum(sizes)
    owner = np.repeat(np.arange(len(ends)), sizes)
    depth = np.arange(len(owner)) - np.repeat(stops - sizes, sizes)
    element = read.starts[path[owner]] + depth
    frame = read.frame[read.symbols[element]]
    folded = frame == LIBRARY
    shortest, longest = (
        np.where(folded, column, 0)
        for column in lengths(tree, at[owner], depth + 1, read.lengths[element])
    )
    names = list(zip(frame.tolist(), shortest.tolist(), longest.tolist(), strict=True))
    begins = (stops - sizes).tolist()
    return [names[begin:stop] for begin, stop in zip(begins, stops.tolist(), strict=True)]


def _frames(recording: Recording, names: list[_Name]) -> list[dict[str, Any]]:
    """Frames as speedscope has them: what is not known of one is left out."""
    rows = np.array([name[0] for name in names if name[0] >= 0], dtype=np.int64)
    known = frames_of_rows(recording, rows)
    found = []
    for name in names:
        frame = known.get(name[0])
        if frame is None:
            found.append({"name": words(*name)})
            continue
        made: dict[str, Any] = {"name": frame["function"] or "?"}
        if frame["file"]:
            made["file"] = frame["file"]
            if frame["line"] is not None and frame["line"] > 0:
                made["line"] = frame["line"]
        found.append(made)
    return found


def _plain(frame: dict[str, Any]) -> str:
    name = str(frame["name"])
    if "file" in frame:
        place = f"{frame['file']}:{frame['line']}" if "line" in frame else frame["file"]
        name = f"{name} ({place})"
    return " ".join(name.replace(";", ":").split())
