"""A model and its optimizer, made into names for the storages they hold."""

from __future__ import annotations

import importlib
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from tb_memory_plugin.recording.schema import Category

Reference = Callable[[], Any]  # a weak reference


@dataclass(frozen=True, slots=True)
class Name:
    """What is known of a storage: which tensor of the model it is of."""

    category: Category
    name: str
    dtype: str
    shape: str


@dataclass(frozen=True, slots=True)
class Storage:
    """A storage that was alive when it was looked at."""

    address: int
    size: int  # bytes of all of it
    device: str  # "cpu", "cuda:0"
    name: Name
    gone: Callable[[], bool]  # whether it has been freed since


@dataclass(frozen=True, slots=True)
class Sighting:
    """What was alive at one moment (unix ns)."""

    time: int
    names: list[Name]
    addresses: list[int]
    #: The same with all particulars, where everything tracked was looked at.
    storages: list[Storage] | None = None


class Listener(Protocol):
    """Where sightings go: a list, for one that takes all of them out again."""

    def append(self, sighting: Sighting, /) -> Any:
        """Take in one more."""


@dataclass
class Tracker:
    """The models and optimizers given to ``track``, looked at now and then.

    It keeps none of them alive, and looks at nothing while nobody listens. Gradients are looked
    at while the profiler runs, so through ``map``: calls that C makes are not traced, where a loop
    in Python would cost three profiler events for every tensor.
    """

    modules: dict[int, str] = field(default_factory=dict)  # id(module): dotted name
    _listeners: list[Listener] = field(default_factory=list)
    _named: dict[int, tuple[Name, Reference]] = field(default_factory=dict)  # by id(tensor)
    _leaves: list[Reference] = field(default_factory=list)
    _gradient_names: list[Name] = field(default_factory=list)
    _optimizers: list[Reference] = field(default_factory=list)
    _hooks: list[Any] = field(default_factory=list)

    def track(self, model: Any, optimizer: Any, prefix: str) -> None:
        """Remember a module's parameters and buffers, and what its optimizer keeps for them."""
        if model is not None:
            for path, module in model.named_modules():
                self.modules[id(module)] = _joined(prefix, path) or type(module).__name__
            for path, parameter in model.named_parameters():
                self._add(_joined(prefix, path), parameter)
            for path, buffer in model.named_buffers():
                self._add(_joined(prefix, path), buffer)
        if optimizer is not None:
            self._optimizers.append(weakref.ref(optimizer))
            for place, group in enumerate(optimizer.param_groups):
                for number, parameter in enumerate(group["params"]):
                    self._add(_joined(prefix, f"group{place}.{number}"), parameter)
            hook = getattr(optimizer, "register_step_pre_hook", None)
            if hook is not None:
                self._hooks.append(hook(self._before_optimizer))
        self.look()

    def listen(self, listener: Listener) -> None:
        """Give ``listener`` what is seen from now on."""
        if not any(each is listener for each in self._listeners):
            self._listeners.append(listener)

    def leave(self, listener: Listener) -> None:
        """``listener`` is given nothing more."""
        self._listeners = [each for each in self._listeners if each is not listener]

    def look(self) -> None:
        """Note all storages that are alive now."""
        if self._listeners:
            found = self.storages()
            names, addresses = [each.name for each in found], [each.address for each in found]
            self._tell(Sighting(time.time_ns(), names, addresses, found))

    def storages(self) -> list[Storage]:
        """All storages that are alive now."""
        return list(self._storages())

    def look_at_gradients(self) -> None:
        """Note the storages of the gradients that are alive now."""
        if not self._listeners:
            return
        leaves = [reference() for reference in self._leaves]
        gradients = [None if leaf is None else leaf.grad for leaf in leaves]
        alive = [place for place, gradient in enumerate(gradients) if gradient is not None]
        if alive:
            names = [self._gradient_names[place] for place in alive]
            addresses = _addresses([gradients[place] for place in alive])
            self._tell(Sighting(time.time_ns(), names, addresses))

    def close(self) -> None:
        """Take the hooks off the optimizers and let go of the model."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        self._listeners.clear()
        self._optimizers.clear()
        self._named.clear()
        self._leaves.clear()
        self._gradient_names.clear()

    def _tell(self, sighting: Sighting) -> None:
        for listener in self._listeners:
            listener.append(sighting)

    def _before_optimizer(self, *_: Any) -> None:
        # Inside somebody's optimizer.step: whatever goes wrong here must not reach it.
        try:
            self.look_at_gradients()
        except Exception:
            self.close()

    def _add(self, name: str, tensor: Any) -> None:
        known = self._named.get(id(tensor))
        if known is not None and known[1]() is tensor:
            return
        self._named[id(tensor)] = (_named(Category.PARAMETER, name, tensor), weakref.ref(tensor))
        if tensor.requires_grad and tensor.is_leaf:
            self._leaves.append(weakref.ref(tensor))
            self._gradient_names.append(_named(Category.GRADIENT, name, tensor))

    def _storages(self) -> Iterator[Storage]:
        for name, reference in self._named.values():
            yield from _storage(name, reference())
        for name, reference in zip(self._gradient_names, self._leaves, strict=True):
            yield from _storage(name, getattr(reference(), "grad", None))
        for reference in self._optimizers:
            for parameter, state in getattr(reference(), "state", {}).items():
                if not isinstance(state, dict):
                    continue
                of = self._named.get(id(parameter))
                for key, value in state.items():
                    path = _joined(of[0].name if of else "", str(key))
                    for tensor in _tensors(value):
                        name = _named(Category.OPTIMIZER_STATE, path, tensor)
                        yield from _storage(name, tensor)


def _addresses(tensors: list[Any]) -> list[int]:
    torch = importlib.import_module("torch")
    try:
        storages = map(torch.Tensor.untyped_storage, tensors)
        return list(map(torch.UntypedStorage.data_ptr, storages))
    except _WITHOUT_STORAGE:
        return [_address(tensor) for tensor in tensors]


#: What asking a wrapper, a sparse, lazy or meta tensor for its storage raises.
_WITHOUT_STORAGE = (RuntimeError, NotImplementedError, TypeError, AttributeError)


def _address(tensor: Any) -> int:
    try:
        return int(tensor.untyped_storage().data_ptr())
    except _WITHOUT_STORAGE:
        return 0


def _storage(name: Name, tensor: Any) -> Iterator[Storage]:
    address = _address(tensor)
    if not address:
        return
    storage = tensor.untyped_storage()
    weak = importlib.import_module("torch.multiprocessing.reductions").StorageWeakRef(storage)
    yield Storage(address, int(storage.nbytes()), str(tensor.device), name, weak.expired)


def _named(category: Category, name: str, tensor: Any) -> Name:
    shape = str(list(tensor.shape))
    return Name(category, name, str(tensor.dtype).removeprefix("torch."), shape)


def _tensors(value: Any) -> Iterator[Any]:
    if hasattr(value, "untyped_storage"):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _joined(prefix: str, path: str) -> str:
    return f"{prefix}.{path}" if prefix and path else prefix or path
