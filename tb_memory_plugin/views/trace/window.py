"""A window of some tracks, made into what fits the pixels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis import windows
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.trace.finding import found_before
from tb_memory_plugin.analysis.trace.items import Items, items, nets
from tb_memory_plugin.analysis.trace.tracks import lanes_of
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import ipc

#: Items of an answer, and bytes of names: those of the longest items come first.
MOST_ITEMS = 12_000
MOST_NAMES = 200_000
#: Lanes of an answer, the outermost: the widest pixels leave two items of each.
MOST_LANES = MOST_ITEMS // 2
_LONGEST_NAME = 200


def window(
    recording: Recording,
    device: Device,
    *,
    begin: int,
    end: int,
    width: int,
    tracks: Sequence[int],
    find: str = "",
) -> bytes:
    """The answer of ``GET trace.window``: items of ``tracks`` (rows of ``span_tracks``).

    A pixel is the largest power of two of ns not above a pixel of ``width``, twice as wide as
    often as it takes for the answer to fit; the window begins and ends with pixels. Of more than
    ``MOST_LANES`` lanes the innermost are left out. Raises QueryError.
    """
    begin, end = windows.checked(begin, end)
    level = max(((end - begin) // max(width, 1)).bit_length() - 1, 0)
    lanes = _outermost(recording, lanes_of(recording, tracks))
    while True:
        pixel = 1 << level
        low, high = begin // pixel * pixel, -(-end // pixel) * pixel
        of = items(recording, lanes, low, high, level)
        if len(of.first) <= MOST_ITEMS:
            break
        level += 1
    first, last = (recording.values("span_order", name) for name in ("begin", "end"))
    begins, ends = first[of.first], last[of.stop - 1]
    names, words = _names(recording, of, ends - begins)
    kind = recording.values("spans", "kind")[of.span]
    columns = {
        "lane": arrays.column(np.searchsorted(lanes, of.lane), pa.int32()),
        "begin": arrays.real_column((begins - low).astype(np.float64)),
        "end": arrays.real_column((ends - low).astype(np.float64)),
        "span": arrays.column(of.span, pa.int32()),
        "count": arrays.column(of.count, pa.int32()),
        "kind": arrays.column(kind, pa.int32()),
        "name": arrays.column(names, pa.int32()),
        "net": arrays.real_column(nets(recording, device, of).astype(np.float64)),
        "busy": arrays.real_column(of.busy.astype(np.float64)),
    }
    if find:
        before = found_before(recording, find)
        columns["hits"] = arrays.column(before[of.stop] - before[of.first], pa.int32())
    track, depth = (recording.values("span_lanes", each)[lanes] for each in ("track", "depth"))
    shown = zip(track.tolist(), depth.tolist(), strict=True)
    about = {
        "begin": low,
        "end": high,
        "pixel": pixel,
        "lanes": [[str(one), deep] for one, deep in shown],
        "names": words,
        "kinds": arrays.words(recording.table("spans"), "kind"),
    }
    return ipc.stream(columns, "window", about)


def _outermost(recording: Recording, lanes: IntArray) -> IntArray:
    """As many of ``lanes`` as an answer may have, in their order."""
    if len(lanes) <= MOST_LANES:
        return lanes
    depth = recording.values("span_lanes", "depth")[lanes]
    found: IntArray = lanes[np.sort(np.argsort(depth, kind="stable")[:MOST_LANES])]
    return found


def _names(recording: Recording, of: Items, length: IntArray) -> tuple[IntArray, list[str]]:
    """Codes of the items' names, and the words, those of the longest items as far as there is room.

    -1 where there is none.
    """
    code = recording.values("spans", "name")[of.span]
    known = arrays.dictionary(recording.table("spans"), "name")
    # Of every name the longest item that has it.
    order = np.lexsort((-length, code))
    heads = order[
        np.flatnonzero(np.append(True, code[order][1:] != code[order][:-1])[: len(order)])
    ]
    place = np.full(len(known) + 1, -1, dtype=np.int32)
    words: list[str] = []
    room = MOST_NAMES
    for head in heads[np.argsort(-length[heads], kind="stable")].tolist():
        if room <= 0:
            break
        if code[head] >= 0:
            place[code[head]] = len(words)
            words.append(known[int(code[head])].as_py()[:_LONGEST_NAME])
            room -= len(words[-1].encode())
    return place[code], words
