"""Chunks of profiler events, joined into one history with continuous lives.

One pass over the items in order of time. Where the profiler missed something, the history is kept
consistent and the miss is counted: see ``unseen_frees`` and ``unseen_births``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tb_memory_plugin.recorder.engine import StepUsage
from tb_memory_plugin.recorder.labels import Sighting, Storage
from tb_memory_plugin.recorder.profiler.columns import EventColumns, LifeColumns
from tb_memory_plugin.recorder.profiler.forward import Forwards, stack_of
from tb_memory_plugin.recorder.profiler.meter import Meter
from tb_memory_plugin.recorder.profiler.purpose import GRADIENT, OLDER_PARAMETER, Purposes
from tb_memory_plugin.recorder.profiler.spans import SpanRows
from tb_memory_plugin.recorder.profiler.tree import NOWHERE, Item, Kind, Scope
from tb_memory_plugin.recorder.program import Span
from tb_memory_plugin.recording.schema import Action, Category
from tb_memory_plugin.recording.stacks import StackInterner

#: Caching allocators give whole multiples of so many bytes.
_ROUNDING = 512
_ADDRESS = (1 << 64) - 1


@dataclass
class Failure:
    """An allocation that could not be made."""

    time: int
    event: int  # row of the last event before it, -1 for none
    text: str = ""
    values: dict[str, int] = field(default_factory=dict)


class Ledger:
    """The history so far. ``devices`` grows as devices are seen ("cpu", "cuda:0")."""

    def __init__(self, stacks: StackInterner, spans: SpanRows) -> None:
        self.stacks = stacks
        self.spans = spans
        self.devices: list[str] = []
        self.events = EventColumns()
        #: Rows of lives of what is alive, by device and address (see ``_key``).
        self.live: dict[int, int] = {}
        #: Storages that were alive before the window and have not been freed.
        self.before: dict[int, Storage] = {}
        self.before_freed: list[Storage] = []
        self.failures: list[Failure] = []
        self.usage: list[StepUsage] = []
        self.unknown_frees = 0  # of blocks from before the window whose size is not known
        self.unseen_frees = 0
        self.unseen_births = 0
        self._purposes = Purposes()
        self._forwards = Forwards(stacks, spans)
        self._meters: list[Meter] = []
        self._places: dict[Any, int] = {}  # torch.device: place in devices
        self._parameters: set[int] = set()  # addresses, of modules that nobody tracks

    @property
    def lives(self) -> LifeColumns:
        """A row for every birth, in order."""
        return self._purposes.lives

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
        time = 0
        for time, kind, payload, scope in items:
            handlers[kind](time, payload, scope)
        for key in [key for key, storage in self.before.items() if storage.gone()]:
            self._death(time, key >> 64, key & _ADDRESS, 0, NOWHERE)
        self._forwards.settle()

    def device(self, name: str) -> int:
        """The place of a device in ``devices``."""
        if name not in self.devices:
            self.devices.append(name)
            self._meters.append(Meter())
        return self.devices.index(name)

    def failed(self, time: int, text: str, values: dict[str, int]) -> None:
        """An allocation failed and the program was told so: the last failure, if it is open."""
        if not self.failures or self.failures[-1].text:
            self.failures.append(Failure(time, len(self.events) - 1))
        self.failures[-1].text, self.failures[-1].values = text, values

    # Births and deaths

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
            # Its address is given out again, so it is gone: freed in a gap or by another thread.
            self.unseen_frees += 1
            self._death(time, place, address, 0, NOWHERE)
        op, module, inherited = scope.op, scope.module, -1
        if op is not None and op.backward:
            forward = self._forwards.of(op)
            if forward is not None:
                module, inherited = module or forward.module, forward.stack
        stack = stack_of(scope, self.stacks)
        event = self.events.add(
            time, place, Action.ALLOC, address, size, stack, inherited, scope.span
        )
        self.live[key] = self._purposes.born(event, op, module)
        self._meters[place].moved(size)

    def _death(self, time: int, place: int, address: int, size: int, scope: Scope) -> None:
        key = _key(place, address)
        life = self.live.pop(key, None)
        if life is not None:
            size = self.events.size[self.lives.event[life]]
            self._purposes.died(life, scope.op)
        elif key in self.before:
            storage = self.before.pop(key)
            self.before_freed.append(storage)
            size = self.given(storage)
        elif self.devices[place] == "cpu":
            # Allocated before the window. Torch gives the size that was last profiled at this
            # address, which may have been another block's: better unknown than wrong.
            self.unknown_frees += 1
            return
        stack = stack_of(scope, self.stacks)
        freed = Action.FREE_COMPLETED
        self.events.add(time, place, freed, address, size, stack, span=scope.span)
        self._meters[place].moved(-size)

    def given(self, storage: Storage) -> int:
        """The bytes that the allocator gave for a storage from before the window."""
        if storage.device == "cpu":
            return storage.size
        return -(-storage.size // _ROUNDING) * _ROUNDING

    # What the program does with them

    def _op(self, _: int, fields: Any, scope: Scope) -> None:
        """An outermost op reads its inputs."""
        op = scope.op
        if op is None:
            return
        if op.sequence >= 0 and op.backward:
            self._forwards.of(op)
        elif op.sequence >= 0:
            self._forwards.makes(op.sequence, scope)
        found = [self._life(tensor) for tensor in _tensors(fields.inputs)]
        self._purposes.read(op, [life for life in found if life is not None])

    def _makes(self, _: int, sequence: int, scope: Scope) -> None:
        self._forwards.makes(sequence, scope)

    def _life(self, tensor: Any) -> int | None:
        """The row of the life a tensor lies in, or ``OLDER_PARAMETER``."""
        address = tensor.storage_data_ptr
        if not address:
            return None
        for place in range(len(self.devices)):
            key = _key(place, address)
            life = self.live.get(key)
            if life is not None:
                self._purposes.described(life, tensor)
                return life
            if key in self.before:
                older = self.before[key].name.category == Category.PARAMETER
                return OLDER_PARAMETER if older else None
        return OLDER_PARAMETER if address in self._parameters else None

    def _gradient(self, _: int, tensor: Any, scope: Scope) -> None:
        life = self._life(tensor)
        if life is not None and life >= 0:
            self._purposes.certain(life, GRADIENT)

    def _optimizer(self, _: int, begins: bool, scope: Scope) -> None:
        self._purposes.optimizer(begins)

    def _module(self, _: int, module: Any, scope: Scope) -> None:
        """A module that nobody tracks is called: the profiler lists its parameters."""
        for name, parameter, _gradient in module.parameters:
            life = self._life(parameter)
            if life is not None and life >= 0:
                self._purposes.parameter(life, f"{module.cls_name}.{name}")
            elif life is None and parameter.storage_data_ptr:
                self._parameters.add(parameter.storage_data_ptr)

    def _failure(self, time: int, _: None, scope: Scope) -> None:
        self.failures.append(Failure(time, len(self.events) - 1))

    # What the writer knows

    def _step(self, _: int, step: Span, scope: Scope) -> None:
        for device, meter in zip(self.devices, self._meters, strict=True):
            self.usage.append(meter.close(step.step or 0, device))

    def _sighting(self, time: int, sighting: Sighting, scope: Scope) -> None:
        for name, address in zip(sighting.names, sighting.addresses, strict=True):
            for place in range(len(self.devices)):
                life = self.live.get(_key(place, address))
                if life is not None:
                    self._purposes.named(life, name)
        for storage in sighting.storages or ():
            self._adopt(time, storage)

    def _adopt(self, time: int, storage: Storage) -> None:
        """A storage that is alive without a birth: older than the window, or born unseen."""
        place = self.device(storage.device)
        key = _key(place, storage.address)
        if key in self.live or key in self.before:
            return
        if self._touched(place, storage):
            self.unseen_births += 1
            self._birth(time, place, storage.address, self.given(storage), NOWHERE)
            self._purposes.named(self.live[key], storage.name)
        else:
            self.before[key] = storage
            self._meters[place].raised(self.given(storage))

    def _touched(self, place: int, storage: Storage) -> bool:
        """Whether the window saw other allocations where the storage lies."""
        addresses = np.frombuffer(self.events.address, dtype=np.uint64)
        devices = np.frombuffer(self.events.device, dtype=np.int16)
        inside = (addresses >= storage.address) & (addresses < storage.address + storage.size)
        return bool((inside & (devices == place)).any())


def _key(place: int, address: int) -> int:
    return place << 64 | address


def _tensors(inputs: Iterable[Any]) -> Iterator[Any]:
    for entry in inputs:
        if hasattr(entry, "storage_data_ptr"):
            yield entry
        elif isinstance(entry, list):
            yield from (tensor for tensor in entry if hasattr(tensor, "storage_data_ptr"))
