"""The profiler's tree of one chunk, made into a flat list of what matters, in order of time."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from operator import itemgetter
from typing import Any

from tb_memory_plugin.recorder.profiler.frames import Call
from tb_memory_plugin.recorder.profiler.spans import SpanRows

_AUTOGRAD = "autograd::engine::evaluate_function: "
_ACCUMULATE = "torch::autograd::AccumulateGrad"
_GRADIENT_OPS = ("aten::detach", "aten::add_")
_OPTIMIZER_STEP = "Optimizer.step#"
#: Inputs of an op, and tensors of a list of them, whose shapes are kept.
_MOST_INPUTS = 32


class Kind(IntEnum):
    """What an item says."""

    MEMORY = 0  # payload: the allocation's fields
    OP = 1  # payload: the fields of an outermost op; scope.op is the op
    GRADIENT = 2  # payload: metadata of the tensor that becomes a gradient
    OPTIMIZER = 3  # payload: True at the begin, False at the end of an optimizer's step
    MODULE = 4  # payload: the module's info
    OUT_OF_MEMORY = 5
    SIGHTING = 6  # payload: labels.Sighting
    STEP = 7  # payload: the program's Span
    FORWARD = 8  # payload: the number of the backward function that an inner op makes


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
    span: int = -1  # row of the innermost span around it
    ops: int = 0  # how many ops are around it
    modules: int = 0

    def at(self, call: Call, function: Call | None = None) -> Scope:
        """The same within a call, which may be of a Python function."""
        return Scope(
            call,
            function or self.function,
            self.module,
            self.op,
            self.span,
            self.ops,
            self.modules,
        )

    def within(self, op: Op | None, span: int) -> Scope:
        """The same within an op that is row ``span``; ``op`` is the outermost one."""
        return Scope(self.call, self.function, self.module, op, span, self.ops + 1, self.modules)


NOWHERE = Scope()

#: Something that happened at one moment: unix ns, kind, payload, scope.
Item = tuple[int, Kind, Any, Scope]


class TreeReader:
    """Walks trees; ops are numbered and spans collected over all of them."""

    def __init__(
        self, modules: dict[int, str], spans: SpanRows, ours: set[str], most_nested: int
    ) -> None:
        fields = importlib.import_module("torch._C._profiler")
        self._memory = fields._ExtraFields_Allocation
        self._op = fields._ExtraFields_TorchOp
        self._python = fields._ExtraFields_PyCall
        self._c = fields._ExtraFields_PyCCall
        self._failure = fields._ExtraFields_OutOfMemory
        self._user_scope = fields.RecordScope.USER_SCOPE
        self._ops_scopes = (fields.RecordScope.FUNCTION, fields.RecordScope.BACKWARD_FUNCTION)
        self._modules = modules
        self._spans = spans
        self._ours = ours  # annotations that the writer records itself
        self._ops = 0
        self._most_nested = most_nested
        self.nested = 0  # spans of ops within ops, of which only so many are kept

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
                items.append((node.start_time_ns, Kind.MEMORY, fields, scope))
                continue
            children = node.children
            if kind is self._op:
                if scope.op is None:
                    scope = self._outermost(node, fields, scope, items, stopped)
                else:
                    scope = self._nested(node, fields, scope, children, items, stopped)
            elif kind is self._failure:
                items.append((node.start_time_ns, Kind.OUT_OF_MEMORY, None, scope))
            elif kind is self._python and children:
                scope = self._in_python(node, fields, scope, items)
            elif kind is self._c and children:
                scope = scope.at(Call(fields, scope.function, False))
            if len(children) == 1:
                todo.append((children[0], scope))
            elif children:
                todo += [(child, scope) for child in reversed(children)]
        items.sort(key=itemgetter(0))  # stable: the tree's order is kept within a nanosecond
        return items

    def _outermost(
        self, node: Any, fields: Any, scope: Scope, items: list[Item], stopped: int
    ) -> Scope:
        name, begin, thread = node.name, node.start_time_ns, node.start_tid
        end = min(node.end_time_ns, stopped)
        kind = fields.scope
        if kind == self._user_scope:
            if name not in self._ours:
                self._spans.add("annotation", name, begin, end, thread, -1, 0)
            if name.startswith(_OPTIMIZER_STEP):
                items.append((begin, Kind.OPTIMIZER, True, scope))
                items.append((end, Kind.OPTIMIZER, False, scope))
            return scope
        span = self._span_of(node, scope, stopped, _arguments(fields.inputs))
        op = None
        if kind in self._ops_scopes:
            self._ops += 1
            op = Op(name, self._ops, fields.sequence_number, span)
        inside = scope.within(op, span)
        if op is not None:
            items.append((begin, Kind.OP, fields, inside))
        return inside

    def _span_of(self, node: Any, scope: Scope, stopped: int, args: str | None = None) -> int:
        end = min(node.end_time_ns, stopped)
        return self._spans.add(
            "op",
            node.name,
            node.start_time_ns,
            end,
            node.start_tid,
            scope.span,
            scope.ops,
            args,
        )

    def _nested(
        self,
        node: Any,
        fields: Any,
        scope: Scope,
        children: list[Any],
        items: list[Item],
        stopped: int,
    ) -> Scope:
        """An op within an op: it says which backward function it makes, or sets a gradient."""
        op = scope.op
        if self.nested < self._most_nested:
            self.nested += 1
            span = self._span_of(node, scope, stopped)
            scope = scope.within(op, span) if children else scope
        if op is None:
            return scope
        if not op.backward:
            # Of the ops that share a number the last one makes the backward function.
            if fields.sequence_number > op.sequence:
                items.append((node.start_time_ns, Kind.FORWARD, fields.sequence_number, scope))
        elif op.accumulates and children and node.name == _ACCUMULATE:
            # A new gradient is detached, one that is there is added to: first input of either.
            first = children[0]
            if type(first.extra_fields) is self._op and first.name in _GRADIENT_OPS:
                inputs = first.extra_fields.inputs
                if inputs and hasattr(inputs[0], "storage_data_ptr"):
                    items.append((first.start_time_ns, Kind.GRADIENT, inputs[0], scope))
        return scope

    def _in_python(self, node: Any, fields: Any, scope: Scope, items: list[Item]) -> Scope:
        call = Call(fields, scope.function, True)
        module = fields.module
        if module is None:
            return scope.at(call, call)
        begin = node.start_time_ns
        name = self._modules.get(module.self_ptr)
        if name is None:  # not tracked: the classes it is nested in
            items.append((begin, Kind.MODULE, module, scope))
            name = f"{scope.module}.{module.cls_name}" if scope.module else module.cls_name
        span = self._spans.add(
            "module", name, begin, node.end_time_ns, node.start_tid, scope.span, scope.modules
        )
        return Scope(call, call, name, scope.op, span, scope.ops, scope.modules + 1)


def _arguments(inputs: list[Any]) -> str | None:
    """The shapes of an op's inputs as JSON, [] for what has none; None where none has."""
    shapes = [
        each.sizes if hasattr(each, "sizes") else _shapes(each) for each in inputs[:_MOST_INPUTS]
    ]
    # Lists of integers are written alike in Python and in JSON.
    return f'{{"Input Dims":{shapes}}}' if any(shapes) else None


def _shapes(value: Any) -> list[Any]:
    """The shapes of a list of tensors; nothing for another value."""
    if not isinstance(value, list):
        return []
    return [each.sizes for each in value[:_MOST_INPUTS] if hasattr(each, "sizes")]
