"""Python calls of a profile, made into interned stacks when an allocation asks for one."""

from __future__ import annotations

from typing import Any

from tb_memory_plugin.recording.stacks import StackInterner

#: For a frame whose current line the profiler did not see: it is the function's first one.
_FIRST_LINE = '{"line":"first of the function"}'


class Call:
    """A call in progress: a Python function, or a C function called from one.

    The profiler knows of every call where in its caller it stands, so the line of a frame is had
    from the call it made. A function that runs an operator without a call (``a * b``) has none:
    its first line stands there, and the frame says so.
    """

    __slots__ = ("_chain", "_fields", "_outer", "_python", "_stack")

    def __init__(self, fields: Any, outer: Call | None, python: bool) -> None:
        self._fields = fields  # _ExtraFields_PyCall or _PyCCall
        self._outer = outer  # the Python function it was called from
        self._python = python
        self._chain: tuple[int, ...] | None = None
        self._stack: int | None = None

    def stack(self, interner: StackInterner) -> int:
        """The id of the stack of what happens in this call, innermost first."""
        if self._stack is None:
            chain = self._callers(interner)
            if self._python:
                here = self._fields.callsite
                frame = interner.frame(
                    here.function_name, here.file_name, here.line_number, _FIRST_LINE
                )
                chain = (frame, *chain)
            self._stack = interner.stack(chain)
        return self._stack

    def _callers(self, interner: StackInterner) -> tuple[int, ...]:
        if self._chain is None:
            if self._outer is None and self._python:
                self._chain = ()  # the outermost function is given as its own caller
            else:
                caller = self._fields.caller
                frame = interner.frame(caller.function_name, caller.file_name, caller.line_number)
                outer = () if self._outer is None else self._outer._callers(interner)
                self._chain = (frame, *outer)
        return self._chain
