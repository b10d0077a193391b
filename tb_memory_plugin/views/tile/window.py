"""One tile of the picture of lives, made into what a screen can draw."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis import exact
from tb_memory_plugin.analysis.alive import latest_deaths, reserved_known, sums_only
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.ranking import TOP
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import grid, usage
from tb_memory_plugin.views.tile import answer, extents, fixed, instants, mapped, stacked
from tb_memory_plugin.views.tile.gaps import NO_CHANGES
from tb_memory_plugin.views.tile.lives import Lives, lives
from tb_memory_plugin.views.tile.merged import merge, merge_placed
from tb_memory_plugin.views.tile.seen import Seen, seen

#: Bins of a tile.
BINS = 512
LAYOUTS = ("stacked", "address", "lane")


def tile(
    recording: Recording,
    device: Device,
    *,
    axis: str,
    level: int,
    index: int,
    layout: str = "stacked",
    low: int = 0,
    high: int | None = None,
    height: int = 800,
    of: str = "allocations",
    by: str,
    pattern: str = "",
    top: int = TOP,
    only: str = "all",
    at: str = "peak",
    minimum: int = 0,
    filter: str = "",
    find: str = "",
) -> bytes:
    """The answer of ``GET tile``: bins ``index`` · 512 … of 2^``level`` axis units each.

    ``low`` … ``high`` are the bytes shown (all where None), ``height`` the pixels they are drawn
    on. Raises QueryError for what cannot be asked.
    """
    if layout not in LAYOUTS:
        raise QueryError(f"There is no layout {layout!r}; choose one of {', '.join(LAYOUTS)}.")
    if layout == "address" and of == "allocations" and not extents.placed(recording, device):
        raise QueryError("The recording holds no addresses; choose the layout stacked or lane.")
    shown = lives(
        recording,
        device,
        of=of,
        by=by,
        pattern=pattern,
        top=top,
        only=only,
        at=at,
        minimum=minimum,
        filter=filter,
        find=find,
    )
    bins, rows, own = _instants(recording, device, axis, level, index, shown)
    extent = extents.extent(recording, device, shown, layout)
    high = max(extent if high is None else high, low + 1)
    pixel = max(-(-(high - low) // height), 1)
    about = {
        "axis": axis,
        "level": level,
        "index": index,
        "bin": 1 << level,
        "layout": layout,
        "low": low,
        "high": high,
        "height": height,
        "pixel": pixel,
        "by": by,
        "groups": shown.groups,
        "extent": extent,
        "hits": shown.hits,
    }
    if layout == "address":
        about["segments"] = extents.segments(recording, device)
        about["mapped_known"] = reserved_known(recording, device)
    event = recording.values("usage", "event", device)[rows]
    latest = latest_deaths(recording, device, shown.table)
    everything = seen(shown.birth, shown.death, event, latest)
    if shown.kept is not None:
        everything = everything.at(shown.kept[everything.row])
    here = everything.between(own.start, own.stop - 1)
    columns = own.stop - own.start
    total, count = stacked.sums(here, shown.bytes[here.row], columns)
    if layout == "address" and of == "allocations":
        away = sums_only(recording, device)
        about["unplaced"] = _sum(shown, away)
        if len(away):
            here = here.at(~np.isin(here.row, away))
    if layout == "stacked":
        picture = _stacked(shown, here, columns, low, high, pixel)
    else:
        offset = extents.offsets(recording, device, shown, layout)[here.row]
        tall = extents.heights(recording, device, shown, layout, here.row)
        picture = _fixed(shown, here, columns, low, high, pixel, offset, tall)
    ranges = None
    beside = b""
    if layout == "address" and of == "allocations":
        ranges = mapped.mapped(recording, device, event, own, low, high)
        blocks = extents.heights(recording, device, shown, layout, picture.rows.row)
        beside = mapped.streams(ranges, blocks)
    about["hidden"] = answer.hidden(picture, ranges)
    cells = answer.Columns(
        bins.begin[own],
        event[own],
        usage.times(recording, device, rows[own]),
        total,
        count,
        picture.base,
    )
    return answer.content(shown, cells, picture, about) + beside


def _sum(of: Lives, rows: IntArray) -> dict[str, int]:
    """How many of some lives a picture is made of, and their bytes."""
    kept = rows if of.kept is None else rows[of.kept[rows]]
    return {"count": len(kept), "bytes": exact.total(of.bytes[kept])}


def _instants(
    recording: Recording, device: Device, axis: str, level: int, index: int, of: Lives
) -> tuple[grid.Bins, IntArray, slice]:
    """The bins of a tile and one on each side, the row of usage of each, and which are its own."""
    whole = grid.axis(recording, device, axis)
    first = index * BINS
    bins = grid.at_level(whole, level, first - 1, first + BINS + 1)
    rows = instants.highest(recording, device, of, bins)
    number = bins.begin >> level
    start, stop = np.searchsorted(number, [first, first + BINS]).tolist()
    return bins, rows, slice(start, stop)


def _stacked(
    of: Lives, here: Seen, columns: int, low: int, high: int, pixel: int
) -> answer.Picture:
    longer, short = here.at(~here.short), here.at(here.short)
    row = short.row
    merged = merge(short.first, of.band[row], of.bytes[row], answer.hit(of, row), row)
    size, band = of.bytes[longer.row], of.band[longer.row]
    hit = answer.hit(of, longer.row)
    found = stacked.stack(longer, size, band, hit, columns, low, high, pixel)
    rows = longer.at(found.drawn)
    return answer.Picture(
        rows=rows,
        offset=np.zeros(len(rows.row), dtype=np.int64),
        base=found.base,
        gaps=found.gaps,
        merged=merged,
        merged_offset=None,
        hidden=found.hidden,
        hidden_bytes=found.hidden_bytes,
    )


def _fixed(
    of: Lives,
    here: Seen,
    columns: int,
    low: int,
    high: int,
    pixel: int,
    offset: IntArray,
    tall: IntArray,
) -> answer.Picture:
    found = fixed.place(here, of.bytes[here.row], tall, offset, low, high, pixel)
    rest = here.at(found.rest)
    row, at = rest.row, offset[found.rest]
    merged = merge_placed(
        rest.first,
        rest.last,
        np.maximum(at - low, 0) // pixel,
        fixed.pixels(at, tall[found.rest], low, high, pixel),
        of.band[row],
        of.bytes[row],
        answer.hit(of, row),
        row,
    )
    return answer.Picture(
        rows=here.at(found.drawn),
        offset=offset[found.drawn],
        base=np.zeros(columns, dtype=np.int64),
        gaps=NO_CHANGES,
        merged=merged,
        merged_offset=merged.row * pixel + low,
        hidden=found.hidden,
        hidden_bytes=found.hidden_bytes,
    )
