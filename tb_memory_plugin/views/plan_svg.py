"""A plan as a drawing: every buffer a rectangle, its life across, its place in memory up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.grouping import group_ids
from tb_memory_plugin.analysis.plan_reading import Plan
from tb_memory_plugin.analysis.plan_recording import KEY, plan_recording
from tb_memory_plugin.analysis.ranking import TOP, describe, ranking
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER
from tb_memory_plugin.units import format_bytes
from tb_memory_plugin.views.colours import colours

WIDTH, HEIGHT = 1600, 900
_LEFT, _TOP, _BOTTOM = 90, 40, 40
#: Where the legend begins, how wide a letter is, a square with the room around it, most letters.
_LEGEND, _LETTER, _SQUARE, _LONGEST = 720, 6.4, 24, 32
#: What XML cannot hold.
_ILLEGAL = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: Buffers that are drawn, the largest: more are no drawing.
MOST = 20_000
_TICKS = 6
#: What is held from the start of the program to its end is hatched.
_HATCH = (
    '<defs><pattern id="lasting" width="8" height="8" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><path d="M0 0V8" stroke="#ffffff" stroke-width="3" '
    'stroke-opacity="0.5"/></pattern></defs>\n'
)


def drawing(
    recording: Recording, plan: Plan, *, by: str = "category", pattern: str = "", top: int = TOP
) -> Iterator[str]:
    """An SVG document in pieces: rectangles with titles (name, shape, bytes, life), legend, axes.

    Coloured by group, those ``by`` of ``usage``; what lives through the whole program is hatched.
    Raises QueryError before the first piece.
    """
    planned = plan_recording(recording)
    device = planned.device(f"{KEY}{plan.row}")
    groups = describe(planned, device, by, pattern, top)
    ids = group_ids(planned, device, by, pattern).ids
    band = ranking(planned, device, by, pattern, top).band[ids]
    return _pieces(planned, plan, device, groups, band)


def _pieces(
    planned: Recording,
    plan: Plan,
    device: Device,
    groups: list[dict[str, Any]],
    band: IntArray,
) -> Iterator[str]:
    rows = planned.rows("allocations", device)
    column = {
        name: planned.values("allocations", name, device)
        for name in ("address", "size", "birth", "death")
    }
    whole = max(plan.numbers["total"], 1)
    last = max(plan.numbers["events"], 1)
    across, up = (WIDTH - _LEFT - 20) / last, (HEIGHT - _TOP - _BOTTOM) / whole
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="Roboto, sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n'
        f"{_HATCH}"
    )
    head = (
        f"{plan.module_name} · {plan.space_name}: peak {format_bytes(plan.numbers['peak'])}, "
        f"total {format_bytes(plan.numbers['total'])}"
    )
    yield f'<text x="{_LEFT}" y="24" font-size="15">{escape(head)}</text>\n'
    colour = colours(groups)
    yield from _legend(groups, colour)
    yield from _axes(whole, last, across, up)
    kept = np.sort(np.argsort(-column["size"], kind="stable")[:MOST])
    lasting = (column["birth"] < 0) & (column["death"] == AFTER)
    names = arrays.words_of(planned.table("allocations"), "name", kept + rows.start)
    shapes = arrays.words_of(planned.table("allocations"), "shape", kept + rows.start)
    for place, name, shape in zip(kept.tolist(), names, shapes, strict=True):
        born, died = int(column["birth"][place]), int(column["death"][place])
        birth, death = max(born, 0), last if died == AFTER else died
        size = int(column["size"][place])
        top = HEIGHT - _BOTTOM - (int(column["address"][place]) + size) * up
        title = f"{name or ''} {shape or ''}\n{size} bytes, events {birth} to {death}"
        box = (
            f'x="{_LEFT + birth * across:.2f}" y="{top:.2f}" '
            f'width="{max(death - birth, 0) * across:.2f}" height="{size * up:.2f}"'
        )
        yield (
            f'<rect {box} fill="{colour[band[place]]}" stroke="#ffffff" stroke-width="0.3">'
            f"<title>{escape(_printable(title))}</title></rect>\n"
        )
        if lasting[place]:
            yield f'<rect {box} fill="url(#lasting)" pointer-events="none"/>\n'
    yield "</svg>\n"


def _legend(groups: list[dict[str, Any]], colour: list[str]) -> Iterator[str]:
    """The groups in a row, as many as there is room for."""
    x = float(_LEGEND)
    for place, group in enumerate(groups):
        label = _printable(group["label"])[:_LONGEST]
        width = _SQUARE + len(label) * _LETTER
        if x + width > WIDTH - _LEFT:
            yield f'<text x="{x:.1f}" y="24">and {len(groups) - place} more</text>\n'
            return
        yield f'<rect x="{x:.1f}" y="14" width="11" height="11" fill="{colour[place]}"/>\n'
        yield f'<text x="{x + 15:.1f}" y="24">{escape(label)}</text>\n'
        x += width


def _axes(whole: int, last: int, across: float, up: float) -> Iterator[str]:
    base = HEIGHT - _BOTTOM
    for tick in range(_TICKS + 1):
        size, event = whole * tick // _TICKS, last * tick // _TICKS
        y, x = base - size * up, _LEFT + event * across
        yield f'<path d="M{_LEFT - 4} {y:.2f}H{WIDTH - 20}" stroke="#dddddd"/>\n'
        label = format_bytes(size)
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.2f}" text-anchor="end">{label}</text>\n'
        yield f'<text x="{x:.2f}" y="{base + 18}" text-anchor="middle">{event}</text>\n'
    yield (
        f'<text x="{_LEFT}" y="{HEIGHT - 6}" fill="#666666">'
        "events of the heap in program order, not time</text>\n"
        f'<text x="{WIDTH - 20}" y="{HEIGHT - 6}" fill="#666666" text-anchor="end">'
        "hatched: held all the time</text>\n"
    )


def _printable(text: str) -> str:
    """``text`` without what XML cannot hold."""
    return _ILLEGAL.sub("", text)
