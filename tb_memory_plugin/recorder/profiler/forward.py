"""Forward ops, remembered for the backward functions they make."""

from __future__ import annotations

from dataclasses import dataclass, field

from tb_memory_plugin.recorder.profiler.spans import SpanRows
from tb_memory_plugin.recorder.profiler.tree import Op, Scope
from tb_memory_plugin.recording.stacks import StackInterner

_KEPT = 20_000  # ops remembered for a backward pass that is yet to come


@dataclass(frozen=True, slots=True)
class Forward:
    """What a backward function inherits from the op that made it."""

    stack: int
    module: str | None
    span: int


@dataclass
class Forwards:
    """Forward ops by the sequence number that autograd gives their backward function."""

    stacks: StackInterner
    spans: SpanRows
    _scopes: dict[int, Scope] = field(default_factory=dict)  # of the chunk being read
    _known: dict[int, Forward] = field(default_factory=dict)

    def makes(self, sequence: int, scope: Scope) -> None:
        """What happens in ``scope`` makes the backward function ``sequence``."""
        self._scopes[sequence] = scope
        self._known.pop(sequence, None)

    def of(self, op: Op) -> Forward | None:
        """The forward of a backward function; None if it was not seen."""
        found = self._known.get(op.sequence)
        scope = self._scopes.pop(op.sequence, None)
        if scope is not None:
            found = self._known[op.sequence] = self._made(scope)
            self.spans.link(found.span, op.span)
        return found

    def settle(self) -> None:
        """The chunk is over: keep of its tree only what a later backward pass needs."""
        for sequence, scope in self._scopes.items():
            self._known[sequence] = self._made(scope)
        self._scopes.clear()
        if len(self._known) > _KEPT:
            for sequence in sorted(self._known)[: len(self._known) // 2]:
                del self._known[sequence]

    def _made(self, scope: Scope) -> Forward:
        return Forward(stack_of(scope, self.stacks), scope.module, scope.span)


def stack_of(scope: Scope, stacks: StackInterner) -> int:
    """The stack of what happens in ``scope``; -1 for none."""
    return -1 if scope.call is None else scope.call.stack(stacks)
