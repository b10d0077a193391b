"""A training loop written down as a recording, with the curve that it must be drawn as."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.histories import Event, history

MIB = 1 << 20
STEPS, LAYERS = 3, 40
WEIGHT, STATE, ACTIVATION = 6 * MIB, 12 * MIB, 21 * MIB + 4
#: Held for one event only, in the middle of the second backward: the peak, one event wide.
SPIKE = 700 * MIB + 123
SAID = {"forward_stack": 0, "compile_context": "0/1", "user_metadata": "epoch 3"}
RESERVED = 2_600 * MIB
CAPACITY = 2_800 * MIB
SEGMENT = 1 << 40
#: Activations are of these by turns; gradients have a stream and a pool of their own.
MODULES, SIDE = ("attention", "feedforward"), {"stream": 7, "pool": 1}
STACKS = [
    [("linear", "/env/torch/nn/functional.py", 9), ("forward", "/app/model.py", 88)],
    [("backward", "/env/torch/autograd.py", 3), ("train_step", "/app/train.py", 41)],
]


@dataclass(frozen=True)
class Loop:
    """The recording, and allocated bytes after each event as a plain sum says."""

    recording: Recording
    allocated: list[int]
    #: First and past-the-last event of each step.
    steps: list[tuple[int, int]]

    @property
    def peak(self) -> int:
        """Ordinal of the first event after which most is allocated."""
        return self.allocated.index(max(self.allocated))

    @property
    def peak_bytes(self) -> int:
        """The most that is allocated."""
        return max(self.allocated)


class _Writer:
    """Writes events down and keeps what an oracle needs: a sum, nothing of the package's."""

    def __init__(self, clock: Callable[[int], int]) -> None:
        #: When an event is, ns.
        self.clock = clock
        self.events: list[Event] = []
        self.labels: list[dict[str, Any]] = []
        self.marks: list[dict[str, Any]] = []
        self.allocated: list[int] = []
        self._sizes: dict[int, int] = {}
        self._free: dict[int, list[int]] = {}
        self._now = 0
        self._next = SEGMENT

    def _event(self, action: str, address: int, size: int, **extra: Any) -> None:
        extra["time"] = self.clock(self.at)
        self.events.append((action, address, size, extra))
        self.allocated.append(self._now)

    def alloc(
        self,
        size: int,
        category: str,
        op: str,
        stack: int = 0,
        *,
        names: Mapping[str, str] | None = None,
        **more: Any,
    ) -> int:
        again = self._free.setdefault(size, [])
        address = again.pop() if again else self._next
        if address == self._next:
            self._next += -(-size // 512) * 512
        self._sizes[address] = size
        self._now += size
        self.labels.append(
            {
                "event": len(self.events),
                "address": address,
                "category": category,
                "op": op,
                **(names or {}),
            }
        )
        self._event("alloc", address, size, stack=stack, **more)
        return address

    def free(self, address: int) -> None:
        size = self._sizes.pop(address)
        self._event("request", address, size)
        self._now -= size
        self._event("free", address, size)
        self._free[size].append(address)

    def segment(self, size: int) -> None:
        self._event("segment", SEGMENT, size)

    def snapshot(self) -> None:
        self.marks.append({"event": self.at, "time": self.clock(self.at), "kind": "snapshot"})
        self._event("snapshot", 0, 0)

    def blocks(self) -> list[dict[str, Any]]:
        return [{"address": address, "requested": size} for address, size in self._sizes.items()]

    @property
    def at(self) -> int:
        return len(self.events)


def uneven(event: int) -> int:
    """A clock by which twenty events come close together or at once, then none for long."""
    gaps = (0, 20, 60)
    return sum(12_000 if each % 20 == 19 else gaps[each % 3] for each in range(event))


def loop(clock: Callable[[int], int] = lambda event: 1000 * event) -> Loop:
    """Three steps of forward, backward and optimizer; 1000 ns between events."""
    writer = _Writer(clock)
    spans: list[dict[str, Any]] = []
    steps: list[tuple[int, int]] = []

    def span(kind: str, name: str, begin: int, **extra: Any) -> None:
        times = {"begin": clock(begin), "end": clock(writer.at)}
        row = {"device": 0, "track": "thread 1", "kind": kind, "name": name, "depth": 0}
        spans.append({**row, **times, **extra})

    writer.segment(RESERVED)
    for layer in range(LAYERS):
        names = {"name": f"layers.{layer}.weight"}
        writer.alloc(WEIGHT, "parameter", "aten::empty", names=names)
    state: list[int] = []
    for step in range(STEPS):
        begin = writer.at
        held = [
            writer.alloc(ACTIVATION, "activation", "aten::mm", names={"module": MODULES[layer % 2]})
            for layer in range(LAYERS)
        ]
        span("annotation", "forward", begin)
        middle = writer.at
        gradients = []
        for layer, address in enumerate(reversed(held)):
            gradients.append(writer.alloc(WEIGHT, "gradient", "aten::mm_backward", 1, **SIDE))
            if (step, layer) == (1, LAYERS // 2):
                writer.free(writer.alloc(SPIKE, "temporary", "aten::cat", 1, **SAID))
            writer.free(address)
        span("annotation", "backward", middle)
        after = writer.at
        state = state or [writer.alloc(STATE, "optimizer_state", "aten::zeros") for _ in held]
        for address in gradients:
            writer.free(address)
        span("annotation", "Optimizer.step#AdamW.step", after)
        span("step", f"step {step}", begin, step=step)
        steps.append((begin, writer.at))
        writer.snapshot()
    recording = history(
        writer.events,
        labels=writer.labels,
        spans=spans,
        marks=writer.marks,
        stacks=STACKS,
        blocks=writer.blocks(),
        segments=[{"address": SEGMENT, "size": RESERVED}],
    )
    devices = [{"key": "0", "name": "cuda:0", "capacity": CAPACITY}]
    meta = {**recording.meta, "devices": devices}
    return Loop(replace(recording, meta=meta), writer.allocated, steps)
