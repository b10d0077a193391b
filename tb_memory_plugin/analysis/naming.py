"""Groups by number, made into the keys that URLs carry and the labels that people read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tb_memory_plugin.analysis.content import place_of, stack_contents
from tb_memory_plugin.analysis.grouping import BEFORE, FIRST, UNKNOWN, Groups
from tb_memory_plugin.analysis.labels import stack_labels
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import Category
from tb_memory_plugin.units import format_bytes

#: Keys of the groups that are no value. No value's key is one of these, see ``_key``.
BEFORE_KEY, UNKNOWN_KEY, REST_KEY = "…before", "…unknown", "…rest"

_UNKNOWN_LABELS = {
    "category": "unknown",
    "stack": "no stack recorded",
    "op": "no op known",
    "module": "no module known",
    "region": "no region known",
    "dtype_shape": "no dtype known",
    "step": "outside any step",
    "annotation": "outside any annotation",
    "pool": "pool not known",
    "stream": "stream not known",
    "size": "size not known",
    "rounding": "rounding not known",
    "lifetime": "lifetime not known",
    "age": "age not known",
    "pattern": "everything else",
}


def keys(recording: Recording, groups: Groups, ids: Sequence[int]) -> list[str]:
    """The key of each of ``ids``: the same for the same thing in every recording."""
    return [_key(recording, groups, group) for group in ids]


def labels(recording: Recording, groups: Groups, ids: Sequence[int]) -> list[str]:
    """How people call each of ``ids``; sizes that read the same are told to the byte."""
    if groups.by == "stack":
        stacks = [int(groups.values[group - FIRST]) for group in ids if group >= FIRST]
        named = iter(stack_labels(recording, stacks))
        return [next(named) if group >= FIRST else _nothing(groups, group) for group in ids]
    found = [_label(recording, groups, group) for group in ids]
    if groups.by != "size":
        return found
    often = Counter(found)
    return [
        f"{int(groups.values[group - FIRST]):,} B".replace(",", " ")
        if group >= FIRST and often[label] > 1
        else label
        for group, label in zip(ids, found, strict=True)
    ]


def category_of(groups: Groups, group: int) -> str | None:
    """The category a group is about, None where it is not about one."""
    if groups.by != "category":
        return None
    if group < FIRST:
        return Category.UNKNOWN.label
    return Category(groups.values[group - FIRST]).label


def find(recording: Recording, groups: Groups, key: str) -> int:
    """The group with ``key``. Raises QueryError."""
    if key == BEFORE_KEY:
        return BEFORE
    if key in (UNKNOWN_KEY, _unknown_key(groups.by)):
        return UNKNOWN
    if groups.by == "stack":
        stack = place_of(stack_contents(recording), key)
        if stack >= 0:
            return FIRST + stack
    else:
        for group in range(FIRST, groups.count):
            if _key(recording, groups, group) == key:
                return group
    raise QueryError(f"There is no group {key!r} by {groups.by} in this recording.")


def _key(recording: Recording, groups: Groups, group: int) -> str:
    if group == BEFORE:
        return BEFORE_KEY
    if group == UNKNOWN:
        return _unknown_key(groups.by)
    value = groups.values[group - FIRST]
    if groups.by == "stack":
        return f"{int(stack_contents(recording)[value]):016x}"
    if groups.by == "pool":
        return f"{value[0]},{value[1]}"
    if groups.by in ("category", "dtype_shape"):
        return _label(recording, groups, group)
    word = str(value)
    return f"…{word}" if word.startswith("…") else word


def _unknown_key(by: str) -> str:
    return {"category": "unknown", "pattern": REST_KEY}.get(by, UNKNOWN_KEY)


def _label(recording: Recording, groups: Groups, group: int) -> str:
    if group < FIRST:
        return _nothing(groups, group)
    value = groups.values[group - FIRST]
    if groups.by == "category":
        return Category(value).label
    if groups.by == "dtype_shape":
        pairs = zip(("dtype", "shape"), value, strict=True)
        return " ".join(_words(recording, name)[code] for name, code in pairs if code >= 0)
    if groups.by == "pool":
        return "default pool" if tuple(value) == (0, 0) else f"private pool {value[0]},{value[1]}"
    if groups.by == "stream":
        return "default stream" if value == 0 else f"stream {int(value):#x}"
    if groups.by == "step":
        return f"step {value}"
    if groups.by == "size":
        return format_bytes(int(value))
    return str(value)


def _words(recording: Recording, column: str) -> list[str]:
    table = recording.table("allocations")
    return memo(recording, ("words", column), lambda: arrays.words(table, column))


def _nothing(groups: Groups, group: int) -> str:
    return "before the window" if group == BEFORE else _UNKNOWN_LABELS[groups.by]
