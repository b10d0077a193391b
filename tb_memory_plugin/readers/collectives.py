"""What devices do together, by what it is called: kernels of NCCL and RCCL, operations of XLA."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from tb_memory_plugin.recording.arrays import IntArray

_NAME = re.compile(
    r"(void )?[nr]ccl"
    r"|(async-)?(ragged-)?(all-reduce|all-gather|all-to-all|reduce-scatter|collective)[a-z-]*"
    r"-(start|done)\b",
    re.IGNORECASE,
)


def collective(names: Iterable[str]) -> IntArray:
    """Whether each is the name of one, a boolean by code; last and of -1, that it is not."""
    return np.array([*map(_NAME.match, names), None], dtype=bool)
