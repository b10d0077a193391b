"""A plan as a drawing: every buffer a rectangle, its life across, its place in memory up."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from tb_memory_plugin.analysis.plan_reading import Plan
from tb_memory_plugin.analysis.plan_recording import KEY, plan_recording
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import AFTER, Category
from tb_memory_plugin.units import format_bytes

WIDTH, HEIGHT = 1600, 900
_LEFT, _TOP, _BOTTOM = 90, 40, 40
#: A colour a category, as the page has them.
_COLOURS: dict[int, str] = {
    Category.PARAMETER: "#4477aa",
    Category.OPTIMIZER_STATE: "#ccbb44",
    Category.GRADIENT: "#66ccee",
    Category.ACTIVATION: "#ee6677",
    Category.INPUT: "#228833",
    Category.TEMPORARY: "#aa3377",
    Category.OUTPUT: "#ffaabb",
}
_OTHER = "#bbbbbb"
#: Buffers that are drawn, the largest: more are no drawing.
MOST = 20_000
_TICKS = 6


def drawing(recording: Recording, plan: Plan) -> Iterator[str]:
    """An SVG document in pieces: rectangles with titles (name, shape, bytes, life), axes."""
    planned = plan_recording(recording)
    device = planned.device(f"{KEY}{plan.row}")
    rows = planned.rows("allocations", device)
    column = {
        name: planned.values("allocations", name, device)
        for name in ("address", "size", "birth", "death", "category")
    }
    whole = max(plan.numbers["total"], 1)
    last = max(plan.numbers["events"], 1)
    across, up = (WIDTH - _LEFT - 20) / last, (HEIGHT - _TOP - _BOTTOM) / whole
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="Roboto, sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n'
    )
    head = (
        f"{plan.module_name} · {plan.space_name}: peak {format_bytes(plan.numbers['peak'])}, "
        f"total {format_bytes(plan.numbers['total'])}"
    )
    yield f'<text x="{_LEFT}" y="24" font-size="15">{escape(head)}</text>\n'
    yield from _axes(whole, last, across, up)
    kept = np.sort(np.argsort(-column["size"], kind="stable")[:MOST])
    names = arrays.words_of(planned.table("allocations"), "name", kept + rows.start)
    shapes = arrays.words_of(planned.table("allocations"), "shape", kept + rows.start)
    for place, name, shape in zip(kept.tolist(), names, shapes, strict=True):
        birth = max(int(column["birth"][place]), 0)
        death = int(column["death"][place])
        death = last if death == AFTER else death
        size = int(column["size"][place])
        top = HEIGHT - _BOTTOM - (int(column["address"][place]) + size) * up
        title = f"{name or ''} {shape or ''}\n{size} bytes, events {birth} to {death}"
        colour = _COLOURS.get(int(column["category"][place]), _OTHER)
        yield (
            f'<rect x="{_LEFT + birth * across:.2f}" y="{top:.2f}" '
            f'width="{max(death - birth, 0) * across:.2f}" height="{size * up:.2f}" '
            f'fill={quoteattr(colour)} stroke="#ffffff" stroke-width="0.3">'
            f"<title>{escape(_printable(title))}</title></rect>\n"
        )
    yield "</svg>\n"


def _axes(whole: int, last: int, across: float, up: float) -> Iterator[str]:
    base = HEIGHT - _BOTTOM
    for tick in range(_TICKS + 1):
        size, event = whole * tick // _TICKS, last * tick // _TICKS
        y, x = base - size * up, _LEFT + event * across
        yield f'<path d="M{_LEFT - 4} {y:.2f}H{WIDTH - 20}" stroke="#dddddd"/>\n'
        label = format_bytes(size)
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.2f}" text-anchor="end">{label}</text>\n'
        yield f'<text x="{x:.2f}" y="{base + 18}" text-anchor="middle">{event}</text>\n'
    yield f'<text x="{_LEFT}" y="{HEIGHT - 6}" fill="#666666">program order (events)</text>\n'


def _printable(text: str) -> str:
    """``text`` without what XML cannot hold."""
    return "".join(each for each in text if each == "\n" or each.isprintable())
