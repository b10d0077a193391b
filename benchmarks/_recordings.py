"""A derived recording of many events, made in columns: seconds where a snapshot takes minutes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.recording import Recording, save
from tb_memory_plugin.recording.schema import Action, Category
from tb_memory_plugin.recording.stacks import StackInterner

_GAP_NS = 1_400
_SLOT = 1 << 27  # bytes of addresses an allocation has to itself
_CATEGORIES = len(Category)


def training(events: int, stacks: int = 800, depth: int = 40, seed: int = 0) -> Recording:
    """A training job: ``events`` entries, about a third of them births, in 200 steps.

    Lives are short, of a step, or of the whole recording; every allocation has a stack, an op, a
    module, a category, a dtype and a shape, so that no grouping is cheaper than it can get.
    """
    random = np.random.default_rng(seed)
    births = events // 3 + 1
    born = np.sort(random.random(births)) * births
    lengths = random.choice([20.0, births / 200, 10.0 * births], births, p=[0.7, 0.28, 0.02])
    died = born + random.exponential(lengths)
    moments = np.concatenate([born, died, died])
    kinds = np.repeat([Action.ALLOC, Action.FREE_REQUESTED, Action.FREE_COMPLETED], births)
    owner = np.tile(np.arange(births), 3)
    inside = np.flatnonzero(moments < births)
    order = inside[np.lexsort((kinds[inside], moments[inside]))]
    kinds, owner = kinds[order], owner[order]
    count = len(order)
    size = (2 ** random.uniform(9, 26, births)).astype(np.int64)
    address = np.uint64(0x7F << 40) + np.arange(births, dtype=np.uint64) * np.uint64(_SLOT)
    stack = random.integers(0, stacks, births)
    time = np.arange(count) * _GAP_NS + random.integers(0, _GAP_NS, count)
    live = np.flatnonzero(died >= births)
    edges = np.linspace(0, count * _GAP_NS, 201).astype(np.int64)
    step = np.arange(200)
    zeros = np.zeros(count, dtype=np.int16)
    birth_rows = np.flatnonzero(kinds == Action.ALLOC)
    born_owner = owner[birth_rows]
    tables = {
        "events": builder.table(
            "events",
            {
                "device": zeros,
                "time": time,
                "action": kinds,
                "address": address[owner],
                "size": size[owner],
                "stream": zeros,
                "pool": zeros,
                "stack": stack[owner],
            },
        ),
        "labels": builder.table(
            "labels",
            {
                "device": zeros[: len(birth_rows)],
                "event": birth_rows,
                "address": address[born_owner],
                "category": (stack[born_owner] % _CATEGORIES),
                **{
                    name: _words(name, stack[born_owner] % distinct)
                    for name, distinct in (
                        ("op", 60),
                        ("module", 300),
                        ("dtype", 4),
                        ("shape", 500),
                    )
                },
            },
        ),
        "blocks": builder.table(
            "blocks",
            {
                "device": zeros[: len(live)],
                "segment": zeros[: len(live)],
                "address": address[live],
                "size": (size[live] + 511) // 512 * 512,
                "requested": size[live],
                "state": zeros[: len(live)],
            },
        ),
        "segments": builder.table(
            "segments",
            {
                "device": zeros[:1],
                "address": address[:1],
                "size": np.array([births * _SLOT]),
                "pool": zeros[:1],
                "stream": zeros[:1],
            },
        ),
        "spans": builder.table(
            "spans",
            {
                "kind": ["step"] * 200 + ["annotation"] * 200,
                "name": [f"ProfilerStep#{n}" for n in step] + ["Optimizer.step"] * 200,
                "begin": np.concatenate([edges[:-1], edges[:-1] + np.diff(edges) * 3 // 4]),
                "end": np.concatenate([edges[1:], edges[1:]]),
                "step": np.concatenate([step, step]),
            },
        ),
        **stack_tables(stacks, depth),
    }
    meta = {
        "format": "made by code",
        "basis": "requested",
        "devices": [{"key": "0", "name": "cuda:0"}],
        "pools": [[0, 0]],
        "time_origin_ns": 0,
    }
    return builder.recording(meta, tables)


def write(events: int, path: Path) -> Path:
    """The recording of :func:`training`, derived, in a file as the cache keeps it."""
    save(derive(training(events)), path)
    return path


def _words(prefix: str, codes: np.ndarray) -> list[str]:  # type: ignore[type-arg]
    words = [f"{prefix}{code}" for code in range(int(codes.max(initial=0)) + 1)]
    return [words[code] for code in codes.tolist()]


def stack_tables(stacks: int, depth: int) -> dict[str, object]:
    """The tables of ``stacks`` stacks, each ``depth`` frames deep and another."""
    interner = StackInterner()
    for stack in range(stacks):
        frames = [("train", "/home/me/train.py", 10), ("main", "/home/me/train.py", 90)]
        while len(frames) < depth:
            place = len(frames)
            line = (stack * 31 + place * 7) % 900
            own = place % 3 == 0
            file = f"/home/me/model{place % 5}.py" if own else _LIBRARY
            frames.append((f"f{(stack + place) % 97}", file, line))
        interner.stack([interner.frame(*frame) for frame in reversed(frames)])
    return dict(interner.tables())


_LIBRARY = "/env/lib/python3.12/site-packages/torch/nn/modules/module.py"
