"""What one recording knows of allocations, made known of the same allocations in the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.columns import picked
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.pairs.texts import recoded
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.recording import Recording

#: What may be known of an allocation beside its category.
_TEXTS = ("name", "dtype", "shape", "op", "module", "region")
_KEY = ("device", "event", "address")


def joined(
    ours: Recording, theirs: Recording, lives: tuple[IntArray, IntArray]
) -> tuple[pa.Table, int]:
    """The table ``labels`` of ours with what only theirs knows of the same ``lives``, in pairs.

    And of how many allocations something was taken over.
    """
    mine, its = lives
    tells = _tells(theirs)[its]
    mine, its = mine[tells], its[tells]
    own = {name: ours.values("labels", name) for name in _KEY}
    more = {
        name: ours.values("allocations", {"event": "birth"}.get(name, name))[mine].astype(
            own[name].dtype
        )
        for name in _KEY
    }
    keys = {name: np.concatenate([own[name], more[name]]) for name in _KEY}
    count = len(own["event"])
    group = _groups(keys)
    groups = int(group.max(initial=-1)) + 1
    told = np.full(groups, -1, dtype=np.int64)
    told[group[count:]] = its
    fresh = np.ones(groups, dtype=bool)
    fresh[group[:count]] = False
    added = np.full(groups, -1, dtype=np.int64)
    added[group[count:]] = np.arange(count, len(group))
    added = added[fresh]
    # Rows of labels, as in ``keys``: all of ours, and what none of ours is about.
    row = np.concatenate([np.arange(count), added])
    row = row[np.lexsort([keys[name][row] for name in reversed(_KEY)])]
    label = np.where(row < count, row, -1)
    life = told[group[row]]
    columns = _filled(ours, theirs, label, life)
    unknown = picked((~arrays.valid(ours.table("labels"), "address")).astype(np.int8), label, 0)
    columns |= {name: keys[name][row] for name in ("device", "event")}
    columns["address"] = (keys["address"][row], unknown != 0)
    return builder.table("labels", columns), len(its)


def _tells(theirs: Recording) -> IntArray:
    """Of which allocations of theirs anything is known."""
    columns = [theirs.values("allocations", name) >= 0 for name in (*_TEXTS, "category")]
    found: IntArray = np.logical_or.reduce(columns)
    return found


def _groups(keys: dict[str, IntArray]) -> IntArray:
    """A number for each row, the same where all keys are."""
    order = np.lexsort([keys[name] for name in reversed(_KEY)])
    new = np.zeros(len(order), dtype=bool)
    for column in keys.values():
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.cumsum(new)
    return found


def _filled(ours: Recording, theirs: Recording, label: IntArray, life: IntArray) -> dict[str, Any]:
    """What ``label`` of ours says, else what is known of ``life`` of theirs; -1: there is none."""
    own, other = ours.table("labels"), theirs.table("allocations")
    columns: dict[str, Any] = {}
    for name in _TEXTS:
        known: dict[str, int] = {}
        said = recoded(arrays.words(own, name), picked(arrays.values(own, name), label), known)
        more = recoded(arrays.words(other, name), picked(arrays.values(other, name), life), known)
        columns[name] = arrays.text(np.where(said >= 0, said, more), list(known))
    category = picked(arrays.values(own, "category"), label)
    more = picked(arrays.values(other, "category"), life)
    columns["category"] = (np.where(category >= 0, category, more), (category < 0) & (more < 0))
    guess = picked(arrays.truths(own, "inferred").astype(np.int8), label, 0)
    guessed = picked(arrays.truths(other, "category_inferred").astype(np.int8), life, 0)
    inferred = np.where((category >= 0) | (more < 0), guess, guessed)
    columns["inferred"] = arrays.masked_booleans(inferred, np.zeros(len(label), dtype=bool))
    step = picked(arrays.values(own, "step"), label)
    columns["step"] = (step, step < 0)
    sized = picked(arrays.valid(own, "requested").astype(np.int8), label, 0) != 0
    columns["requested"] = (picked(arrays.values(own, "requested"), label, 0), ~sized)
    return columns
