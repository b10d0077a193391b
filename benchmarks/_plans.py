"""A module of a training step with the compiler's plan for its memory, made by code."""

from __future__ import annotations

import random
from heapq import heappop, heappush
from pathlib import Path

from tests.fixtures.hlo import Module, shape

_WEIGHTS = 400
_FUSED = 2  # instructions within each fusion, which are most of a real module
_OPS = ("dot_general", "add", "tanh", "reduce_max", "broadcast_in_dim", "transpose", "exp")
#: Rows and columns of what is computed; XLA aligns what it takes to 64 bytes.
_SIZES = [(rows, columns) for rows in (8, 33, 512, 1_024) for columns in (7, 129, 1_024, 4_096)]


def make(buffers: int, path: Path) -> None:
    """Write an ``HloProto`` of ``buffers`` logical buffers and twice as many events to ``path``.

    Each scheduled instruction is a fusion that defines a buffer in one temporary allocation; most
    are freed some instructions later, a few much later, as what a backward pass needs.
    """
    chance, made = random.Random(7), Module("jit_train_step")
    frame = 0
    for line in range(300):
        frame = made.frame(f"layer_{line % 40}", f"/src/model_{line % 9}.py", line, frame % 25)
    weights = []
    for place in range(_WEIGHTS):
        rows, columns = _SIZES[place % len(_SIZES)]
        name = f"params__layers___{place}.1"
        weights.append(made.instruction(name, _shape(rows, columns), opcode="parameter"))
        size = 4 * rows * columns
        buffer = made.buffer(name, size)
        made.allocation(size, {buffer: 0}, parameter=place, kinds=["output"] * (place % 2))
    offsets: dict[int, int] = {}
    free: dict[int, list[int]] = {}
    ends: dict[int, list[tuple[int, int, int]]] = {}
    height, events, before = 0, [], weights[-2:]
    temporary = buffers - _WEIGHTS
    for place in range(temporary):
        rows, columns = chance.choice(_SIZES)
        name, body = f"fusion.{place}", f"fused_computation.{place}"
        op = f"jit(train_step)/transpose(jvp(layer{place * 40 // temporary}))/{_OPS[place % 7]}"
        about = {"op": op, "frame": place % 300 + 1}
        for inner in range(_FUSED):
            fused = f"{_OPS[(place + inner) % 7]}.{place}.{inner}"
            made.instruction(
                fused, _shape(rows, columns), into=body, opcode="add", scheduled=False, **about
            )
        config = b'{"outer_dimension_partitions":["2"]}' if place % 5 == 0 else b""
        at = made.instruction(
            name,
            _shape(rows, columns),
            opcode="fusion",
            operands=[*before, chance.choice(weights)],
            calls=[body],
            config=config,
            **about,
        )
        before = [before[-1], at]
        size = -(-4 * rows * columns // 64) * 64
        buffer = made.buffer(name, size)
        slots = free.setdefault(size, [])
        if slots:
            offsets[buffer] = heappop(slots)
        else:
            offsets[buffer], height = height, height + size
        events.append(f"+{buffer}@{name}")
        long = chance.random() < 0.05
        end = place + 1 + int(chance.expovariate(1 / (temporary / 8 if long else 20)))
        ends.setdefault(min(end, temporary - 1), []).append((buffer, size, offsets[buffer]))
        for gone, width, offset in ends.pop(place, ()):
            events.append(f"-{gone}@{name}")
            heappush(free[width], offset)
    made.allocation(height, offsets)
    path.write_bytes(made.trace(" ".join(events)).bytes())


def _shape(rows: int, columns: int) -> bytes:
    return shape("f32", rows, columns, order=(1, 0), tiles=[(8, 128)])
