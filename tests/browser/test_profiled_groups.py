"""Groups of real traces, XPlanes and timelines: their colours, and what is found by their names."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.api import load
from tests.browser.born import Born, Walk, of_trace, of_xplane
from tests.browser.conftest import Watched
from tests.browser.looking import link
from tests.browser.looping import whole_legend
from tests.browser.picturing import Picture
from tests.browser.real import MIB, hits, until
from tests.browser.reference import BACKGROUND, CATEGORIES, EDGE, FAINT, mixed
from tests.browser.strips import PALE
from tests.browser.xplanes import FILES, opened
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

#: Events in view on both sides of one, and the least pixels that an allocation is looked at with.
AROUND, TALL = 8, 4
NONE = {"op": "no op known", "module": "no module known", "step": "outside any step"}

#: Categories as PyTorch's profiler counts them.
ORDER = ("parameter", "optimizer_state", "input", "temporary", "activation", "gradient")
COLOURS = {**CATEGORIES, "input": "#228833"}

RUNS = {
    "bert": ("1:0", ("op", "module")),
    "bfc": ("bfc_cpu_allocator_for_gpu", ("op", "step")),
}

#: What is searched for, and whether a life is found by it.
QUERIES: dict[str, dict[str, Callable[[Born], bool]]] = {
    "bert": {
        "op:addmm": lambda life: "addmm" in life.of["op"],
        "op=aten::add": lambda life: life.of["op"] == "aten::add",
        "module:layernorm step:6": lambda life: "LayerNorm" in life.of["module"],
        "step:7": lambda life: False,
    },
    "bfc": {
        "step:3": lambda life: life.of["step"] == 3,
        "step>=2 -step:5 size>1MiB": lambda life: 2 <= life.of["step"] < 5 and life.bytes > MIB,
        "op:matmul step:4": lambda life: (
            "matmul" in (life.of["op"] or "").lower() and life.of["step"] == 4
        ),
    },
}


def walked(shared_data: Path, run: str) -> Walk:
    path = shared_data / FILES[run]
    return of_trace(path.name, RUNS[run][0]) if run == "bert" else of_xplane(path, RUNS[run][0])


@pytest.mark.parametrize("run", RUNS)
def test_what_is_hovered_has_the_colour_and_name_of_its_group(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, pictures: Any, run: str
) -> None:
    walk = walked(shared_data, run)
    key, groupings = RUNS[run]
    asked: dict[str, Any] = {"view": "allocations", "axis": "event", "device": key}
    shown = Picture(watched.page, opened(watched, profiled, run, **asked))
    assert shown.highest()[0] == max(walk.allocated)
    for by in groupings:
        go(shown, run, {**asked, "by": by})
        legend = whole_legend(shown)
        event = max(range(AROUND, len(walk.allocated)), key=lambda at: kinds(walk, by, at, legend))
        base, total = walk.older(event), walk.allocated[event]
        seen = max(base - (total - base) // 8, 0), total
        words = {"by": by, "at": event, "bytes": "{}..{}".format(*seen)}
        words["window"] = f"{event - AROUND}..{event + AROUND + 1}"
        go(shown, run, {**asked, **words})
        drawn = check(shown, walk, by, event, seen)
        pictures(watched.page, by)
    box = shown.frame.get_by_label("Find allocations")
    for query, hit in QUERIES[run].items():
        box.fill(query)
        alive = [life.bytes for life in walk.lives if hit(life) and life.at(event)]
        every = [life.bytes for life in walk.lives if hit(life)]
        until(shown, lambda: hits(shown), [len(every), sum(every), len(alive), sum(alive)])
        shown.wait()
        column = middle(shown)
        for life, at, colour in drawn:
            faint = mixed(colour, BACKGROUND["light"], FAINT)
            assert column[at] == (colour if hit(life) else faint), query


def go(shown: Picture, run: str, words: dict[str, Any]) -> None:
    address = link(run, Path(FILES[run]).name, **words)
    shown.page.evaluate("address => { location.hash = address; }", address)
    shown.wait()


def kinds(walk: Walk, by: str, event: int, legend: Container[str]) -> int:
    """How many groups with a colour of their own can be told apart after an event."""
    least = (walk.allocated[event] - walk.older(event)) / 100
    alive = (life for life in walk.lives if life.at(event) and life.bytes > least)
    return len({name for life in alive if (name := called(life, by)) in legend})


def middle(shown: Picture) -> list[str]:
    """The colours of the column in the middle from the bottom up."""
    pixels = shown.pixels()
    return pixels[len(pixels) // 2]


def check(
    shown: Picture, walk: Walk, by: str, event: int, seen: tuple[int, int]
) -> list[tuple[Born, int, str]]:
    """That whatever is tall enough is in its group's colour and called so, in the order of birth.

    Answers what that is, the pixel in the middle of each, and its colour.
    """
    legend = whole_legend(shown)
    rest = next((colour for name, colour in legend.items() if "smaller groups" in name), "")
    column = middle(shown)
    low, high = seen
    pixel = (high - low) / len(column)
    # What is alive after one event only is on top of the others.
    pile = sorted(
        (life for life in walk.lives if life.at(event)),
        key=lambda life: life.death - life.birth == 1,
    )
    tops = itertools.accumulate((life.bytes for life in pile), initial=walk.older(event))
    found: dict[str, str] = {}
    drawn = []
    for life, below in zip(pile, tops, strict=False):
        if life.bytes < TALL * pixel:
            continue
        name = called(life, by)
        place = int((below + life.bytes / 2 - low) / pixel)
        colour = column[place]
        assert colour == legend.get(name, rest), (name, colour, legend)
        if name not in found:
            told = shown.hover(0.5, (place + 0.5) / len(column))
            assert f"{life.bytes} bytes" in told
            assert told.split("\n")[0].endswith(name if name in legend else "smaller groups")
        found[name] = colour
        drawn.append((life, place, colour))
    assert len({*found.values()}) > 3
    # And under all of it what was there before.
    assert column[2] == legend["before the window"]
    return drawn


def called(life: Born, by: str) -> str:
    value = life.of[by]
    return NONE[by] if value is None else f"step {value}" if by == "step" else value


def test_categories_of_a_timeline_are_drawn_and_found(
    watched: Watched, profiled: TensorBoardServer, shared_data: Path, pictures: Any
) -> None:
    path = shared_data / FILES["timeline"]
    _, levels = json.loads(path.read_text())
    # Nothing is in the first column; the last are details of autograd, and what is of no category.
    level = dict(zip(ORDER, max(levels, key=sum)[1:], strict=False))
    event = load(path).devices["device"]["allocated_peak_event"]
    total = sum(level.values())
    asked = {"view": "allocations", "axis": "event", "bytes": f"0..{total}"}
    window = f"{event - AROUND}..{event + AROUND + 1}"
    shown = Picture(watched.page, opened(watched, profiled, "timeline", **asked, window=window))
    column = middle(shown)
    for category, size in level.items():
        colour = COLOURS[category]
        shades = {colour, mixed(colour, "#000000", EDGE), mixed(colour, BACKGROUND["light"], PALE)}
        own = [at for at, pixel in enumerate(column) if pixel in shades]
        assert abs(len(own) - size / total * len(column)) < 4, category
        if own:
            told = shown.hover(0.5, (own[len(own) // 2] + 0.5) / len(column)).split("\n")[0]
            assert told.endswith(f" of {category.replace('_', ' ').capitalize()}"), told
        shown.frame.get_by_label("Find allocations").fill(f"category:{category}")
        until(shown, lambda size=size: hits(shown)[-1:], [size])
    pictures(watched.page)
