"""What allocations are for: guessed at birth, amended while they live (see docs/recording.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tb_memory_plugin.recorder.labels import Name
from tb_memory_plugin.recorder.profiler.columns import LifeColumns
from tb_memory_plugin.recorder.profiler.tree import Op
from tb_memory_plugin.recording.schema import Category

# As plain integers: enum members are slow in the loop over events.
PARAMETER, GRADIENT = int(Category.PARAMETER), int(Category.GRADIENT)
_STATE, _ACTIVATION = int(Category.OPTIMIZER_STATE), int(Category.ACTIVATION)
_INPUT, _TEMPORARY = int(Category.INPUT), int(Category.TEMPORARY)
_DETAIL, _UNKNOWN = int(Category.AUTOGRAD_DETAIL), int(Category.UNKNOWN)

#: Stands for a parameter from before the window among rows of lives.
OLDER_PARAMETER = -1


@dataclass
class Purposes:
    """The categories and names of lives."""

    lives: LifeColumns = field(default_factory=LifeColumns)
    _optimizer_steps: int = 0
    _in_optimizer: bool = False

    def optimizer(self, begins: bool) -> None:
        """An optimizer's step begins or ends."""
        self._in_optimizer = begins
        self._optimizer_steps += begins

    def born(self, event: int, op: Op | None, module: str | None) -> int:
        """The row of a new life, born in ``op``."""
        category, within = self._guess(op)
        depends = op is not None and op.depends
        name = None if op is None else op.name
        return self.lives.add(event, category, name, module, within, depends)

    def died(self, life: int, op: Op | None) -> None:
        """A life ends in ``op``: it was temporary if it was born there."""
        within = self.lives.scope[life]
        if not within or not self.lives.guessed[life]:
            return
        here = -self._optimizer_steps if self._in_optimizer else 0
        if within == here or (op is not None and within == op.serial):
            self.lives.category[life] = _TEMPORARY

    def read(self, op: Op, found: Sequence[int]) -> None:
        """An outermost op reads the lives ``found``: what it makes depends on what it reads."""
        if op.backward or self._in_optimizer:
            return
        depends, category = self.lives.depends, self.lives.category
        op.depends = any(
            life == OLDER_PARAMETER or depends[life] or category[life] == PARAMETER
            for life in found
        )
        if op.depends:
            for life in found:
                if life >= 0 and not depends[life] and category[life] == _UNKNOWN:
                    category[life] = _INPUT

    def certain(self, life: int, category: int) -> None:
        """It is known what a life is for."""
        self.lives.category[life] = category
        self.lives.guessed[life] = 0

    def named(self, life: int, name: Name) -> None:
        """A life is a tracked storage."""
        self.certain(life, int(name.category))
        self.lives.name[life] = self.lives.names.code(name.name)
        self.lives.dtype[life] = self.lives.dtypes.code(name.dtype)
        self.lives.shape[life] = self.lives.shapes.code(name.shape)

    def parameter(self, life: int, name: str) -> None:
        """A life is a parameter of a module that nobody tracks."""
        if self.lives.guessed[life]:
            self.certain(life, PARAMETER)
            self.lives.name[life] = self.lives.names.code(name)

    def described(self, life: int, tensor: Any) -> None:
        """A tensor that lies in a life is read; the first says what it is."""
        if self.lives.shape[life] < 0:
            dtype = str(tensor.dtype).removeprefix("torch.")
            self.lives.dtype[life] = self.lives.dtypes.code(dtype)
            self.lives.shape[life] = self.lives.shapes.code(str(list(tensor.sizes)))

    def _guess(self, op: Op | None) -> tuple[int, int]:
        """A category, and what the life must end in to be temporary (0: nothing)."""
        if self._in_optimizer:
            return _STATE, -self._optimizer_steps
        if op is None:
            return _UNKNOWN, 0
        if op.backward:
            return (GRADIENT if op.accumulates else _DETAIL), op.serial
        return (_ACTIVATION if op.depends else _UNKNOWN), op.serial
