"""The numbers that answer first, for every device of real XPlanes and traces: clicked in turn."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

from tests.browser.looking import settle, settled_address, words_of
from tests.browser.xplanes import FILES, opened
from tests.formats.xplane_reading import Walked, answered, walk

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched
    from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

XPLANES = {"tpu": 4, "gpus": 4, "mi300": 2, "bfc": 1}
TRACES = {"bert": 2, "graphs": 1}
_AREAS = {"stack": "bytes_reserved", "heap": "bytes_allocated", "free": "bytes_available"}


def told(frame: FrameLocator) -> dict[str, tuple[str, str, str]]:
    """By label: the number as it is written, what is said of it, and what a closer look says."""
    return {
        fact.locator("dt").inner_text(): (
            plain(fact.locator(".big").inner_text()),
            plain(" ".join(fact.locator(".note").all_inner_texts())),
            plain(fact.get_attribute("title") or ""),
        )
        for fact in frame.locator("dl.numbers > div").all()
    }


def plain(text: str) -> str:
    return text.replace("\u202f", "").replace("\u00a0", " ")


def whole(fact: tuple[str, str, str]) -> int:
    """The whole bytes of a number, which its words must agree with."""
    found = re.match(r"(\d+) bytes?\b", fact[2])
    assert found, fact
    assert fact[0] == in_words(int(found[1]))
    return int(found[1])


def in_words(size: int) -> str:
    """Three digits or four in the unit that gives at least one: a size as the page writes it."""
    value, units = float(size), ["B", "KiB", "MiB", "GiB"]
    while value >= 1023.95 and len(units) > 1:
        value, units = value / 1024, units[1:]
    if units[0] == "B":
        return f"{size} B"
    return f"{value:.{1 if value >= 99.95 else 2}f} {units[0]}"


def clicked(watched: Watched, frame: FrameLocator, count: int) -> Any:
    """Clicks every device in the sidebar and yields its key, once its numbers are there."""
    devices = frame.get_by_role("navigation", name="Devices").locator(".device")
    assert devices.count() == count
    order = [*range(1, count), 0]  # the first is open already
    for place in order:
        one = devices.nth(place)
        one.click()
        settle(watched.page)
        assert one.get_attribute("aria-current") == "true"
        assert devices.locator("xpath=self::*[@aria-current]").count() == 1
        if count == 1:
            yield None
        else:
            address = settled_address(watched.page, "p.memory.device=")
            yield unquote(words_of(address)["device"])


def before(events: list[Walked]) -> int:
    """Bytes allocated before the first event of a walk."""
    first = events[0]
    size = first.number("allocation_bytes")
    return first.number("bytes_allocated") - (size if first.born else -size)


@pytest.mark.parametrize("run", XPLANES)
def test_every_memory_id_of_an_xplane(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, pictures: Any, run: str
) -> None:
    path = shared_data / FILES[run]
    walked = walk(path)
    answers = answered(path.with_name(path.name.replace(".xplane.pb", ".memory_profile.json")))
    assert set(walked) == set(answers) and len(walked) == XPLANES[run]
    frame = opened(watched, profiled, run, axis="event")
    seen = set()
    for key in clicked(watched, frame, len(walked)):
        seen.add(key := key or next(iter(walked)))
        events, answer = walked[key], answers[key]["profileSummary"]
        levels = [each.number("bytes_reserved") + each.number("bytes_allocated") for each in events]
        peak = events[levels.index(max(levels))]
        facts = told(frame)
        assert whole(facts["Peak stack + heap"]) == max(levels)
        assert max(levels) == int(answer["peakStats"]["peakBytesInUse"])
        for area, name in _AREAS.items():
            assert whole(facts[f"{area.capitalize()} then"]) == peak.number(name)
        capacity = int(answer["memoryCapacity"])
        assert facts["Free then"][1] == f"of {in_words(capacity)}"
        assert sum(whole(facts[f"{area.capitalize()} then"]) for area in _AREAS) == capacity
        part = float(peak.stats["fragmentation"])
        assert facts["Free list fragmentation"][0] == percent(part)
        assert f"= {part:g}, as the allocator reports" in facts["Free list fragmentation"][2]
        lifetime = max(each.number("peak_bytes_in_use") for each in events)
        assert whole(facts["Lifetime peak"]) == lifetime
        allocated = [before(events), *(each.number("bytes_allocated") for each in events)]
        assert whole(facts["Peak allocated"]) == max(allocated)
        assert whole(facts["Before the window"]) == before(events)
        births = sum(each.born for each in events)
        assert facts["Allocations / frees"][0] == f"{births} / {len(events) - births}"
    assert seen == set(walked)
    pictures(watched.page)


def percent(part: float) -> str:
    return "< 0.1 %" if 0 < part < 0.0005 else f"{100 * part:.1f} %"


@pytest.mark.parametrize("run", TRACES)
def test_every_device_of_a_trace(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, run: str
) -> None:
    path = shared_data / FILES[run]
    known = json.loads((path.parent / "facts.json").read_text())[path.name]
    assert len(known) == TRACES[run]
    frame = opened(watched, profiled, run, axis="event")
    seen = set()
    for key in clicked(watched, frame, len(known)):
        seen.add(key := key or next(iter(known)))
        expected, facts = known[key], told(frame)
        assert whole(facts["Peak allocated"]) == expected["allocated_peak"]
        assert whole(facts["Before the window"]) == expected["allocated_start"]
        assert facts["Allocations / frees"][0] == f"{expected['allocs']} / {expected['frees']}"
        assert ("Reserved at peak" in facts) == (expected["reserved_peak"] > 0)
        if "Reserved at peak" in facts:
            most = facts["Reserved at peak"][2].partition("At most: ")[2]
            assert most == in_words(expected["reserved_peak"])
        assert not {"Lifetime peak", "Heap then", "Free then"} & set(facts)
    assert seen == set(known)
