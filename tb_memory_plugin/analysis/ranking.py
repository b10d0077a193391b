"""Groups, put in the order they are stacked in, the small ones made into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tb_memory_plugin.analysis import exact, naming
from tb_memory_plugin.analysis.alive import alive_rows, bytes_of, peak_row
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.grouping import (
    BEFORE,
    FIRST,
    ORDERED,
    UNKNOWN,
    Groups,
    argument,
    group_ids,
)
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording.recording import Device, Recording

#: Groups shown by themselves where nobody says how many.
TOP = 12
#: The groups that hold most at the peak, which an ordered scale is divided among.
MARKS = 16


@dataclass(frozen=True)
class Ranking:
    """Which groups are drawn, from the bottom, and the band of every group.

    ``shown`` are ids of groups, ``band`` gives for every id its place in ``shown``, and
    ``len(shown)`` for those that are drawn together as the rest (``rest`` of them).
    """

    shown: tuple[int, ...]
    band: IntArray
    rest: int

    @property
    def bands(self) -> int:
        """How many bands there are, the rest included."""
        return len(self.shown) + (1 if self.rest else 0)


def ranking(
    recording: Recording, device: Device, by: str, pattern: str = "", top: int = TOP
) -> Ranking:
    """The groups of a device that hold most at its peak, ``top`` of them, largest first.

    Of what has an order (sizes, steps) they are in that, smallest first. Categories, patterns,
    lifetimes and ages are all shown, in their own order. What nothing is known of comes after
    them, what is left last. The same for every window, so that colours do not change.
    """
    key = ("ranking", device.index, by, argument(by, pattern), top)
    return memo(recording, key, lambda: _ranking(recording, device, by, pattern, top))


def describe(
    recording: Recording, device: Device, by: str, pattern: str = "", top: int = TOP
) -> list[dict[str, Any]]:
    """Key and label of every band of ``ranking``, from the bottom.

    By category each also has that, on an ordered scale its ``shade``.
    """
    key = ("bands_in_words", device.index, by, argument(by, pattern), top)
    return memo(recording, key, lambda: _describe(recording, device, by, pattern, top))


def shades(
    recording: Recording, device: Device, groups: Groups, ids: Sequence[int], pattern: str = ""
) -> list[float | None]:
    """For each of ``ids`` a number from 0, the least, to 1; None for what has no order.

    The ``MARKS`` groups that hold most at the peak are as far apart as can be, others between
    those that they are between: the same however many groups an answer is about.
    """
    if groups.by not in ORDERED:
        return [None] * len(ids)
    shown = ranking(recording, device, groups.by, pattern, MARKS).shown
    marks = np.array([group for group in shown if group >= FIRST], dtype=np.int64)
    wanted = np.array(ids, dtype=np.int64)
    left, right = (np.searchsorted(marks, wanted, side=side) for side in ("left", "right"))
    place = np.clip((left + right - 1) / 2, 0, len(marks) - 1)
    shade = place / (len(marks) - 1) if len(marks) > 1 else np.full(len(wanted), 0.5)
    return [
        round(number, 4) if group >= FIRST else None
        for group, number in zip(ids, shade.tolist(), strict=True)
    ]


def _describe(
    recording: Recording, device: Device, by: str, pattern: str, top: int
) -> list[dict[str, Any]]:
    groups = group_ids(recording, device, by, pattern)
    ranked = ranking(recording, device, by, pattern, top)
    found = []
    for group, key, label, shade in zip(
        ranked.shown,
        naming.keys(recording, groups, ranked.shown),
        naming.labels(recording, groups, ranked.shown),
        shades(recording, device, groups, ranked.shown, pattern),
        strict=True,
    ):
        known = {"category": naming.category_of(groups, group), "shade": shade}
        told = {name: value for name, value in known.items() if value is not None}
        found.append({"key": key, "label": label, **told})
    if ranked.rest:
        found.append({"key": naming.REST_KEY, "label": f"{ranked.rest} smaller groups"})
    return found


def _ranking(recording: Recording, device: Device, by: str, pattern: str, top: int) -> Ranking:
    groups = group_ids(recording, device, by, pattern)
    present = np.zeros(groups.count, dtype=bool)
    present[groups.ids] = True
    valued = np.flatnonzero(present[FIRST:]) + FIRST
    if by not in ("category", "pattern", "rounding", "lifetime", "age"):
        valued = valued[_order(recording, device, groups, valued, top)]
        if len(valued) > top + 1:  # one left over is as well drawn as called the rest
            valued = valued[:top]
        if by in ORDERED:
            valued = np.sort(valued)
    shown = [int(group) for group in valued]
    shown += [group for group in (UNKNOWN, BEFORE) if present[group]]
    band = np.full(groups.count, len(shown), dtype=np.uint8 if len(shown) < 255 else np.int32)
    band[shown] = np.arange(len(shown))
    return Ranking(tuple(shown), band, int(present.sum()) - len(shown))


def _order(
    recording: Recording, device: Device, groups: Groups, valued: IntArray, top: int
) -> IntArray:
    """``valued`` by bytes at the peak, then by the largest allocation ever, largest first.

    Behind what may be shown of ``top`` in no order.
    """
    event = int(recording.values("usage", "event", device)[peak_row(recording, device)])
    alive = alive_rows(recording, device, event)
    amount = bytes_of(recording, device)
    at_peak = exact.sum_by(groups.ids[alive], amount[alive], groups.count)
    order = np.argsort(-at_peak[valued], kind="stable")
    held = at_peak[valued[order[: top + 2]]]
    if (held[1:] != held[:-1]).all():  # no need to look at every allocation
        return order
    largest = np.zeros(groups.count, dtype=np.int64)
    np.maximum.at(largest, groups.ids, amount)
    return np.lexsort((valued, -largest[valued], -at_peak[valued]))
