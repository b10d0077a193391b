"""The Trace view: what the program did on the pixels of the axis that memory is drawn on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.browser.tracing import (
    Drawn,
    asked,
    recorded,
    spans,
    top_of,
    traced,
    window_of,
)
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

#: Run, device, a window of it, and the track and the lanes that are looked at.
WINDOWS = [
    ("bert", "1:0", (2_000_000, 2_200_000), 0, range(34, 42)),
    ("bert", "1:0", (2_000_000, 2_200_000), 2, range(1)),
    ("v100", "1:1", (600_000_000, 600_500_000), 0, range(2, 5)),
    ("graphs", "6:0", (10_000_000, 10_400_000), 0, range(46, 57)),
    ("tpu", "0", (15_000_000_000, 15_100_000_000), 19, range(1, 5)),
    ("vit", "6:0", (4_356_000, 4_544_000), 0, range(26, 36)),
    ("vit", "6:0", (4_357_000, 4_848_000), 2, range(1)),
    ("qwen", "1:0", (31_336_000, 31_652_000), 0, range(20, 30)),
    ("resnet", "1:0", (527_335_000, 531_043_000), 0, range(5)),
    ("resnet", "1:0", (599_096_000, 603_330_000), 2, range(1)),
    ("mi300", "GPU_0_bfc", (26_477_000, 26_534_000), 0, range(3, 9)),
    ("mi300", "GPU_0_bfc", (26_338_000, 28_052_000), 4, range(2)),
    ("gpus", "GPU_4_bfc", (1_803_342_000, 1_803_556_000), 22, range(1)),
    ("bfc", "bfc_cpu_allocator_for_gpu", (163_035_000, 215_346_000), 0, range(3)),
]


def _edges(opaque: list[int]) -> set[int]:
    """Pixels at which something begins or ends."""
    return {x for x in range(1, len(opaque)) if (opaque[x] > 0) != (opaque[x - 1] > 0)}


def _lane(all_spans: list[Drawn], track: int, depth: int, window: tuple[int, int]) -> list[Drawn]:
    return [
        span
        for span in all_spans
        if (span.track, span.depth) == (track, depth)
        and span.end > window[0]
        and span.begin < window[1]
    ]


@pytest.mark.parametrize(("run", "device", "window", "track", "lanes"), WINDOWS)
def test_spans_are_drawn_where_they_are_on_the_axis_of_the_chart(
    watched: Watched,
    profiled: TensorBoardServer,
    shared_data: Path,
    run: str,
    device: str,
    window: tuple[int, int],
    track: int,
    lanes: range,
) -> None:
    found = spans(recorded(shared_data, run))
    view = traced(watched, profiled, run, device=device, window=window_of(window))
    tracks = asked(profiled, "trace", run, device=device)["tracks"]
    kind = tracks[track]["kind"]
    went = view.scroll(kind, top_of(tracks, track, lanes.start))
    _, width = view.plot()
    scale = width / (window[1] - window[0])
    looked_at = 0
    for depth in lanes:
        lane = _lane(found, track, depth, window)
        places = [
            ((each.begin - window[0]) * scale, (each.end - window[0]) * scale) for each in lane
        ]
        opaque = view.lane(kind, top_of(tracks, track, depth) - went + 1)
        assert len(opaque) == round(width)
        covered = {
            x
            for left, right in places
            for x in range(max(int(left) - 1, 0), min(int(right) + 2, len(opaque)))
        }
        assert {x for x, value in enumerate(opaque) if value > 0} <= covered
        edges = _edges(opaque)
        ends = [right for _, right in places]
        for left, right in places:
            if right - left < 4 or left < 1 or right > width:
                continue
            looked_at += 1
            assert opaque[int((left + right) / 2)] == 255
            # What ends just before it leaves no gap that could be seen.
            if not any(left - 3 < end < left + 1 for end in ends):
                assert any(abs(edge - left) <= 1 for edge in edges), (left, sorted(edges))
    assert looked_at > 2


def test_all_panels_have_one_plot(watched: Watched, profiled: TensorBoardServer) -> None:
    view = traced(watched, profiled, "bert", device="1:0", window="2000000..2200000")
    left, width = view.plot()
    for name in (
        "trace-host-items",
        "trace-device-items",
        "trace-arrows",
        "timeline-stack",
        "timeline-steps-boxes",
        "allocations-curve",
        "allocations-front",
    ):
        box = view.frame.get_by_test_id(name).locator("xpath=..").bounding_box()
        assert (box["x"], box["width"]) == pytest.approx((left, width), abs=0.01), name


def test_the_pointer_and_the_cursor_are_on_one_line_in_all_panels(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    view = traced(watched, profiled, "bert", device="1:0", at=100)
    left, width = view.plot()
    box = view.glass("host").bounding_box()
    x = left + 0.6 * width
    view.page.mouse.move(x, box["y"] + 150)
    settle(view.page)
    lines = view.frame.get_by_test_id("trace-line-hover")
    places = [line.bounding_box()["x"] for line in lines.all()]
    assert len(places) == 4
    assert places == pytest.approx([places[0]] * 4)
    assert places[0] == pytest.approx(x, abs=1.5)
    cursors = [
        line.bounding_box()["x"] for line in view.frame.get_by_test_id("trace-line-cursor").all()
    ]
    assert len(cursors) == 3
    assert len({*cursors}) == 1 and left <= cursors[0] <= left + width


def test_wheel_brush_and_keys_move_the_window_of_all(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    view = traced(watched, profiled, "bert", device="1:0")
    left, width = view.plot()
    box = view.glass("host").bounding_box()

    def window() -> tuple[int, int]:
        settle(view.page)
        begin, end = words_of(settled_address(view.page, "p.memory.window="))["window"].split("..")
        return int(begin), int(end)

    view.page.mouse.move(left + 0.25 * width, box["y"] + 100)
    view.page.mouse.down()
    view.page.mouse.move(left + 0.5 * width, box["y"] + 130, steps=4)
    assert view.frame.get_by_test_id("trace-brush").count() == 4
    view.page.mouse.up()
    whole = 4_871_288
    brushed = window()
    pixel = whole / width
    assert brushed == pytest.approx((0.25 * whole, 0.5 * whole), abs=2 * pixel)
    view.page.mouse.wheel(0, -120)
    closer = window()
    assert closer[1] - closer[0] == pytest.approx((brushed[1] - brushed[0]) / 2**0.5, rel=0.01)
    middle = (closer[0] + closer[1]) / 2
    view.glass("host").press("d")
    moved = window()
    assert (moved[0] + moved[1]) / 2 - middle == pytest.approx(
        0.2 * (closer[1] - closer[0]), rel=0.02
    )
    view.glass("host").press("s")
    assert window()[1] - window()[0] > moved[1] - moved[0]


def test_events_become_times_when_the_view_is_opened(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    words = {"view": "profile", "axis": "event", "window": "50..150", "device": "1:0"}
    where = link("bert", "h100_bert_small.json.gz", **words)
    frame = open_page(watched.page, profiled.url + where)
    settle(watched.page)
    frame.get_by_role("tab", name="Trace").click()
    settle(watched.page)
    words = words_of(settled_address(watched.page, "p.memory.axis=time"))
    assert words["view"] == "trace"
    begin, end = (int(each) for each in words["window"].split(".."))
    assert 804_891 < begin < end < 4_744_978
    event = frame.get_by_role("radio", name="event")
    assert event.is_disabled()


@pytest.mark.parametrize("device", ["0", "1"])
def test_without_times_it_says_why_nothing_is_drawn(
    watched: Watched, server: TensorBoardServer, device: str
) -> None:
    where = link("untimed", "snapshot.pickle", view="trace", device=device)
    frame = open_page(watched.page, server.url + where)
    empty = frame.get_by_test_id("trace-empty")
    empty.wait_for()
    assert "no time stamps" in empty.inner_text()


def test_a_snapshot_alone_says_what_it_lacks(
    watched: Watched, real_server: TensorBoardServer
) -> None:
    where = link("small_train", "snapshot.pickle", view="trace", device="0")
    frame = open_page(watched.page, real_server.url + where)
    settle(watched.page)
    assert "does not say what the program did" in frame.get_by_test_id("trace-nothing").inner_text()
    assert frame.get_by_test_id("allocations-picture").is_visible()
    assert "no spans to be summed up" in frame.locator(".trace-lower").inner_text()


def test_memory_by_span_begins_with_a_kind_that_is_there(
    watched: Watched, real_server: TensorBoardServer
) -> None:
    where = link("annotated_compile", "snapshot.pickle", view="trace")
    frame = open_page(watched.page, real_server.url + where)
    settle(watched.page)
    kinds = frame.get_by_label("Kind of spans")
    assert "op" not in kinds.inner_text()
    table = frame.get_by_role("region", name="Memory by span")
    assert table.get_by_role("alert").count() == 0
    assert table.locator("tbody tr").count() > 0


def test_modules_of_a_tpu_are_drawn_beside_its_operations(
    watched: Watched, profiled: TensorBoardServer
) -> None:
    whole = asked(profiled, "tracks", "tpu", device="0", axis="time", width=1600)["modules"]
    alone = [one for one in whole if one["count"] == 1 and one["on"] == "TPU:0"]
    module = max(alone, key=lambda one: one["end"] - one["begin"])
    air = module["end"] - module["begin"]
    window = module["begin"] - air, module["end"] + air
    view = traced(watched, profiled, "tpu", device="0", window=window_of(window))
    track = view.frame.locator("[data-panel=steps]").get_by_test_id("timeline-modules")
    left, width = view.plot()
    assert "modules in view" in (track.get_attribute("aria-label") or "")
    box = track.bounding_box()
    middle = (module["begin"] + module["end"]) / 2
    x = left + (middle - window[0]) / (window[1] - window[0]) * width
    view.page.mouse.click(x, box["y"] + 6)
    settle(view.page)
    address = settled_address(view.page, "p.memory.span=")
    assert words_of(address)["span"] == module["id"]
    assert "HLO module" in view.inspector.locator(".subtitle").inner_text()
    assert module["name"] in (view.inspector.locator(".title").get_attribute("title") or "")
