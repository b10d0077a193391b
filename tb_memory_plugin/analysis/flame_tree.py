"""Stacks, made into one tree of calls; what it weighs is added up by ``totals``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.flame import Weights
from tb_memory_plugin.analysis.flame_paths import paths
from tb_memory_plugin.analysis.flame_stretches import Stretches, stretches
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.recording.recording import Recording


@dataclass(frozen=True)
class Calls:
    """The tree of calls of a recording in one shape; ``flame_nodes`` makes nodes of it."""

    inverted: bool
    folded: bool
    stretches: Stretches


@dataclass(frozen=True)
class Totals:
    """What every stretch weighs and how many allocations that is; ``own``: what ends with it.

    ``near`` is ``value`` rounded, which keeps its order, where that may be Python's integers.
    """

    value: IntArray
    own: IntArray
    count: IntArray
    own_count: IntArray
    near: IntArray


def calls(recording: Recording, *, inverted: bool = False, folded: bool = False) -> Calls:
    """The tree of all stacks that an allocation was born with.

    From the outermost frame inwards; ``inverted``, from the innermost outwards. Frames that have
    function, file and line in common are one. ``folded``: two and more library frames one after
    the other are one node, and such runs below the same node are the same node; a stack's frame
    that tells most is never in one, so that stacks of library frames alone stay apart.
    """
    key = ("calls", inverted, folded)
    made = memo(recording, key, lambda: stretches(paths(recording, inverted, folded)))
    return Calls(inverted, folded, made)


def totals(tree: Calls, weighed: Weights) -> Totals:
    """The weights of the stretches of ``tree``, exactly."""
    of = tree.stretches
    value, count = (_running(column[of.order]) for column in (weighed.value, weighed.count))
    whole = value[of.stop] - value[of.first]
    return Totals(
        whole,
        value[of.own] - value[of.first],
        count[of.stop] - count[of.first],
        count[of.own] - count[of.first],
        whole.astype(np.float64),
    )


def _running(values: IntArray) -> IntArray:
    sums = np.zeros(len(values) + 1, dtype=values.dtype)
    np.cumsum(values, out=sums[1:])
    return sums
