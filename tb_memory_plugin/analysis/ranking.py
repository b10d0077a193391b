"""Groups, put in the order they are stacked in, the small ones made into one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import exact, naming
from tb_memory_plugin.analysis.alive import alive_rows, bytes_of, peak_row
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.grouping import BEFORE, FIRST, UNKNOWN, Groups, group_ids
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording.recording import Device, Recording

#: Groups shown by themselves where nobody says how many.
TOP = 12


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

    Categories, patterns and lifetimes are all shown, in their own order. What nothing is known of
    comes after them, what is left last. The same for every window, so that colours do not change.
    """
    key = ("ranking", device.index, by, pattern if by == "pattern" else "", top)
    return memo(recording, key, lambda: _ranking(recording, device, by, pattern, top))


def describe(
    recording: Recording, device: Device, by: str, pattern: str = "", top: int = TOP
) -> list[dict[str, str]]:
    """Key, label and (by category) category of every band of ``ranking``, from the bottom."""
    key = ("bands_in_words", device.index, by, pattern if by == "pattern" else "", top)
    return memo(recording, key, lambda: _describe(recording, device, by, pattern, top))


def _describe(
    recording: Recording, device: Device, by: str, pattern: str, top: int
) -> list[dict[str, str]]:
    groups = group_ids(recording, device, by, pattern)
    ranked = ranking(recording, device, by, pattern, top)
    keys = naming.keys(recording, groups, ranked.shown)
    labels = naming.labels(recording, groups, ranked.shown)
    found = []
    for group, key, label in zip(ranked.shown, keys, labels, strict=True):
        category = naming.category_of(groups, group)
        found.append({"key": key, "label": label, **({"category": category} if category else {})})
    if ranked.rest:
        found.append({"key": naming.REST_KEY, "label": f"{ranked.rest} smaller groups"})
    return found


def _ranking(recording: Recording, device: Device, by: str, pattern: str, top: int) -> Ranking:
    groups = group_ids(recording, device, by, pattern)
    present = np.bincount(groups.ids, minlength=groups.count) > 0
    valued = np.flatnonzero(present[FIRST:]) + FIRST
    if by not in ("category", "pattern", "lifetime"):
        valued = valued[_order(recording, device, groups, valued, top)]
        if len(valued) > top + 1:  # one left over is as well drawn as called the rest
            valued = valued[:top]
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
