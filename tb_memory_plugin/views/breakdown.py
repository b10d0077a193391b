"""What is alive at an instant, made into the page's two tables: groups, and single allocations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tb_memory_plugin.analysis import exact, naming
from tb_memory_plugin.analysis.alive import alive_rows, bytes_of, reserved_known, sums_only
from tb_memory_plugin.analysis.breakdown import Breakdown, breakdown
from tb_memory_plugin.analysis.content import stack_layout
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.filters import mask
from tb_memory_plugin.analysis.frames import frame_labels, frames_of_stacks, named_by
from tb_memory_plugin.analysis.grouping import FIRST, Groups, group_ids
from tb_memory_plugin.analysis.instants import Instant, resolve, step_at
from tb_memory_plugin.analysis.members import members
from tb_memory_plugin.analysis.ranking import TOP, shades
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import sentinel
from tb_memory_plugin.views.words import allocation_labels, allocation_rows

LIMIT = 200
MOST = 2000
_MOST_FRAMES = 6000
_NO_TIME = sentinel("birth_time")
GROUP_SORTS = ("label", "bytes", "count", "largest", "oldest")
ALLOCATION_SORTS = ("label", "bytes", "birth", "death")


def page(
    recording: Recording,
    device: Device,
    *,
    at: str = "peak",
    by: str,
    pattern: str = "",
    filter: str = "",
    sort: str = "-bytes",
    limit: int | None = LIMIT,
) -> dict[str, Any]:
    """The answer of ``GET breakdown``: the groups alive at ``at``, and what ``limit`` leaves out.

    ``limit`` None gives them all. Raises QueryError.
    """
    pattern = _argument(by, pattern, at)
    instant, groups, found, order = _broken_down(recording, device, at, by, pattern, filter, sort)
    shown = order if limit is None else order[: max(0, min(limit, MOST))]
    left = order[len(shown) :]
    sums = _sums(recording, device, instant.event, groups, filter)
    reserved = recording.values("usage", "reserved", device)[instant.row]
    return {
        "device": device.key,
        "event": instant.event,
        "time": instant.time,
        "step": step_at(recording, device, instant.time),
        "total_bytes": exact.total(found.bytes),
        "total_count": int(found.count.sum()),
        "sums": sum(sums.values()),
        "reserved": int(reserved) if reserved_known(recording, device) else None,
        "groups": _group_rows(recording, device, groups, pattern, found, shown, sums),
        "rest": {
            "groups": len(left),
            "bytes": exact.total(found.bytes[left]),
            "count": int(found.count[left].sum()),
        },
    }


def whole(
    recording: Recording,
    device: Device,
    *,
    at: str = "peak",
    by: str,
    pattern: str = "",
    filter: str = "",
    sort: str = "-bytes",
) -> Iterator[list[dict[str, Any]]]:
    """All groups of :func:`page`, some at a time. Raises QueryError before the first of them."""
    pattern = _argument(by, pattern, at)
    instant, groups, found, order = _broken_down(recording, device, at, by, pattern, filter, sort)
    sums = _sums(recording, device, instant.event, groups, filter)
    return (
        _group_rows(recording, device, groups, pattern, found, order[begin : begin + MOST], sums)
        for begin in range(0, len(order), MOST)
    )


def _argument(by: str, pattern: str, at: str) -> str:
    """``pattern``; where ages are asked for and it does not say when, the moment asked about."""
    return pattern or (at if by == "age" else "")


def _broken_down(
    recording: Recording,
    device: Device,
    at: str,
    by: str,
    pattern: str,
    filter: str,
    sort: str,
) -> tuple[Instant, Groups, Breakdown, IntArray]:
    """What was asked about, its groups, what they hold, and the order they are told in."""
    instant = resolve(recording, device, at)
    groups = group_ids(recording, device, by, pattern)
    found = breakdown(recording, device, instant.event, groups, mask(recording, device, filter))
    return instant, groups, found, _group_order(recording, groups, found, sort)


def _sums(
    recording: Recording, device: Device, event: int, groups: Groups, filter: str
) -> dict[int, int]:
    """By group, how many of its rows are sums of nobody knows how many blocks."""
    rows = sums_only(recording, device)
    rows = rows[recording.values("allocations", "death", device)[rows] > event]
    wanted = mask(recording, device, filter)
    if wanted is not None:
        rows = rows[wanted[rows]]
    ids = groups.ids[rows].tolist()
    return {group: ids.count(group) for group in ids}


def allocations(
    recording: Recording,
    device: Device,
    *,
    at: str = "peak",
    by: str,
    pattern: str = "",
    key: str | None = None,
    filter: str = "",
    sort: str = "-bytes",
    limit: int = LIMIT,
    offset: int = 0,
    top: int = TOP,
) -> dict[str, Any]:
    """The answer of ``GET allocations``: those of group ``key`` (of all, for None) alive at ``at``.

    The key ``…rest`` means what the chart with ``top`` groups draws as the rest. Raises
    QueryError.
    """
    rows = ordered_rows(
        recording,
        device,
        at=at,
        by=by,
        pattern=pattern,
        key=key,
        filter=filter,
        sort=sort,
        top=top,
    )
    start = max(0, offset)
    return {
        "total_count": len(rows),
        "total_bytes": exact.total(bytes_of(recording, device)[rows]),
        "rows": allocation_rows(
            recording,
            rows[start : start + max(0, min(limit, MOST))]
            + recording.rows("allocations", device).start,
        ),
    }


def ordered_rows(
    recording: Recording, device: Device, *, sort: str = "-bytes", **question: Any
) -> IntArray:
    """As :func:`chosen_rows`, sorted."""
    rows = chosen_rows(recording, device, **question)
    order: IntArray = rows[_allocation_order(recording, device, rows, sort)]
    return order


def chosen_rows(
    recording: Recording,
    device: Device,
    *,
    at: str = "peak",
    by: str,
    pattern: str = "",
    key: str | None = None,
    filter: str = "",
    top: int = TOP,
) -> IntArray:
    """Rows, within the device's allocations, that are alive, of a group, and pass a filter."""
    instant = resolve(recording, device, at)
    rows = alive_rows(recording, device, instant.event)
    wanted = mask(recording, device, filter)
    if wanted is not None:
        rows = rows[wanted[rows]]
    if key is None:
        return rows
    pattern = _argument(by, pattern, at)
    found: IntArray = rows[members(recording, device, by, pattern, key, top, rows)]
    return found


def _group_order(recording: Recording, groups: Groups, found: Breakdown, sort: str) -> IntArray:
    column, falling = _sort_of(sort, GROUP_SORTS)
    if column == "label":
        labels = np.array(_sort_labels(recording, groups, found.group), dtype=object)
        by_label: IntArray = np.argsort(labels, kind="stable")
        return by_label[::-1] if falling else by_label
    values: IntArray = getattr(found, column)
    order: IntArray = np.argsort(-values if falling else values, kind="stable")
    return order


def _sort_labels(recording: Recording, groups: Groups, ids: IntArray) -> list[str]:
    if groups.by != "stack":
        return [label.casefold() for label in naming.labels(recording, groups, ids.tolist())]
    own = named_by(recording)
    frames = [int(own[groups.values[group - FIRST]]) if group >= FIRST else -1 for group in ids]
    made_at = frame_labels(recording, set(frames))
    return [made_at.get(frame, "").casefold() for frame in frames]


def _allocation_order(recording: Recording, device: Device, rows: IntArray, sort: str) -> IntArray:
    name = sort.lstrip("-")
    if name in GROUP_SORTS and name not in ALLOCATION_SORTS:
        sort = "-bytes"
    column, falling = _sort_of(sort, ALLOCATION_SORTS)
    if column == "label":
        first = recording.rows("allocations", device).start
        labels = [label.casefold() for label in allocation_labels(recording, rows + first)]
        by_label: IntArray = np.argsort(np.array(labels, dtype=object), kind="stable")
        return by_label[::-1] if falling else by_label
    whole = bytes_of(recording, device)
    if column != "bytes":
        whole = recording.values("allocations", column, device)
    values: IntArray = whole[rows]
    order: IntArray = np.argsort(-values if falling else values, kind="stable")
    return order


def _sort_of(sort: str, known: tuple[str, ...]) -> tuple[str, bool]:
    column = sort.removeprefix("-")
    if column not in known:
        raise QueryError(f"Cannot sort by {column!r}; choose one of {', '.join(known)}.")
    return column, sort.startswith("-")


def _group_rows(
    recording: Recording,
    device: Device,
    groups: Groups,
    pattern: str,
    found: Breakdown,
    shown: IntArray,
    sums: dict[int, int],
) -> list[dict[str, Any]]:
    ids = found.group[shown].tolist()
    keys, labels = naming.keys(recording, groups, ids), naming.labels(recording, groups, ids)
    birth = recording.values("allocations", "birth", device)[found.oldest[shown]]
    born_at = recording.values("allocations", "birth_time", device)[found.oldest[shown]]
    step = recording.values("allocations", "step", device)[found.oldest[shown]]
    rows = []
    stacks = _stacks_of(recording, groups, ids)
    shade = shades(recording, device, groups, ids, pattern)
    for place, row in enumerate(shown.tolist()):
        answer: dict[str, Any] = {
            "key": keys[place],
            "label": labels[place],
            "bytes": int(found.bytes[row]),
            "count": int(found.count[row]),
            "sums": sums.get(ids[place], 0),
            "largest": int(found.largest[row]),
            "oldest_step": int(step[place]) if step[place] >= 0 else None,
            "oldest_event": int(birth[place]) if birth[place] >= 0 else None,
            "oldest_time": int(born_at[place]) if born_at[place] != _NO_TIME else None,
        }
        category = naming.category_of(groups, ids[place])
        if category is not None:
            answer["category"] = category
        if shade[place] is not None:
            answer["shade"] = shade[place]
        if place in stacks:
            answer["frames"] = stacks[place]
        rows.append(answer)
    return rows


def _stacks_of(
    recording: Recording, groups: Groups, ids: list[int]
) -> dict[int, list[dict[str, Any]]]:
    """The frames of the groups in these places, where they are stacks.

    Answers are bounded: of the groups further down the page asks one by one.
    """
    if groups.by != "stack":
        return {}
    _, offsets = stack_layout(recording)
    wanted: dict[int, int] = {}
    left: dict[int, int] = {}
    room = _MOST_FRAMES
    for place, group in enumerate(ids):
        if group >= FIRST and room > 0:
            stack = int(groups.values[group - FIRST])
            wanted[place], left[place] = stack, room
            room -= int(offsets[stack + 1] - offsets[stack])
    found = frames_of_stacks(recording, list(wanted.values()))
    return {place: frames[: left[place]] for place, frames in zip(wanted, found, strict=True)}
