"""The tree of calls against one made of dictionaries, a frame at a time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.flame import weights
from tb_memory_plugin.analysis.flame_nodes import (
    Named,
    Nodes,
    named,
    node_of,
    nodes_of,
    way_to,
    widest,
)
from tb_memory_plugin.analysis.flame_paths import BEFORE, LIBRARY, NONE
from tb_memory_plugin.analysis.flame_tree import Calls, calls, totals
from tb_memory_plugin.analysis.lines import file_spots, line_spots, spot_totals
from tb_memory_plugin.analysis.telling import is_library
from tb_memory_plugin.analysis.windows import window
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.histories import Event, history

TORCH = "/env/lib/python3.11/site-packages/torch/nn/functional.py"
FRAMES = [
    ("main", "/home/me/train.py", 41),
    ("main", "/home/me/train.py", 42),
    ("forward", "/home/me/model.py", 88),
    ("forward", "/home/you/model.py", 88),
    ("linear", TORCH, 9),
    ("softmax", TORCH, 7),
    ("at::_ops::mm::call(at::Tensor const&)", "", 0),
    ("??", "??", 0),
]
Stack = list[tuple[str, str, int]]
#: A node by what is on the way to it: frames, the word ``library``, or why there is no stack.
Way = tuple[Any, ...]


@st.composite
def stacked(draw: st.DrawFn) -> tuple[Recording, list[tuple[Stack | None, int]]]:
    """A recording, and the stack and the bytes of everything that is alive at its end."""
    stacks = draw(st.lists(st.lists(st.sampled_from(FRAMES), max_size=7), max_size=6))
    events: list[Event] = []
    alive: list[tuple[Stack | None, int]] = []
    for place in range(draw(st.integers(0, 12))):
        size = draw(st.integers(1, 1000))
        stack = draw(st.none() | st.integers(0, len(stacks) - 1)) if stacks else None
        # Stacks are kept once each: their places are those of the first of the same.
        row = None if stack is None else _distinct(stacks).index(stacks[stack])
        events.append(("alloc", 0x1000 * (place + 2), size, {"stack": row}))
        alive.append((None if stack is None or not stacks[stack] else stacks[stack], size))
    blocks = [{"address": event[1], "requested": event[2]} for event in events]
    if draw(st.booleans()):
        blocks.insert(0, {"address": 0x100, "requested": 77})
        alive.append(([("before", "", -1)], 77))
    return derive(history(events, blocks=blocks, stacks=stacks)), alive


def _distinct(stacks: list[Stack]) -> list[Stack]:
    found: list[Stack] = []
    for stack in stacks:
        if stack not in found:
            found.append(stack)
    return found


def told(stack: Stack | None, *, inverted: bool, folded: bool) -> Way:
    """The way to where a stack ends, worked out a frame at a time."""
    if stack is None:
        return (NONE,)
    if stack[0][2] == -1:
        return (BEFORE,)
    named = next((frame for frame in stack if not is_library(frame[1])), None)
    named = named or min(stack, key=lambda frame: (_rank(frame), stack.index(frame)))
    way: list[Any] = []
    run: list[Any] = []
    for frame in [*stack, None]:
        if folded and frame and is_library(frame[1]) and frame != named:
            run.append(frame)
            continue
        way += [(LIBRARY, len(run))] if len(run) > 1 else run
        run = []
        if frame:
            way.append(frame)
    return tuple(way if inverted else reversed(way))


def _rank(frame: tuple[str, str, int]) -> int:
    """Python, then an op, then nothing told: the order in ``telling``."""
    return 1 if frame[1] == TORCH else 3 if "_ops" in frame[0] else 5


@dataclass(frozen=True)
class Whole:
    """All nodes of a tree, and the way to each: library runs without their lengths."""

    nodes: Nodes
    told: Named
    ways: list[Way]

    def ends(self, tree: Calls, node: int) -> bool:
        """Whether a node is the last of its stretch, with which stacks may end."""
        return bool(self.nodes.depth[node] == tree.stretches.end[self.nodes.stretch[node]] - 1)


def whole(recording: Recording, tree: Calls) -> Whole:
    """Every node there is, made at once."""
    of = tree.stretches
    nodes = nodes_of(np.arange(len(of.parent)), of.begin, of.end)
    told = named(recording, tree, nodes)
    rows = recording.table("frames").to_pylist()
    found: list[Way] = []
    last: dict[int, Way] = {-1: ()}  # by stretch
    pairs = zip(nodes.stretch.tolist(), told.frame.tolist(), strict=True)
    for node, (stretch, frame) in enumerate(pairs):
        above = last.get(stretch, last[int(of.parent[stretch])])
        row = rows[frame] if frame >= 0 else {}
        step = (row["function"], row["file"], row["line"]) if row else frame
        found.append((*above, step) if node else ())
        last[stretch] = found[-1]
    return Whole(nodes, told, found)


@given(stacked(), st.booleans(), st.booleans())
def test_every_node_weighs_what_a_tree_of_dictionaries_says(
    made: tuple[Recording, list[tuple[Stack | None, int]]], inverted: bool, folded: bool
) -> None:
    recording, alive = made
    device = recording.devices[0]
    last = len(recording.table("events")) - 1
    weighed = weights(recording, device, "alive", window(recording, device), f"event:{last}")
    tree = calls(recording, inverted=inverted, folded=folded)
    sums = totals(tree, weighed)
    weight: Counter[Way] = Counter()
    own: Counter[Way] = Counter()
    counts: Counter[Way] = Counter()
    lengths: dict[Way, set[int]] = {}
    for stack, size in alive:
        way = told(stack, inverted=inverted, folded=folded)
        plain = tuple(_without_length(step) for step in way)
        own[plain] += size
        for depth in range(len(way) + 1):
            weight[plain[:depth]] += size
            counts[plain[:depth]] += 1
            if depth and way[depth - 1] != plain[depth - 1]:
                lengths.setdefault(plain[:depth], set()).add(way[depth - 1][1])
    found = whole(recording, tree)
    assert len(set(found.ways)) == len(found.ways)
    for node, way in enumerate(found.ways):
        stretch = found.nodes.stretch[node]
        ends = int(sums.own[stretch]) if found.ends(tree, node) else 0
        assert (int(sums.value[stretch]), ends) == (weight[way], own[way])
        assert int(sums.count[stretch]) == counts[way]
        assert int(found.nodes.depth[node]) == len(way)
        if way in lengths:
            told_of = int(found.told.shortest[node]), int(found.told.longest[node])
            assert told_of == (min(lengths[way]), max(lengths[way]))
    assert set(weight) <= {*found.ways, ()}
    assert len(set(found.told.key.tolist())) == len(found.ways)


@given(stacked(), st.booleans(), st.booleans(), st.integers(1, 20), st.integers(1, 12), st.data())
def test_the_widest_nodes_are_those_of_the_whole_tree(
    made: tuple[Recording, list[tuple[Stack | None, int]]],
    inverted: bool,
    folded: bool,
    width: int,
    most: int,
    data: st.DataObject,
) -> None:
    recording, _ = made
    device = recording.devices[0]
    weighed = weights(recording, device, "allocations", window(recording, device))
    tree = calls(recording, inverted=inverted, folded=folded)
    sums = totals(tree, weighed)
    every = whole(recording, tree)
    node = data.draw(st.integers(0, len(every.ways) - 1))
    key = f"{int(every.told.key[node]):016x}"
    top = node_of(recording, tree, key)
    assert top == (int(every.nodes.stretch[node]), int(every.nodes.depth[node]))
    way = every.ways[node]
    to = named(recording, tree, way_to(tree, *top))
    above = {each: int(key) for each, key in zip(every.ways, every.told.key, strict=True)}
    assert to.key.tolist() == [above[way[:depth]] for depth in range(len(way) + 1)]

    def weight(place: int) -> float:
        return float(sums.near[every.nodes.stretch[place]])

    wide = [
        place
        for place, each in enumerate(every.ways)
        if each[: len(way)] == way
        and (place == node or (weight(place) > 0 and weight(place) >= weight(node) / width))
    ]
    keys = every.told.key.tolist()
    largest = sorted((weight(place) for place in wide), reverse=True)
    for at_most in (len(every.ways), most):
        shown, parent = widest(tree, sums.near, top, width, at_most)
        told_of = named(recording, tree, shown)
        assert sums.near[shown.stretch].tolist() == largest[:at_most]
        places = [keys.index(key) for key in told_of.key.tolist()]
        if at_most >= len(wide):
            assert sorted(places) == wide
        assert told_of.frame.tolist() == every.told.frame[places].tolist()
        assert parent[0] == -1
        for place, up in enumerate(parent.tolist()[1:], start=1):
            assert up < place
            assert every.ways[places[up]] == every.ways[places[place]][:-1]


def _without_length(step: Any) -> Any:
    return LIBRARY if isinstance(step, tuple) and step[0] == LIBRARY else step


@given(stacked())
def test_lines_and_files_weigh_what_was_made_at_them_and_passed_through(
    made: tuple[Recording, list[tuple[Stack | None, int]]],
) -> None:
    recording, alive = made
    device = recording.devices[0]
    last = len(recording.table("events")) - 1
    weighed = weights(recording, device, "alive", window(recording, device), f"event:{last}")
    rows = recording.table("frames").to_pylist()
    for spots, of in (
        (line_spots(recording), lambda frame: (frame[1], frame[2])),
        (file_spots(recording), lambda frame: frame[1]),
    ):
        through: Counter[Any] = Counter()
        at: Counter[Any] = Counter()
        for stack, size in alive:
            if stack is None or stack[0][2] == -1:
                continue
            named = next((frame for frame in stack if not is_library(frame[1])), None)
            named = named or min(stack, key=lambda frame: (_rank(frame), stack.index(frame)))
            at[of(named)] += size
            for spot in {of(frame) for frame in stack}:
                through[spot] += size
        sums = spot_totals(spots, weighed)
        for place, row in enumerate(spots.frame.tolist()):
            spot = of((rows[row]["function"], rows[row]["file"], rows[row]["line"]))
            assert (sums.made[place], sums.through[place]) == (at[spot], through[spot])
        nowhere = int(weighed.value[-2:].sum())
        assert int(sums.made.sum()) + nowhere == sum(size for _, size in alive)


def test_a_node_has_the_same_key_in_every_recording() -> None:
    def key_of(stacks: list[Stack], way: Way) -> int:
        recording = derive(
            history([("alloc", 0, 1, {"stack": row}) for row in range(len(stacks))], stacks=stacks)
        )
        tree = calls(recording)
        found = whole(recording, tree)
        return int(found.told.key[found.ways.index(way)])

    way = (FRAMES[0], FRAMES[2])
    first = key_of([[FRAMES[2], FRAMES[0]]], way)
    assert first == key_of([[FRAMES[5]], [FRAMES[4], FRAMES[2], FRAMES[0]]], way)
    assert first != key_of([[FRAMES[0], FRAMES[2]]], way[::-1])


def test_a_recording_without_stacks_has_a_tree_all_the_same() -> None:
    recording = derive(history([("alloc", 0, 5)]))
    for inverted in (False, True):
        tree = calls(recording, inverted=inverted, folded=True)
        assert whole(recording, tree).told.frame.tolist()[1:] == [BEFORE, NONE]
        assert node_of(recording, tree, "0123456789abcdef") is None


def test_stretches_are_fewer_than_two_a_stack_however_deep() -> None:
    stacks = [
        [("leaf", "a.py", n), *[("deep", "a.py", level) for level in range(60)]] for n in range(50)
    ]
    recording = derive(
        history([("alloc", n << 12, 1, {"stack": n}) for n in range(50)], stacks=stacks)
    )
    for inverted, nodes in ((False, 61 + 50 + 2), (True, 1 + 50 * 61 + 2)):
        tree = calls(recording, inverted=inverted)
        of = tree.stretches
        assert int((of.end - of.begin).sum()) == nodes
        assert len(of.parent) == (1 + 1 + 50 + 2 if not inverted else 1 + 50 + 2)
