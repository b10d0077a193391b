"""Snapshots of a long training job on the simulated allocator, of any number of events.

Parameters, then steps: activations that the backward pass frees in reverse order, temporaries,
gradients until the step's end, optimizer state from the first step on, a little that leaks. The
length of the sequences differs from step to step, and so do sizes and what the allocator can
reuse. Deterministic by seed; objects are shared as the real pickler finds them.
"""

from __future__ import annotations

import gc
import pickle
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from demo.allocator import Block, CachingAllocator, History, SimulatedDriver, snapshot

START_US = 1_777_000_000_000_000
CAPACITY = 80 << 30
LAYERS = 96
KINDS = 8  # of layers: each has call sites of its own
OPERATORS = 30  # a layer
WEIGHTS = 12  # a layer
LENGTHS = (640, 896, 1_024, 1_152)
CLEANING = 50  # steps from one emptying of the cache to the next
_KIB = 1 << 10

Frames = list[dict[str, Any]]


class _Full(Exception):
    """There are as many entries as are wanted."""


def training(events: int, seed: int = 0, depth: int = 40) -> dict[str, Any]:
    """A snapshot of ``events`` entries (or one or two more), a third of them allocations."""
    job = _Job(events, seed, depth)
    with suppress(_Full):
        job.run()
    return snapshot([job.allocator], job.annotations)


def write(events: int, path: Path) -> Path:
    """:func:`training`, pickled as PyTorch does it. Switches this process's collector off."""
    gc.disable()  # millions of dictionaries, none of which is garbage
    with path.open("wb") as file:
        pickle.dump(training(events), file, protocol=4)
    return path


class _Job:
    def __init__(self, events: int, seed: int, depth: int) -> None:
        self._random = random.Random(seed)
        self._now = START_US
        self._wanted = events
        self._history = History(clock=self._tick)
        self.allocator = CachingAllocator(SimulatedDriver(CAPACITY), history=self._history)
        self.annotations: list[dict[str, Any]] = []
        self._stacks = _stacks(depth)
        self._weights = [
            [(7 << 18) * (1 + (weight * 7 + layer) % 5) for weight in range(WEIGHTS)]
            for layer in range(LAYERS)
        ]

    def run(self) -> None:
        """Steps until there are enough entries."""
        for layer, sizes in enumerate(self._weights):
            for weight, size in enumerate(sizes):
                self._malloc(size, "build", layer, weight)
        step = 0
        while True:
            self._annotate(f"ProfilerStep#{step}", "START")
            self._step(step)
            self._annotate(f"ProfilerStep#{step}", "END")
            step += 1

    def _step(self, step: int) -> None:
        length = self._random.choice(LENGTHS)
        gradients = self._backward(self._forward(length), length)
        self._annotate("Optimizer.step#AdamW.step", "START")
        for layer, sizes in enumerate(self._weights):
            for weight, size in enumerate(sizes):
                if step == 0:
                    self._malloc(size, "state", layer, weight)
                    self._malloc(size, "state", layer, weight)
                elif weight % 4 == 0:
                    self._free(self._malloc(size, "update", layer, weight), "update", layer, weight)
        self._annotate("Optimizer.step#AdamW.step", "END")
        for layer, weight, block in gradients:
            self._free(block, "zero", layer, weight)
        self._malloc(4, "log", 0, 0)  # a loss that is kept, and now and then what led to it
        if step % 5 == 0:
            self._malloc(1_000 * length, "log", 1, 0)
        if step % CLEANING == CLEANING - 1:
            self.allocator.empty_cache(self._frames("log", 2, 0))

    def _forward(self, length: int) -> list[tuple[int, int, Block]]:
        """What the backward pass will need, in the order it was made."""
        kept = []
        for layer in range(LAYERS):
            for operator in range(OPERATORS):
                block = self._malloc(_bytes(operator, length), "forward", layer, operator)
                if operator % 3:
                    kept.append((layer, operator, block))
                else:
                    self._free(block, "forward", layer, operator)
        return kept

    def _backward(
        self, kept: list[tuple[int, int, Block]], length: int
    ) -> list[tuple[int, int, Block]]:
        """The gradients. Frees what was kept, last first."""
        gradients: list[tuple[int, int, Block]] = []
        flowing: Block | None = None
        for layer, operator, block in reversed(kept):
            made = self._malloc(_bytes(operator, length), "backward", layer, operator)
            if flowing is not None:
                self._free(flowing, "backward", layer, operator)
            flowing = made
            if operator % 3 == 1 and operator // 3 < WEIGHTS - 2:
                weight = operator // 3
                size = self._weights[layer][weight]
                gradients.append((layer, weight, self._malloc(size, "gradient", layer, weight)))
            if operator % 5 == 0:
                workspace = self._malloc(8_519_680, "backward", layer, operator)
                self._free(workspace, "backward", layer, operator)
            self._free(block, "backward", layer, operator)
        if flowing is not None:
            self._free(flowing, "backward", 0, 0)
        return gradients

    def _malloc(self, size: int, phase: str, layer: int, site: int) -> Block:
        self._check()
        return self.allocator.malloc(size, frames=self._frames(phase, layer, site))

    def _free(self, block: Block, phase: str, layer: int, site: int) -> None:
        self._check()
        self.allocator.free(block, self._frames(phase, layer, site))

    def _check(self) -> None:
        if len(self._history.entries) >= self._wanted:
            raise _Full

    def _frames(self, phase: str, layer: int, site: int) -> Frames:
        """A new list of the same frames: one for what one call does, as PyTorch has it."""
        return self._stacks[phase, layer % KINDS, site][:]

    def _annotate(self, name: str, stage: str) -> None:
        self.annotations.append(
            {"stage": stage, "name": name, "device": 0, "time_us": self._tick()}
        )

    def _tick(self) -> int:
        self._now += 1 + self._now % 5
        return self._now


def _bytes(operator: int, length: int) -> int:
    """What an operator's result takes: from a few numbers to tens of MiB."""
    widths = (4, 1 * _KIB, 4 * _KIB, 4 * _KIB, 11 * _KIB, 16 * _KIB, 2, 32 * _KIB, 8 * _KIB, 256)
    return widths[operator % len(widths)] * length + 4 * operator


def _stacks(depth: int) -> dict[tuple[str, int, int], Frames]:
    """A stack of ``depth`` frames for every phase, kind of layer and call site."""
    made: dict[tuple[str, str, int], dict[str, Any]] = {}

    def frame(name: str, filename: str, line: int) -> dict[str, Any]:
        key = (name, filename, line)
        return made.setdefault(key, {"name": name, "filename": filename, "line": line})

    def frames(phase: str, kind: int, site: int) -> Iterator[dict[str, Any]]:
        yield frame(f"{phase}_{site % 7}", "torch/nn/functional.py", 40 * site)
        yield frame(f"{phase}_site", f"job/model/{phase}.py", 100 * kind + site)
        for level in range(depth - 8):
            if level % 2:
                yield frame("forward", f"job/model/block_{level % 5}.py", 10 * level + kind)
            else:
                yield frame("_call_impl", "torch/nn/modules/module.py", 1_750 + level)
        for level in range(6):
            yield frame(f"{phase if level == 0 else 'main'}_{level}", "job/train.py", 200 - level)

    sites = {"forward": OPERATORS, "backward": OPERATORS, "log": 1}
    phases = ("build", "forward", "backward", "gradient", "state", "update", "zero", "log")
    return {
        (phase, kind, site): list(frames(phase, kind, site))
        for phase in phases
        for kind in range(KINDS)
        for site in range(sites.get(phase, WEIGHTS))
    }
