"""What the profiler knows of allocations, for other engines that saw the same ones."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tb_memory_plugin.recorder.profiler.ledger import Ledger

#: Columns of labels that are text.
TEXTS = ("name", "dtype", "shape", "op", "module")


@dataclass(frozen=True)
class Profiled:
    """Births of one device in order of time, a row each."""

    time: npt.NDArray[np.int64]  # unix ns
    address: npt.NDArray[np.uint64]
    size: npt.NDArray[np.int64]  # what the allocator gave
    category: npt.NDArray[Any]
    guessed: npt.NDArray[Any]
    texts: dict[str, tuple[npt.NDArray[Any], list[str]]]  # codes, -1 for none, and their words


#: Gives the births of a device ("cuda:0"), None where it saw none.
Witness = Callable[[str], Profiled | None]


def profiled(ledger: Ledger, device: str) -> Profiled | None:
    """The births of ``device`` in ``ledger``."""
    if device not in ledger.devices:
        return None
    events, lives = ledger.events, ledger.lives
    event = _numbers(lives.event)
    row = np.flatnonzero(_numbers(events.device)[event] == ledger.devices.index(device))
    event = event[row]
    return Profiled(
        _numbers(events.time)[event],
        _numbers(events.address)[event],
        _numbers(events.size)[event],
        _numbers(lives.category)[row],
        _numbers(lives.guessed)[row],
        {
            "name": (_numbers(lives.name)[row], lives.names.words),
            "dtype": (_numbers(lives.dtype)[row], lives.dtypes.words),
            "shape": (_numbers(lives.shape)[row], lives.shapes.words),
            "op": (_numbers(lives.op)[row], lives.ops.words),
            "module": (_numbers(lives.module)[row], lives.modules.words),
        },
    )


def _numbers(column: array[int]) -> npt.NDArray[Any]:
    return np.array(column, dtype=column.typecode)
