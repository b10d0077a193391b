"""Events and lives as they are found, kept in flat arrays: about 50 bytes an event."""

from __future__ import annotations

from array import array

from tb_memory_plugin.recording.schema import Action
from tb_memory_plugin.recording.vocabulary import Vocabulary


class EventColumns:
    """Columns of ``events`` in the order of time, all devices together; times unix ns."""

    def __init__(self) -> None:
        self.time, self.device = array("q"), array("h")
        self.action, self.address, self.size = array("B"), array("Q"), array("q")
        self.stack, self.forward_stack = array("i"), array("i")
        self.span = array("i")

    def __len__(self) -> int:
        return len(self.time)

    def add(
        self,
        time: int,
        device: int,
        action: Action,
        address: int,
        size: int,
        stack: int = -1,
        forward_stack: int = -1,
        span: int = -1,
    ) -> int:
        """A new event; its row. Time never goes back."""
        if self.time and time < self.time[-1]:
            time = self.time[-1]
        self.time.append(time)
        self.device.append(device)
        self.action.append(action)
        self.address.append(address)
        self.size.append(size)
        self.stack.append(stack)
        self.forward_stack.append(forward_stack)
        self.span.append(span)
        return len(self.time) - 1


class LifeColumns:
    """One row an allocation event: what is known of the allocation, amended as more is seen."""

    def __init__(self) -> None:
        self.names, self.dtypes, self.shapes = Vocabulary(), Vocabulary(), Vocabulary()
        self.ops, self.modules = Vocabulary(), Vocabulary()
        self.event = array("q")
        self.category, self.guessed = array("b"), array("b")
        self.name, self.dtype, self.shape = array("i"), array("i"), array("i")
        self.op, self.module = array("i"), array("i")
        self.scope = array("q")  # what it is temporary in, if it dies there; 0 for nothing
        self.depends = array("b")  # computed from a parameter

    def __len__(self) -> int:
        return len(self.event)

    def add(
        self,
        event: int,
        category: int,
        op: str | None,
        module: str | None,
        scope: int,
        depends: bool,
    ) -> int:
        """A new life with a guessed category; its row."""
        self.event.append(event)
        self.category.append(category)
        self.guessed.append(1)
        self.name.append(-1)
        self.dtype.append(-1)
        self.shape.append(-1)
        self.op.append(self.ops.code(op))
        self.module.append(self.modules.code(module))
        self.scope.append(scope)
        self.depends.append(depends)
        return len(self.event) - 1
