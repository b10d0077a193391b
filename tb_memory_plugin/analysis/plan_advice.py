"""What could be done about a plan: findings in words, each with the bytes that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.columns import picked
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.plan_last_use import outliving
from tb_memory_plugin.analysis.plan_reading import Plan
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording

_ARRAY = re.compile(r"\w+\[(?P<dims>[\d,<=]*)\]\{(?P<order>[\d,]*):T\((?P<tile>[\d,*]+)\)")
_REMATERIALISED = re.compile(r"\.remat\d*(\.|$)|\.remat_")
#: Padding that is worth a word: so much of a buffer, and of the peak.
_PART_OF_BUFFER, _PART_OF_PEAK = 10, 200
_MOST = 3
#: Bytes that are worth a word at all.
_LEAST = 1 << 20


@dataclass(frozen=True)
class Advice:
    """A finding: what is so, what to do, the bytes it is about, and rows of ``buffer_lives``."""

    kind: str
    bytes: int
    says: str
    cure: str
    lives: tuple[int, ...] = ()


def advice(recording: Recording, plan: Plan) -> list[Advice]:
    """Findings about a plan, those about the most bytes first."""
    event = reading.moment(plan, "peak")
    alive = reading.alive(recording, plan, event)
    found = [
        *_padding(recording, plan, alive),
        *_donation(recording, plan),
        *_half(recording, plan, alive),
        *_outliving(recording, plan),
        *_rematerialised(recording, plan),
    ]
    worth = [each for each in found if each.bytes >= _LEAST]
    return sorted(worth, key=lambda each: -each.bytes)


def better_shape(shape: str) -> str | None:
    """What of a padded shape to change, in words: its dimensions against its tile; None if none."""
    found = _ARRAY.match(shape)
    if found is None or "*" in found["tile"]:
        return None
    dims = [int(size.removeprefix("<=")) for size in found["dims"].split(",") if size]
    order = [int(place) for place in found["order"].split(",") if place]
    tile = [int(size) for size in found["tile"].split(",")]
    words = []
    for place, size in zip(order, reversed(tile), strict=False):
        if place < len(dims) and dims[place] % size:
            up = -(-dims[place] // size) * size
            words.append(f"dimension {place} is {dims[place]}, and takes the room of {up}")
    return " and ".join(words) or None


def _padding(recording: Recording, plan: Plan, alive: IntArray) -> Iterator[Advice]:
    size = recording.values("buffer_lives", "size")[alive]
    padding = size - recording.values("buffer_lives", "unpadded")[alive]
    peak = plan.numbers["peak"]
    worth = (padding * _PART_OF_BUFFER > size) & (padding * _PART_OF_PEAK > peak)
    rows = alive[worth][np.argsort(-padding[worth], kind="stable")]
    if not len(rows):
        return
    buffer = recording.values("buffer_lives", "buffer")[rows[:_MOST]]
    shapes = arrays.words_of(recording.table("buffers"), "shape", np.maximum(buffer, 0))
    told = [f"{shape}: {better}" for shape in shapes if (better := better_shape(shape or ""))]
    cure = "Choose dimensions that fill the tiles, or put small ones together."
    if told:
        cure = f"{'; '.join(dict.fromkeys(told))}. {cure}"
    whole = int(padding[worth].sum())
    count = len(rows)
    who = "One buffer at the peak is" if count == 1 else f"{count} buffers at the peak are"
    says = f"{who} padded to fill tiles"
    yield Advice("padding", whole, says, cure, tuple(int(row) for row in rows))


def _donation(recording: Recording, plan: Plan) -> Iterator[Advice]:
    """Arguments that are not donated, though an output of the same shape is made beside them."""
    rows = reading.lives(recording, plan)
    allocation = recording.values("buffer_lives", "allocation")[rows]
    always = recording.values("buffer_lives", "birth")[rows] < 0
    buffer = recording.values("buffer_lives", "buffer")[rows]
    shape = picked(arrays.values(recording.table("buffers"), "shape"), buffer)
    told = always & (allocation >= 0) & (shape >= 0)
    rows, allocation, shape = rows[told], allocation[told], shape[told]
    table = recording.table("buffer_allocations")
    given = arrays.truths(table, "is_parameter")[allocation]
    made = arrays.truths(table, "is_output")[allocation]
    size = recording.values("buffer_lives", "size")[rows]
    outputs: dict[tuple[int, int], int] = {}
    for key in zip(shape[made & ~given].tolist(), size[made & ~given].tolist(), strict=True):
        outputs[key] = outputs.get(key, 0) + 1
    found = []
    for row in np.flatnonzero(given & ~made).tolist():
        key = int(shape[row]), int(size[row])
        if outputs.get(key):
            outputs[key] -= 1
            found.append(row)
    whole = int(size[found].sum())
    if whole * _PART_OF_PEAK <= plan.numbers["peak"]:
        return
    count = len(found)
    yield Advice(
        "donation",
        whole,
        f"{count} argument{'s' if count > 1 else ''} could be donated: as many outputs of the same "
        "shape are made beside them",
        "Name them in jax.jit(..., donate_argnums=...), if the caller needs them no more.",
        tuple(int(row) for row in rows[found]),
    )


def _half(recording: Recording, plan: Plan, alive: IntArray) -> Iterator[Advice]:
    size = recording.values("buffer_lives", "size")[alive]
    for row in np.flatnonzero(2 * size > plan.numbers["peak"]).tolist():
        if len(alive) > 1:
            yield Advice(
                "half",
                int(size[row]),
                "One buffer is over half of the peak",
                "Split the operation that makes it, or make it in a smaller type.",
                (int(alive[row]),),
            )


def _outliving(recording: Recording, plan: Plan) -> Iterator[Advice]:
    rows = np.array(outliving(recording, plan), dtype=np.int64)
    size = recording.values("buffer_lives", "size")[rows]
    worth = size * _PART_OF_PEAK > plan.numbers["peak"]
    rows, size = rows[worth], size[worth]
    if len(rows):
        order = np.argsort(-size, kind="stable")
        yield Advice(
            "outliving",
            int(size.sum()),
            f"{_who(len(rows))} held after the last instruction with a use for {_it(len(rows))}",
            "Look what they are kept for: a value that a later step of the program refers to.",
            tuple(int(row) for row in rows[order]),
        )


def _rematerialised(recording: Recording, plan: Plan) -> Iterator[Advice]:
    rows = reading.lives(recording, plan)
    buffer = recording.values("buffer_lives", "buffer")[rows]
    instruction = picked(recording.values("buffers", "instruction"), buffer)
    known = instruction >= 0
    names = arrays.words_of(recording.table("instructions"), "name", instruction[known])
    again = [place for place, name in enumerate(names) if _REMATERIALISED.search(name or "")]
    if again:
        chosen = rows[known][again]
        size = recording.values("buffer_lives", "size")[chosen]
        yield Advice(
            "rematerialised",
            int(size.sum()),
            f"{_who(len(again))} computed anew to save memory: the module is near its limit",
            "With less at the peak the compiler would compute them once, and the step be faster.",
            tuple(int(row) for row in chosen),
        )


def _who(count: int) -> str:
    return "One buffer is" if count == 1 else f"{count} buffers are"


def _it(count: int) -> str:
    return "it" if count == 1 else "them"
