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
from tb_memory_plugin.analysis.flame import OF, weights
from tb_memory_plugin.analysis.flame_tree import Calls, calls, totals, way_to
from tb_memory_plugin.analysis.frames import frames_of_rows
from tb_memory_plugin.analysis.windows import window
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.flame_frames import words

#: Stacks whose frames are looked up together.
_AT_ONCE = 1000
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
    nodes = np.flatnonzero(value)
    frames: dict[tuple[int, int, int], int] = {}

    def samples() -> Iterator[list[list[int]]]:
        for some in _parts(nodes):
            ways = [way_to(tree, node)[1:] for node in some.tolist()]
            yield [
                [frames.setdefault(_name(tree, step), len(frames)) for step in way] for way in ways
            ]

    yield f'{_json(head)[:-1]},"profiles":[{_json(profile)[:-1]},"samples":['
    yield from _elements(samples())
    yield '],"weights":['
    yield from _elements(value[some].tolist() for some in _parts(nodes))
    yield ']}],"shared":{"frames":['
    names = list(frames)
    yield from _elements(
        _frames(recording, names[start : start + _AT_ONCE])
        for start in range(0, len(names), _AT_ONCE)
    )
    yield "]}}"


def _parts(nodes: IntArray) -> Iterator[IntArray]:
    return (nodes[start : start + _AT_ONCE] for start in range(0, len(nodes), _AT_ONCE))


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
    made: dict[tuple[int, int, int], str] = {}
    nodes = np.flatnonzero(value)
    for some in _parts(nodes):
        ways = [[_name(tree, step) for step in way_to(tree, node)[1:]] for node in some.tolist()]
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
    """A tree, what ends at each of its nodes, and in which unit that is."""
    seen = window(recording, device, axis, begin, end)
    wanted = filters.mask(recording, device, filter)
    weighed = weights(recording, device, of, seen, at, wanted)
    tree = calls(recording, inverted=inverted, folded=folded)
    return tree, totals(tree, weighed).own, weighed.unit


def _name(tree: Calls, node: int) -> tuple[int, int, int]:
    frame = int(tree.frame[node])
    if frame >= 0:
        return frame, 0, 0
    return frame, int(tree.shortest[node]), int(tree.longest[node])


def _frames(recording: Recording, names: list[tuple[int, int, int]]) -> list[dict[str, Any]]:
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
