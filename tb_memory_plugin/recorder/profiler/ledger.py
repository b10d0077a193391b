"""Chunks of profiler events, joined into one history with continuous lives.

What a life is for is guessed at its birth and amended while it lasts; the rules are in
docs/recording.md. Everything here is one pass over the items in order of time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tb_memory_plugin.recorder.engine import StepUsage
from tb_memory_plugin.recorder.labels import Name, Sighting, Storage
from tb_memory_plugin.recorder.profiler.columns import EventColumns, LifeColumns
from tb_memory_plugin.recorder.profiler.meter import Meter
from tb_memory_plugin.recorder.profiler.spans import SpanRows
from tb_memory_plugin.recorder.profiler.tree import Item, Kind, Op, Scope
from tb_memory_plugin.recorder.program import Span
from tb_memory_plugin.recording.schema import Action, Category
from tb_memory_plugin.recording.stacks import StackInterner

_PARAMETER, _GRADIENT = int(Category.PARAMETER), int(Category.GRADIENT)
_STATE, _ACTIVATION = int(Category.OPTIMIZER_STATE), int(Category.ACTIVATION)
_INPUT, _TEMPORARY = int(Category.INPUT), int(Category.TEMPORARY)
_DETAIL, _UNKNOWN = int(Category.AUTOGRAD_DETAIL), int(Category.UNKNOWN)

_FORWARD_KEPT = 200_000  # forward ops remembered for a backward pass that is yet to come


@dataclass(frozen=True, slots=True)
class _Forward:
    """What a backward function inherits from the op that made it."""

    stack: int
    module: str | None
    span: int


@dataclass
class Failure:
    """An allocation that could not be made."""

    time: int
    event: int  # row of the last event before it, -1 for none
    text: str = ""
    values: dict[str, int] = field(default_factory=dict)


@dataclass
class Ledger:
    """The history so far. ``devices`` grows as devices are seen ("cpu", "cuda:0")."""

    stacks: StackInterner
    spans: SpanRows
    devices: list[str] = field(default_factory=list)
    events: EventColumns = field(default_factory=EventColumns)
    lives: LifeColumns = field(default_factory=LifeColumns)
    #: Rows of lives of what is alive, by device and address (see ``_key``).
    live: dict[int, int] = field(default_factory=dict)
    #: Storages that were alive before the window and have not been freed.
    before: dict[int, Storage] = field(default_factory=dict)
    before_freed: list[Storage] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    usage: list[StepUsage] = field(default_factory=list)
    unseen_frees: int = 0
    unseen_births: int = 0
    _meters: list[Meter] = field(default_factory=list)
    _places: dict[Any, int] = field(default_factory=dict)  # torch.device: place in devices
    _forward: dict[int, tuple[Scope, _Forward | None]] = field(default_factory=dict)
    _parameters: set[int] = field(default_factory=set)
    _optimizer_steps: int = 0
    _in_optimizer: bool = False

    def add(self, items: Iterable[Item]) -> None:
        """Take in the items of a chunk, in order of time."""
        handlers: dict[Kind, Callable[[int, Any, Scope], None]] = {
            Kind.MEMORY: self._memory,
            Kind.OP: self._op,
            Kind.FORWARD: self._makes,
            Kind.GRADIENT: self._gradient,
            Kind.OPTIMIZER: self._optimizer,
            Kind.MODULE: self._module,
            Kind.OUT_OF_MEMORY: self._failure,
            Kind.SIGHTING: self._sighting,
            Kind.STEP: self._step,
        }
        for time, kind, payload, scope in items:
            handlers[kind](time, payload, scope)
        self._settle()

    def device(self, name: str) -> int:
        """The place of a device in ``devices``."""
        if name not in self.devices:
            self.devices.append(name)
            self._meters.append(Meter())
        return self.devices.index(name)

    # Allocations

    def _memory(self, time: int, fields: Any, scope: Scope) -> None:
        place = self._places.get(fields.device)
        if place is None:
            place = self._places[fields.device] = self.device(str(fields.device))
        address, size = fields.ptr, fields.alloc_size
        if size > 0:
            self._birth(time, place, address, size, scope)
        else:
            self._death(time, place, address, -size, scope)
        if self.devices[place] != "cpu":
            # The allocator's own counts; a CPU's start at zero with the profiler.
            self._meters[place].counted(fields.total_allocated, fields.total_reserved)

    def _birth(self, time: int, place: int, address: int, size: int, scope: Scope) -> None:
        key = _key(place, address)
        if key in self.live or key in self.before:
            self._unseen_free(time, key)
        op = scope.op
        stack, forward = self._stack(scope), None
        module = scope.module
        if op is not None and op.backward:
            forward = self._forward_of(op)
            if forward is not None:
                module = module or forward.module
        inherited = -1 if forward is None else forward.stack
        event = self.events.add(time, place, Action.ALLOC, address, size, stack, inherited)
        category, within = self._guess(op)
        self.live[key] = self.lives.add(
            event,
            category,
            None if op is None else op.name,
            module,
            within,
            op is not None and op.depends,
        )
        self._meters[place].moved(size)

    def _death(self, time: int, place: int, address: int, size: int, scope: Scope) -> None:
        key = _key(place, address)
        life = self.live.pop(key, None)
        if life is not None:
            size = self.events.size[self.lives.event[life]]
            self._end_of(life, scope)
        elif key in self.before:
            storage = self.before.pop(key)
            self.before_freed.append(storage)
            size = storage.size
        self.events.add(time, place, Action.FREE_COMPLETED, address, size, self._stack(scope))
        self._meters[place].moved(-size)

    def _end_of(self, life: int, scope: Scope) -> None:
        within = self.lives.scope[life]
        if within and self.lives.guessed[life]:
            here = -self._optimizer_steps if self._in_optimizer else 0
            if within == here or (scope.op is not None and within == scope.op.serial):
                self.lives.category[life] = _TEMPORARY

    def _unseen_free(self, time: int, key: int) -> None:
        """Its address is given out again, so it is gone: freed in a gap or by another thread."""
        self.unseen_frees += 1
        place, address = key >> 64, key & _ADDRESS
        self._death(time, place, address, 0, _NOWHERE)

    def _stack(self, scope: Scope) -> int:
        return -1 if scope.call is None else scope.call.stack(self.stacks)

    def _guess(self, op: Op | None) -> tuple[int, int]:
        """A category, and what the life must end in to be temporary."""
        if self._in_optimizer:
            return _STATE, -self._optimizer_steps
        if op is None:
            return _UNKNOWN, 0
        if op.backward:
            return (_GRADIENT if op.accumulates else _DETAIL), op.serial
        return (_ACTIVATION if op.depends else _UNKNOWN), op.serial

    # What the program does with them

    def _op(self, time: int, fields: Any, scope: Scope) -> None:
        """An outermost op reads its inputs."""
        op = scope.op
        if op is None:
            return
        if op.sequence >= 0:
            if op.backward:
                self._forward_of(op)
            else:
                self._forward[op.sequence] = (scope, None)
        found = [life for life in map(self._life, _tensors(fields.inputs)) if life is not None]
        if op.backward or self._in_optimizer or not found:
            return
        depends, category = self.lives.depends, self.lives.category
        op.depends = any(
            life < 0 or depends[life] or category[life] == _PARAMETER for life in found
        )
        if op.depends:
            for life in found:
                if life >= 0 and not depends[life] and category[life] == _UNKNOWN:
                    category[life] = _INPUT

    def _makes(self, time: int, sequence: int, scope: Scope) -> None:
        """An inner op makes the backward function ``sequence``."""
        self._forward[sequence] = (scope, None)

    def _life(self, tensor: Any) -> int | None:
        """The row of the life a tensor lies in; -1 for a parameter from before the window."""
        address = tensor.storage_data_ptr
        if not address:
            return None
        for place in range(len(self.devices)):
            key = _key(place, address)
            life = self.live.get(key)
            if life is not None:
                if self.lives.shape[life] < 0:
                    self._describe(life, tensor)
                return life
            if key in self.before:
                return -1 if self.before[key].name.category == Category.PARAMETER else None
        return -1 if address in self._parameters else None

    def _describe(self, life: int, tensor: Any) -> None:
        dtype = str(tensor.dtype).removeprefix("torch.")
        self.lives.dtype[life] = self.lives.dtypes.code(dtype)
        self.lives.shape[life] = self.lives.shapes.code(str(list(tensor.sizes)))

    def _forward_of(self, op: Op) -> _Forward | None:
        entry = self._forward.get(op.sequence)
        if entry is None:
            return None
        scope, found = entry
        if found is None:
            found = _Forward(self._stack(scope), scope.module, scope.span)
            self._forward[op.sequence] = (_NOWHERE, found)
            self.spans.link(found.span, op.span)
        return found

    def _gradient(self, time: int, tensor: Any, scope: Scope) -> None:
        life = self._life(tensor)
        if life is not None and life >= 0:
            self._certain(life, _GRADIENT)

    def _certain(self, life: int, category: int) -> None:
        self.lives.category[life] = category
        self.lives.guessed[life] = 0

    def _optimizer(self, time: int, begins: bool, scope: Scope) -> None:
        self._in_optimizer = begins
        self._optimizer_steps += begins

    def _module(self, time: int, module: Any, scope: Scope) -> None:
        """A module that was not tracked is called: the profiler lists its parameters."""
        for name, parameter, _ in module.parameters:
            life = self._life(parameter)
            if life is None and parameter.storage_data_ptr:
                self._parameters.add(parameter.storage_data_ptr)
            elif life is not None and life >= 0 and self.lives.guessed[life]:
                self._certain(life, _PARAMETER)
                self.lives.name[life] = self.lives.names.code(f"{module.cls_name}.{name}")

    def _failure(self, time: int, payload: None, scope: Scope) -> None:
        self.failures.append(Failure(time, len(self.events) - 1))

    def failed(self, time: int, text: str, values: dict[str, int]) -> None:
        """An allocation failed and the program was told so: the last failure, if it is open."""
        if not self.failures or self.failures[-1].text:
            self.failures.append(Failure(time, len(self.events) - 1))
        self.failures[-1].text, self.failures[-1].values = text, values

    # What the writer knows

    def _step(self, time: int, step: Span, scope: Scope) -> None:
        for device, meter in zip(self.devices, self._meters, strict=True):
            self.usage.append(meter.close(step.step or 0, device))

    def _sighting(self, time: int, sighting: Sighting, scope: Scope) -> None:
        for name, address in zip(sighting.names, sighting.addresses, strict=True):
            for place in range(len(self.devices)):
                life = self.live.get(_key(place, address))
                if life is not None:
                    self._name(life, name)
        for storage in sighting.storages or ():
            self._adopt(time, storage)
        if sighting.storages is not None:
            for key in [key for key, storage in self.before.items() if storage.gone()]:
                self._death(time, key >> 64, key & _ADDRESS, 0, _NOWHERE)

    def _name(self, life: int, name: Name) -> None:
        self._certain(life, int(name.category))
        self.lives.name[life] = self.lives.names.code(name.name)
        self.lives.dtype[life] = self.lives.dtypes.code(name.dtype)
        self.lives.shape[life] = self.lives.shapes.code(name.shape)

    def _adopt(self, time: int, storage: Storage) -> None:
        """A storage that is alive without a birth: older than the window, or born unseen."""
        place = self.device(storage.device)
        key = _key(place, storage.address)
        if key in self.live or key in self.before or storage.gone():
            return
        if not self._touched(place, storage):
            self.before[key] = storage
            self._meters[place].raised(storage.size)
            return
        self.unseen_births += 1
        self._birth(time, place, storage.address, storage.size, _NOWHERE)
        self._name(self.live[key], storage.name)

    def _touched(self, place: int, storage: Storage) -> bool:
        """Whether the window saw other allocations where the storage lies."""
        addresses = np.frombuffer(self.events.address, dtype=np.uint64)
        devices = np.frombuffer(self.events.device, dtype=np.int16)
        inside = (addresses >= storage.address) & (addresses < storage.address + storage.size)
        return bool((inside & (devices == place)).any())

    def _settle(self) -> None:
        """Let go of the chunk's tree: forward ops keep only what their backward needs."""
        if len(self._forward) > _FORWARD_KEPT:
            for sequence in sorted(self._forward)[: len(self._forward) // 2]:
                del self._forward[sequence]
        for sequence, (scope, found) in self._forward.items():
            if found is None and scope is not _NOWHERE:
                made = _Forward(self._stack(scope), scope.module, scope.span)
                self._forward[sequence] = (_NOWHERE, made)


_ADDRESS = (1 << 64) - 1
_NOWHERE = Scope()


def _key(place: int, address: int) -> int:
    return place << 64 | address


def _tensors(inputs: Iterable[Any]) -> Iterable[Any]:
    for entry in inputs:
        if hasattr(entry, "storage_data_ptr"):
            yield entry
        elif isinstance(entry, list):
            yield from (tensor for tensor in entry if hasattr(tensor, "storage_data_ptr"))
