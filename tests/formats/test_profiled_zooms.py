"""Pictures of real XPlanes, traces and timelines at every zoom, beside plain sums of the files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.readers import kineto_trace, memory_timeline, xplane
from tb_memory_plugin.recording.recording import Device, Recording
from tests.formats.test_kineto_trace import FACTS, TRACES
from tests.formats.test_memory_timeline import LEVELS, RAW
from tests.formats.test_snapshot_pictures import sums
from tests.formats.xplane_reading import REAL, walk
from tests.formats.zooming import curve_of, part_of, zooms
from tests.unit.views.tiles import decoded

#: Tiles of one zoom up to which all are looked at.
FEW = 1

#: By key of a device what is allocated at the start of it, and at most.
Known = dict[str, tuple[int, int]]


def _of_xplane(path: Path) -> Known:
    """What the allocators themselves say; of files made by hand, where it is made up, the sums."""
    found: Known = {}
    for key, events in walk(path).items():
        moves = [event.number("allocation_bytes") * (1 if event.born else -1) for event in events]
        said = [event.number("bytes_allocated") for event in events]
        if path.parent.name == "synthetic":
            said = list(accumulate(moves))
        start = said[0] - moves[0]
        found[key] = start, max(start, *said)
    return found


def _of_trace(path: Path) -> Known:
    """An independent replay's; the first era tells no totals, and nothing was there before."""
    return {
        key: (
            facts["allocated_start"] or 0,
            facts["net_peak"] if facts["allocated_peak"] is None else facts["allocated_peak"],
        )
        for key, facts in FACTS[path.name].items()
    }


def _of_timeline(path: Path) -> Known:
    if path == LEVELS:
        levels = [sum(level[1:]) for level in json.loads(path.read_text())[1]]
        return {"device": (levels[0], max(levels))}
    moves = json.loads(gzip.decompress(path.read_bytes()))
    start = sum(move[2] for move in moves if move[0] == -1)
    after = accumulate((move[2] for move in moves if move[0] != -1), initial=start)
    return {"device": (start, max(after))}


SOURCES: dict[Path, tuple[Any, Callable[[Path], Known]]] = {
    **dict.fromkeys(REAL, (xplane, _of_xplane)),
    **{TRACES / name: (kineto_trace, _of_trace) for name in sorted(FACTS)},
    **{path: (memory_timeline, _of_timeline) for path in (LEVELS, RAW) if path.exists()},
}

each = pytest.mark.parametrize("path", SOURCES or [LEVELS], ids=lambda path: path.name)
pytestmark = pytest.mark.skipif(not SOURCES, reason="the shared real files are not here")


@cache
def looked_at(path: Path) -> tuple[Recording, Known]:
    reader, known = SOURCES[path]
    recording, found = derive(reader.read(path)), known(path)
    assert {device.key for device in recording.devices} == set(found)
    return recording, found


@each
@pytest.mark.parametrize("axis", ["event", "time"])
def test_what_is_drawn_and_the_rest_are_the_usage_at_every_zoom(path: Path, axis: str) -> None:
    recording, known = looked_at(path)
    for device in recording.devices:
        start, peak = known[device.key]
        curve = curve_of(recording, device, axis, start)
        assert recording.values("usage", "allocated", device).tolist() == curve.bytes
        assert max(curve.bytes) == peak
        looked = zooms(recording, device, axis, curve, FEW)
        assert {zoom.level for zoom in looked} == set(curve.levels)
        for place, zoom in enumerate(looked):
            questions: list[dict[str, Any]] = [{}]
            if not place or looked[place - 1].level != zoom.level:
                questions.append(_otherwise(recording, device, peak, zoom.level))
            for asked in questions:
                about, tables = decoded(zoom.ask(**asked))
                if about["layout"] == "stacked":
                    assert about["extent"] == peak
                else:
                    assert about["hidden"]["rows"] == 0
                assert tables[0].column("event").to_pylist() == zoom.events
                assert tables[0].column("total").to_pylist() == zoom.totals
                away = 0
                if about["layout"] == "address":  # a sum of what was there before is nowhere
                    count, away = _unplaced(recording, device)
                    assert about["unplaced"] == {"count": count, "bytes": away}
                assert sums(tables).tolist() == [total - away for total in zoom.totals]


def _otherwise(recording: Recording, device: Device, peak: int, level: int) -> dict[str, Any]:
    """What else to ask at a zoom: some of the bytes, or a layout where everything has its place."""
    if level % 2:
        low, high = part_of(peak, level // 2)
        return {"low": low, "high": high}
    made_up = any(each["what"] == "addresses" for each in recording.meta["missing"])
    return {"layout": "lane" if level % 4 or made_up else "address"}


def _unplaced(recording: Recording, device: Device) -> tuple[int, int]:
    """Number and bytes of what was there before of which a sum is all that is known."""
    lives = recording.table("allocations").to_pylist()
    size = [
        life["size"] or life["requested"]
        for life in lives
        if life["device"] == device.index and life["address"] is None
    ]
    return len(size), sum(size)
