"""Which operations cause the padding at the peak of a plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.columns import picked
from tb_memory_plugin.analysis.plan_reading import Plan
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording


@dataclass(frozen=True)
class Padded:
    """Buffers of one framework op, or without one of one instruction, alive at the peak.

    ``bytes`` is what of them is padding; ``instruction`` and ``life``, a row of ``buffer_lives``,
    are of the buffer that has most of it.
    """

    op: str | None
    instruction: str | None
    bytes: int
    count: int
    life: int


def padded(recording: Recording, plan: Plan) -> list[Padded]:
    """What is padded at the peak of ``plan``, by operation, the most bytes first."""
    alive = reading.alive(recording, plan, reading.moment(plan, "peak"))
    size, bare = (recording.values("buffer_lives", name)[alive] for name in ("size", "unpadded"))
    padding = size - bare
    kept = np.flatnonzero(padding > 0)
    kept = kept[np.argsort(-padding[kept], kind="stable")]
    rows, padding = alive[kept], padding[kept]
    buffer = recording.values("buffer_lives", "buffer")[rows]
    instruction = picked(recording.values("buffers", "instruction"), buffer)
    table = recording.table("instructions")
    ops, names = (arrays.words_of(table, name, instruction) for name in ("op", "name"))
    groups: dict[tuple[bool, str | None], list[int]] = {}
    for place, (op, name) in enumerate(zip(ops, names, strict=True)):
        groups.setdefault((bool(op), op or name), []).append(place)
    found = [
        Padded(
            op=ops[places[0]],
            instruction=names[places[0]],
            bytes=int(padding[places].sum()),
            count=len(places),
            life=int(rows[places[0]]),
        )
        for places in groups.values()
    ]
    return sorted(found, key=lambda each: -each.bytes)
