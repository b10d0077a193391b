"""Pictures of real snapshots at every zoom, on both axes, beside a replay event by event."""

from __future__ import annotations

from functools import cache

import pytest

from tests.formats.test_snapshot_facts import FACTS, recorded
from tests.formats.test_snapshot_pictures import DRAWN, sums
from tests.formats.zooming import Zoom, curve_of, part_of, zooms
from tests.unit.views.tiles import decoded

#: Tiles of one zoom up to which all are looked at.
FEW = 3

CURVES = [
    pytest.param(name, device, axis, id=f"{name}-{device}-{axis}")
    for name in DRAWN
    for device, facts in FACTS[name]["devices"].items()
    for axis in ("event", "time")
    if axis == "event" or facts["time_span_us"]
] or [pytest.param("none", "0", "event")]

pytestmark = pytest.mark.skipif(not FACTS, reason="the shared real files are not here")


@cache
def looked_at(name: str, key: str, axis: str) -> list[Zoom]:
    recording, facts = recorded(name), FACTS[name]["devices"][key]
    device = recording.device(key)
    curve = curve_of(recording, device, axis, facts["allocated_start"])
    assert recording.values("usage", "allocated", device).tolist() == curve.bytes
    assert curve.events[curve.peak] == facts["allocated_peak_event"]
    assert max(curve.bytes) == facts["allocated_peak"]
    return zooms(recording, device, axis, curve, FEW)


@pytest.mark.parametrize(("name", "key", "axis"), CURVES)
def test_what_is_drawn_and_the_rest_are_the_total_at_every_zoom(
    name: str, key: str, axis: str
) -> None:
    peak = FACTS[name]["devices"][key]["allocated_peak"]
    for zoom in looked_at(name, key, axis):
        for low, high in ((0, peak), part_of(peak, zoom.level)):
            about, tables = decoded(zoom.ask(low=low, high=high))
            assert about["extent"] == peak
            assert tables[0].column("event").to_pylist() == zoom.events
            assert tables[0].column("total").to_pylist() == zoom.totals
            assert sums(tables).tolist() == zoom.totals


@pytest.mark.parametrize(("name", "key", "axis"), CURVES)
@pytest.mark.parametrize("layout", ["address", "lane"])
def test_what_keeps_its_place_adds_up_at_every_zoom(
    name: str, key: str, axis: str, layout: str
) -> None:
    for zoom in looked_at(name, key, axis):
        about, tables = decoded(zoom.ask(layout=layout))
        assert tables[0].column("event").to_pylist() == zoom.events
        assert tables[0].column("total").to_pylist() == zoom.totals
        assert about["hidden"]["rows"] == 0
        assert sums(tables).tolist() == zoom.totals
