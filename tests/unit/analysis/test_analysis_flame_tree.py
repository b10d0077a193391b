"""The tree of calls against one made of dictionaries, a frame at a time."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.flame import weights
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


def ways(recording: Recording, tree: Calls) -> list[Way]:
    """The way to every node, library runs without their lengths."""
    rows = recording.table("frames").to_pylist()
    found: list[Way] = [()]
    for node in range(1, len(tree.parent)):
        frame = int(tree.frame[node])
        row = rows[frame] if frame >= 0 else {}
        said = (row["function"], row["file"], row["line"]) if row else frame
        found.append((*found[int(tree.parent[node])], said))
    return found


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
    whole: Counter[Way] = Counter()
    own: Counter[Way] = Counter()
    counts: Counter[Way] = Counter()
    lengths: dict[Way, set[int]] = {}
    for stack, size in alive:
        way = told(stack, inverted=inverted, folded=folded)
        plain = tuple(_without_length(step) for step in way)
        own[plain] += size
        for depth in range(len(way) + 1):
            whole[plain[:depth]] += size
            counts[plain[:depth]] += 1
            if depth and way[depth - 1] != plain[depth - 1]:
                lengths.setdefault(plain[:depth], set()).add(way[depth - 1][1])
    found = ways(recording, tree)
    assert len(set(found)) == len(found)
    for node, way in enumerate(found):
        assert (int(sums.value[node]), int(sums.own[node])) == (whole[way], own[way])
        assert int(sums.count[node]) == counts[way]
        if way in lengths:
            assert (tree.shortest[node], tree.longest[node]) == (
                min(lengths[way]),
                max(lengths[way]),
            )
    assert set(whole) <= {*found, ()}
    assert len(set(tree.key.tolist())) == len(found)


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
        return int(tree.key[ways(recording, tree).index(way)])

    way = (FRAMES[0], FRAMES[2])
    first = key_of([[FRAMES[2], FRAMES[0]]], way)
    assert first == key_of([[FRAMES[5]], [FRAMES[4], FRAMES[2], FRAMES[0]]], way)
    assert first != key_of([[FRAMES[0], FRAMES[2]]], way[::-1])


def test_a_recording_without_stacks_has_a_tree_all_the_same() -> None:
    recording = derive(history([("alloc", 0, 5)]))
    for inverted in (False, True):
        tree = calls(recording, inverted=inverted, folded=True)
        assert tree.frame.tolist()[1:] == [BEFORE, NONE]
