"""The profiler's tree of one chunk, made into a flat list of what matters, in order of time."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from operator import attrgetter
from typing import Any

from tb_memory_plugin.recorder.profiler.frames import Call
from tb_memory_plugin.recorder.profiler.spans import SpanRows

_AUTOGRAD = "autograd::engine::evaluate_function: "
_ACCUMULATE = "torch::autograd::AccumulateGrad"
_OPTIMIZER_STEP = "Optimizer.step#"


class Kind(IntEnum):
    """What an item says."""

    MEMORY = 0  # payload: the allocation's fields
    OP = 1  # payload: the op's fields; scope.op is the outermost
    GRADIENT = 2  # payload: metadata of the tensor that becomes a gradient
    OPTIMIZER = 3  # payload: True at the begin, False at the end of an optimizer's step
    MODULE = 4  # payload: the module's info
    OUT_OF_MEMORY = 5
    SIGHTING = 6  # payload: labels.Sighting
    STEP = 7  # payload: the program's Span


class Op:
    """An outermost operator, or one function of the backward pass with all it runs."""

    __slots__ = ("accumulates", "backward", "depends", "name", "sequence", "serial", "span")

    def __init__(self, name: str, serial: int, sequence: int, span: int) -> None:
        self.backward = name.startswith(_AUTOGRAD)
        self.name = name.removeprefix(_AUTOGRAD)
        self.accumulates = self.name == _ACCUMULATE
        self.serial = serial  # unique in the recording
        self.sequence = sequence  # joins a forward op with its backward function
        self.span = span
        self.depends = False  # reads a parameter, or what was computed from one


@dataclass(slots=True)
class Scope:
    """Where in the program something happens."""

    call: Call | None = None  # innermost call
    function: Call | None = None  # innermost Python function
    module: str | None = None
    op: Op | None = None
    span: int = -1  # row of the enclosing span
    depth: int = 0


@dataclass(slots=True)
class Item:
    """Something that happened at one moment (unix ns)."""

    time: int
    kind: Kind
    payload: Any
    scope: Scope


class TreeReader:
    """Walks trees; ops are numbered and spans collected over all of them."""

    def __init__(self, modules: dict[int, str], spans: SpanRows, ours: set[str]) -> None:
        fields = importlib.import_module("torch._C._profiler")
        self._memory = fields._ExtraFields_Allocation
        self._op = fields._ExtraFields_TorchOp
        self._python = fields._ExtraFields_PyCall
        self._c = fields._ExtraFields_PyCCall
        self._user_scope = fields.RecordScope.USER_SCOPE
        self._function = fields.RecordScope.FUNCTION
        self._backward = fields.RecordScope.BACKWARD_FUNCTION
        self._failure = fields._ExtraFields_OutOfMemory
        self._modules = modules
        self._spans = spans
        self._ours = ours  # annotations that the writer records itself
        self._ops = 0

    def read(self, roots: Iterable[Any], stopped: int) -> list[Item]:
        """The items under ``roots`` in order of time; ``stopped``: when the profile ended."""
        items: list[Item] = []
        todo = [(root, Scope()) for root in roots]
        todo.reverse()
        while todo:
            node, scope = todo.pop()
            fields = node.extra_fields
            kind = type(fields)
            if kind is self._memory:
                items.append(Item(node.start_time_ns, Kind.MEMORY, fields, scope))
                continue
            if kind is self._failure:
                items.append(Item(node.start_time_ns, Kind.OUT_OF_MEMORY, None, scope))
                continue
            children = node.children
            if kind is self._op:
                scope = self._in_op(node, fields, scope, children, items, stopped)
            elif kind is self._python:
                if not children:
                    continue
                scope = self._in_python(node, fields, scope, items)
            elif kind is self._c:
                if not children:
                    continue
                scope = Scope(
                    Call(fields, scope.function, False),
                    scope.function,
                    scope.module,
                    scope.op,
                    scope.span,
                    scope.depth,
                )
            todo.extend((child, scope) for child in reversed(children))
        items.sort(key=attrgetter("time"))  # stable: the tree's order is kept within a nanosecond
        return items

    def _in_op(
        self,
        node: Any,
        fields: Any,
        scope: Scope,
        children: list[Any],
        items: list[Item],
        stopped: int,
    ) -> Scope:
        name, begin = node.name, node.start_time_ns
        end = min(node.end_time_ns, stopped)
        if fields.scope == self._user_scope:
            if name not in self._ours:
                self._spans.add("annotation", name, begin, end, node.start_tid, -1, 0)
            if name.startswith(_OPTIMIZER_STEP):
                items.append(Item(begin, Kind.OPTIMIZER, True, scope))
                items.append(Item(end, Kind.OPTIMIZER, False, scope))
            return scope
        span = self._spans.add("op", name, begin, end, node.start_tid, scope.span, scope.depth)
        if fields.scope not in (self._function, self._backward):
            inside = Scope(scope.call, scope.function, scope.module, scope.op, span)
            inside.depth = scope.depth + 1
            return inside
        op = scope.op
        if op is None:
            self._ops += 1
            op = Op(name, self._ops, fields.sequence_number, span)
        inside = Scope(scope.call, scope.function, scope.module, op, span, scope.depth + 1)
        items.append(Item(begin, Kind.OP, fields, inside))
        if name == _ACCUMULATE and children:
            self._gradient(children[0], inside, items)
        return inside

    def _gradient(self, node: Any, scope: Scope, items: list[Item]) -> None:
        """A new gradient is detached, one that is there is added to: first input of either."""
        if type(node.extra_fields) is self._op and node.name in ("aten::detach", "aten::add_"):
            inputs = node.extra_fields.inputs
            if inputs and hasattr(inputs[0], "storage_data_ptr"):
                items.append(Item(node.start_time_ns, Kind.GRADIENT, inputs[0], scope))

    def _in_python(self, node: Any, fields: Any, scope: Scope, items: list[Item]) -> Scope:
        call = Call(fields, scope.function, True)
        module = fields.module
        if module is None:
            return Scope(call, call, scope.module, scope.op, scope.span, scope.depth)
        name = self._modules.get(module.self_ptr)
        if name is None:  # not tracked: the classes it is nested in
            items.append(Item(node.start_time_ns, Kind.MODULE, module, scope))
            name = f"{scope.module}.{module.cls_name}" if scope.module else module.cls_name
        begin, end = node.start_time_ns, node.end_time_ns
        span = self._spans.add("module", name, begin, end, node.start_tid, scope.span, scope.depth)
        return Scope(call, call, name, scope.op, span, scope.depth + 1)
