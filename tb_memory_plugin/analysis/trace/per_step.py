"""How much spans of a name allocate in each step: the least, the most, and what lies between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.attribution import spans_of_kind
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.trace.sums import Choice, passing, repeated
from tb_memory_plugin.recording.recording import Device, Recording

#: Steps that are looked at, the first ones: their sums are a table of names and steps.
MOST_STEPS = 10_000


@dataclass(frozen=True)
class Spread:
    """Bytes allocated per step: one element a name. ``steps`` is how many steps there were."""

    steps: int
    least: IntArray
    median: IntArray  # of an even number the lower of the two in the middle
    most: IntArray


def spread(
    recording: Recording, device: Device, of: Choice, keys: list[tuple[int, int]]
) -> Spread | None:
    """The spread over the steps that begin in the window, of spans of some (kind, name).

    A span is of the step that it begins in. None where there are no steps in the window.
    """
    steps = spans_of_kind(recording, "step", device)
    begins = np.sort(_within(steps.begin, of))[:MOST_STEPS]
    if not len(begins) or not keys:
        return None
    last = _end_of(steps.begin, steps.end, int(begins[-1]))
    span, group = _spans(recording, device, of, keys)
    begin = recording.values("spans", "begin")[span]
    step = np.searchsorted(begins, begin, side="right") - 1
    inside = (step >= 0) & (begin < last)
    amount = recording.values("span_memory", "allocated", device)
    at = np.searchsorted(recording.values("span_memory", "span", device), span[inside])
    sums = exact.sum_by(
        group[inside] * len(begins) + step[inside], amount[at], len(keys) * len(begins)
    ).reshape(len(keys), len(begins))
    sums.sort(axis=1)
    return Spread(len(begins), sums[:, 0], sums[:, (len(begins) - 1) // 2], sums[:, -1])


def _within(begin: IntArray, of: Choice) -> IntArray:
    low = -(1 << 62) if of.begin is None else of.begin
    high = 1 << 62 if of.end is None else of.end
    return begin[(begin >= low) & (begin < high)]


def _end_of(begins: IntArray, ends: IntArray, begin: int) -> int:
    return int(ends[begins == begin].max())


def _spans(
    recording: Recording, device: Device, of: Choice, keys: list[tuple[int, int]]
) -> tuple[IntArray, IntArray]:
    """The chosen spans of ``keys`` in which anything happened, and which key each is of."""
    span = recording.values("span_memory", "span", device)
    kind, name = (recording.values("spans", column) for column in ("kind", "name"))
    names = int(name.max(initial=-1)) + 2
    # By kind and name, none of either being the last.
    place = np.full((int(kind.max(initial=-1)) + 2, names), -1, dtype=np.int32)
    for at, key in enumerate(keys):
        place[key] = at
    group = place[kind[span], name[span]]
    rows = np.flatnonzero(group >= 0)
    rows = rows[passing(recording, of, span[rows]) & ~repeated(recording)[span[rows]]]
    return span[rows], group[rows].astype(np.int64)
