"""START and END entries of a PyTorch snapshot to spans: steps and annotations."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.checked import integer, is_time, mapping, sequence, string
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.schema import sentinel

_STEP = re.compile(r"ProfilerStep#(\d{1,9})")
_OPTIMIZER_STEP = "Optimizer.step"
_BEFORE, _AFTER = sentinel("begin"), sentinel("end")
_PARENTS_TRIED = 64


@dataclass(frozen=True)
class Span:
    """A row of ``spans``; times in microseconds as in the file, None for an end not recorded."""

    ordinal: int  # of the device, as in the file
    kind: str
    name: str
    begin: int | None
    end: int | None
    step: int | None = None
    inferred: bool = False
    depth: int = 0
    parent: int | None = None

    def bounds(self) -> tuple[int, int]:
        """Begin and end with unknown ones at the ends of time."""
        begin = _BEFORE if self.begin is None else self.begin
        return begin, _AFTER if self.end is None else self.end


@dataclass(frozen=True)
class Entry:
    """One START or END."""

    name: str
    stage: str
    ordinal: int
    time_us: int


def entries(annotations: Any) -> tuple[list[Entry], int]:
    """``external_annotations`` checked, and how many have no valid time stamp, which are left out.

    Raises Malformed.
    """
    found, untimed = [], 0
    for place, value in enumerate(sequence(annotations, "external_annotations")):
        what = f"annotation {place}"
        entry = mapping(value, what)
        time = entry.get("time_us")
        if not is_time(time):
            untimed += 1
            continue
        found.append(
            Entry(
                string(entry.get("name"), f"the name of {what}"),
                string(entry.get("stage"), f"the stage of {what}"),
                integer(entry.get("device", 0), f"the device of {what}", -1),
                time,
            )
        )
    return found, untimed


def pair(found: list[Entry]) -> tuple[list[Span], Counter[str]]:
    """Spans of the entries, in order of begin, and the stages that are neither START nor END.

    An END belongs to the latest open START of its name on its device: threads interleave, and
    either may be missing.
    """
    unpaired: dict[tuple[int, str], list[int]] = defaultdict(list)
    spans: list[Span] = []
    strange: Counter[str] = Counter()
    for entry in sorted(found, key=lambda entry: entry.time_us):
        key = (entry.ordinal, entry.name)
        if entry.stage == "START":
            unpaired[key].append(len(spans))
            spans.append(_span(entry, begin=entry.time_us))
        elif entry.stage == "END" and unpaired[key]:
            place = unpaired[key].pop()
            spans[place] = replace(spans[place], end=entry.time_us)
        elif entry.stage == "END":
            spans.append(_span(entry, end=entry.time_us))
        else:
            strange[entry.stage[:60]] += 1
    return spans, strange


def arranged(spans: list[Span], last_us: int | None) -> list[Span]:
    """``spans`` with steps (inferred where there are none), depths, parents and step numbers.

    ``last_us`` is the time of the source's last event. Steps come first, then annotations, each
    device's in order of begin.
    """
    by_device: dict[int, list[Span]] = defaultdict(list)
    for span in spans:
        by_device[span.ordinal].append(span)
    done: list[Span] = []
    for ordinal in sorted(by_device):
        own = sorted(by_device[ordinal], key=lambda span: (span.bounds()[0], -span.bounds()[1]))
        steps = [span for span in own if span.kind == "step"] or _inferred_steps(own, last_us)
        numbered = _numbered([span for span in own if span.kind != "step"], steps)
        for kind in (steps, numbered):
            done += _nested(kind, len(done))
    return done


def table(spans: list[Span], devices: dict[int, int], origin_us: int) -> pa.Table:
    """The table ``spans``; ``devices`` are the rows of the ordinals."""

    def times(values: list[int | None]) -> tuple[Any, Any]:
        missing = np.array([value is None for value in values], dtype=bool)
        filled = [origin_us if value is None else value for value in values]
        return (np.array(filled, dtype=np.int64) - origin_us) * 1_000, missing

    def rows(values: list[int | None]) -> tuple[Any, Any]:
        return (
            np.array([value or 0 for value in values], dtype=np.int64),
            np.array([value is None for value in values], dtype=bool),
        )

    return builder.table(
        "spans",
        {
            "device": rows([devices.get(span.ordinal) for span in spans]),
            "track": ["annotations" if span.kind == "annotation" else "steps" for span in spans],
            "kind": [span.kind for span in spans],
            "name": [span.name for span in spans],
            "begin": times([span.begin for span in spans]),
            "end": times([span.end for span in spans]),
            "depth": np.array([span.depth for span in spans], dtype=np.int32),
            "parent": rows([span.parent for span in spans]),
            "step": rows([span.step for span in spans]),
            "args": [json.dumps({"inferred": True}) if span.inferred else None for span in spans],
        },
    )


def _span(entry: Entry, begin: int | None = None, end: int | None = None) -> Span:
    step = _STEP.fullmatch(entry.name)
    kind = "annotation" if step is None else "step"
    number = None if step is None or int(step[1]) >= 1 << 31 else int(step[1])
    return Span(entry.ordinal, kind, entry.name, begin, end, number)


def _inferred_steps(spans: list[Span], last_us: int | None) -> list[Span]:
    """Steps from the end of one optimizer step to the end of the next.

    The optimizer that stepped most often tells; at least twice. What is before the first end and
    after the last is a step of which one end is not in the window.
    """
    names = Counter(
        span.name
        for span in spans
        if span.name.startswith(_OPTIMIZER_STEP) and span.end is not None
    )
    if not names or max(names.values()) < 2:
        return []
    name = max(names, key=lambda name: names[name])
    ends = sorted(span.end for span in spans if span.name == name and span.end is not None)
    bounds: list[int | None] = [None, *ends]
    if last_us is not None and last_us > ends[-1]:
        bounds.append(None)
    return [
        Span(spans[0].ordinal, "step", f"step {number}", begin, end, number, inferred=True)
        for number, (begin, end) in enumerate(pairwise(bounds))
    ]


def _numbered(spans: list[Span], steps: list[Span]) -> list[Span]:
    """``spans`` with the number of the step each begins in."""
    begins = [step.bounds()[0] for step in steps]
    numbered = []
    for span in spans:
        place = bisect_right(begins, span.bounds()[0]) - 1
        inside = place >= 0 and span.bounds()[0] < steps[place].bounds()[1]
        numbered.append(replace(span, step=steps[place].step if inside else None))
    return numbered


def _nested(spans: list[Span], first: int) -> list[Span]:
    """``spans`` (in order of begin) with depth and parent; ``first`` is the row of the first.

    A parent encloses its child; spans that merely overlap (of two threads) are drawn on top of
    each other and are nobody's children.
    """
    # The end of the stack closes first, save where spans overlap.
    stack: list[int] = []
    nested: list[Span] = []
    for place, span in enumerate(spans):
        begin, end = span.bounds()
        while stack and spans[stack[-1]].bounds()[1] <= begin:
            stack.pop()
        parent = next(
            (row for row in reversed(stack[-_PARENTS_TRIED:]) if spans[row].bounds()[1] >= end),
            None,
        )
        depth = nested[stack[-1]].depth + 1 if stack else 0
        nested.append(replace(span, depth=depth, parent=None if parent is None else first + parent))
        stack.append(place)
    return nested
