"""Python functions that were called, from the stacks of operators and the modules around them.

A stack tells which functions an operator was called in, not since when: neighbours that have
callers in common, in the same module and annotation, share the call, which begins halfway between
its first operator and what was before. Modules are calls themselves, of which the span is known.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

Frame = tuple[str, str, int]  # function, file, line
Stack = tuple[Frame, ...]
Key = tuple[str, str] | int

#: The function of torch that a module is called through.
_CALLED = "_wrapped_call_impl"


class Timed(Protocol):
    """What is known of a span: see ``program.Span``."""

    @property
    def row(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def begin(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def outermost(self) -> int: ...


@dataclass(frozen=True)
class Call:
    """A function, as the profiler names it, and when it ran."""

    name: str
    begin: int
    end: int


@dataclass
class _Node:
    """A call, a span (of which the key is the row) or all: what is inside of it, in order."""

    key: Key
    begin: int
    end: int
    line: int = 0
    inside: list[_Node] = field(default_factory=list)


@dataclass
class _Item:
    """An outermost operator, or a span that has none inside, with the spans around it."""

    span: Timed
    around: list[Timed]
    frames: Stack | None


def calls(spans: Sequence[Timed], stacks: dict[int, Stack], begin: int, end: int) -> list[Call]:
    """All calls, outer ones first; ``spans`` in the order in which they began."""
    items = _items(spans, stacks)
    frames = _known(items)
    depth = _depths(items, frames)
    root = _Node(-1, begin, end)
    for item, stack in zip(items, frames, strict=True):
        _add(root, _path(item, stack, depth), item)
    _close(root)
    return list(_placed(root))


def _items(spans: Sequence[Timed], stacks: dict[int, Stack]) -> list[_Item]:
    found: list[_Item] = []
    around: list[Timed] = []
    is_empty: dict[int, bool] = {}
    for span in spans:
        if span.kind == "op" and span.outermost != span.row:
            continue
        while around and around[-1].end <= span.begin:
            around.pop()
        for each in around:
            is_empty[each.row] = False
        found.append(_Item(span, list(around), stacks.get(span.row)))
        if span.kind != "op":
            is_empty[span.row] = True
            around.append(span)
    return [item for item in found if is_empty.get(item.span.row, True)]


def _same(first: Stack, second: Stack) -> int:
    """How many functions both were called in."""
    pairs = zip(first, second, strict=False)
    return next(
        (at for at, (a, b) in enumerate(pairs) if a[:2] != b[:2]), min(len(first), len(second))
    )


def _known(items: list[_Item]) -> list[Stack]:
    """Of every item its stack, or what those before and after it have in common."""
    after: list[Stack | None] = [None] * len(items)
    coming: Stack | None = None
    for at in reversed(range(len(items))):
        coming = items[at].frames or coming
        after[at] = coming
    found, last = list[Stack](), None
    for item, coming in zip(items, after, strict=True):
        known = item.frames
        if known is None:
            known = (last or ())[: _same(last or (), coming or ())]
        found.append(known)
        last = item.frames or last
    return found


def _depths(items: list[_Item], frames: list[Stack]) -> dict[int, int]:
    """By annotation or step the number of functions that it and its neighbours were called in."""
    common: dict[int, Stack] = {}
    ends: dict[int, list[int]] = {}
    for at, item in enumerate(items):
        for span in item.around:
            known = common.setdefault(span.row, frames[at])
            common[span.row] = known[: _same(known, frames[at])]
            ends.setdefault(span.row, [at, at])[1] = at
    for row, (first, last) in ends.items():
        for at in (first - 1, last + 1):
            if 0 <= at < len(frames):
                common[row] = common[row][: _same(common[row], frames[at])]
    return {row: len(known) for row, known in common.items()}


def _path(item: _Item, frames: Stack, depth: dict[int, int]) -> list[Timed | Frame]:
    """Frames and the spans around an item, outermost first."""
    modules = iter([at for at, frame in enumerate(frames) if frame[0] == _CALLED])
    path: list[Timed | Frame] = []
    done = 0
    for span in item.around:
        at = next(modules, len(frames)) if span.kind == "module" else depth[span.row]
        path += frames[done:at]
        path.append(span)
        done = max(done, at)
    return [*path, *frames[done:]]


def _add(root: _Node, path: list[Timed | Frame], item: _Item) -> None:
    node, is_open = root, True
    for each in path:
        key = each[:2] if isinstance(each, tuple) else each.row
        if not (is_open and node.inside and node.inside[-1].key == key):
            is_open = False
            span = item.span if isinstance(each, tuple) else each
            line = each[2] if isinstance(each, tuple) else 0
            node.inside.append(_Node(key, span.begin, span.end, line))
        node = node.inside[-1]
    node.inside.append(_Node(item.span.row, item.span.begin, item.span.end))


def _close(node: _Node) -> None:
    """Let calls reach from the first to the last of what is inside of them."""
    for each in node.inside:
        _close(each)
    if isinstance(node.key, tuple):
        node.begin, node.end = node.inside[0].begin, node.inside[-1].end


def _placed(node: _Node) -> Iterator[Call]:
    """Calls inside of ``node``, stretched halfway to what is before and after."""
    before = node.begin
    for at, each in enumerate(node.inside):
        after = node.inside[at + 1].begin if at + 1 < len(node.inside) else node.end
        if isinstance(each.key, tuple):
            each.begin -= max(each.begin - before, 0) // 2
            each.end += max(after - each.end, 0) // 2
            function, file = each.key
            yield Call(_name(function, file, each.line), each.begin, each.end)
        yield from _placed(each)
        before = each.end


@cache
def _name(function: str, file: str, line: int) -> str:
    """As the profiler names a function: file, the line where it is defined, name."""
    shown = min((file.removeprefix(f"{root}/") for root in sys.path if root), key=len, default=file)
    pattern = re.compile(rf"\s*(async\s+)?def\s+{re.escape(function)}\b")
    defined = 1 if function == "<module>" else line
    for number in range(line, 0, -1):
        if pattern.match(linecache.getline(file, number)):
            defined = number
            break
    return f"{shown}({defined}): {function}"
