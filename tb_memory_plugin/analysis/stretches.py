"""Stretches of a column, each made into one number."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray


def most(values: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """The largest of ``values[first]`` … ``values[last]``, both with it, for each pair.

    Where ``last`` is before ``first`` it is ``values[first]``.
    """
    if not len(first):
        return values[:0]
    # What lies between two pairs is worked out too, and not wanted.
    pairs = np.stack([first, last + 1], axis=1).ravel()
    found: IntArray = np.maximum.reduceat(np.append(values, values[-1]), pairs)[::2]
    return found
