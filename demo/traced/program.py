"""What the program did, from a recording: its spans on threads, and what follows from what."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tb_memory_plugin.api import LoadedRecording

from .calls import Call, Stack, calls

#: Threads: the program's own, and the one that runs backward on a GPU.
MAIN, ENGINE = 1, 2
#: What every function that runs backward is called within.
BACKWARD = "autograd::engine::evaluate_function: "

_KINDS = ("op", "module", "annotation", "step")


@dataclass(frozen=True)
class Span:
    """Something that took time: ``begin`` and ``end`` in ns since 1970, ``parent`` a row.

    ``outermost`` is the row of the operator, of its thread, that is in no other; of the others it
    is their own.
    """

    row: int
    kind: str
    name: str
    thread: int
    begin: int
    end: int
    parent: int | None
    outermost: int
    shapes: list[Any] | None


@dataclass(frozen=True)
class Program:
    """All ``spans`` by row of the recording, in the order in which they began.

    ``stacks`` are the Python stacks, outermost frame first, that outermost operators were called
    from, ``made`` the bytes that each allocated; ``backward`` leads from operators to what ran
    backward for them.
    """

    spans: dict[int, Span]
    stacks: dict[int, Stack]
    made: dict[int, list[int]]
    backward: list[tuple[Span, Span]]
    begin: int
    end: int

    @cached_property
    def calls(self) -> list[Call]:
        """The Python functions that were called meanwhile, outer ones first."""
        return calls(list(self.spans.values()), self.stacks, self.begin, self.end)

    def inside(self, span: Span, name: str) -> bool:
        """Whether an annotation around ``span`` has a name that begins with ``name``."""
        return any(
            each.begin <= span.begin <= each.end
            for each in self.spans.values()
            if each.kind == "annotation" and each.name.startswith(name)
        )


def program(loaded: LoadedRecording, begin: int, end: int) -> Program:
    """What the recording says until ``end``, in ns since 1970, when what still runs is cut off."""
    origin, found = loaded.recording.meta["time_origin_ns"], dict[int, Span]()
    rows = loaded.table("spans").to_pylist()
    for row in sorted(range(len(rows)), key=lambda row: _order(rows[row])):
        each = rows[row]
        if each["kind"] not in _KINDS or origin + each["begin"] > end:
            continue
        parent = found.get(each["parent"]) if each["parent"] is not None else None
        is_inner = parent is not None and parent.kind == "op" == each["kind"]
        backward = each["kind"] == "op" and each["name"].startswith(BACKWARD)
        found[row] = Span(
            row,
            each["kind"],
            f"ProfilerStep#{each['step']}" if each["kind"] == "step" else each["name"],
            ENGINE if backward else parent.thread if is_inner and parent else MAIN,
            origin + each["begin"],
            end if each["end"] is None else min(origin + each["end"], end),
            each["parent"],
            parent.outermost if is_inner and parent else row,
            json.loads(each["args"] or "{}").get("Input Dims"),
        )
    stacks, made = _events(loaded, found)
    links = loaded.table("links").to_pylist()
    backward_links = [
        (found[each["source"]], found[each["target"]])
        for each in links
        if each["kind"] == "forward_backward" and {each["source"], each["target"]} <= found.keys()
    ]
    first = min([begin, *(span.begin for span in found.values())])
    return Program(found, stacks, made, backward_links, first, end)


def _order(row: dict[str, Any]) -> tuple[int, float]:
    return row["begin"], -(float("inf") if row["end"] is None else row["end"])


def _events(
    loaded: LoadedRecording, spans: dict[int, Span]
) -> tuple[dict[int, Stack], dict[int, list[int]]]:
    """By outermost operator the stack of the first event in it, and the bytes of allocations."""
    frames = [(f["function"], f["file"], f["line"]) for f in loaded.table("frames").to_pylist()]
    known = loaded.table("stacks").column("frames").to_pylist()
    stacks: dict[int, Stack] = {}
    made: dict[int, list[int]] = {}
    columns = ["span", "stack", "action", "size"]
    for event in loaded.table("events").select(columns).to_pylist():
        span = spans.get(event["span"]) if event["span"] is not None else None
        if span is None or span.kind != "op":
            continue
        if event["stack"] is not None and span.outermost not in stacks:
            stacks[span.outermost] = tuple(frames[at] for at in reversed(known[event["stack"]]))
        if event["action"] == 0:
            made.setdefault(span.outermost, []).append(event["size"])
    return stacks, made
