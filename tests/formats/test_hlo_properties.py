"""Plans of heaps that chance makes, against a walk event by event that adds everything up anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis import plan_reading as reading
from tests.fixtures.hlo import Module, shape
from tests.formats.hlo_reading import compiler_peak, curve, lives, plan, read, rows
from tests.properties import examples

BUFFERS, ALLOCATIONS = 7, 3
Event = tuple[str, int, int]  # "+", "-" or "=", buffer, and the one it shares with


@dataclass(frozen=True)
class World:
    """Buffers in temporary allocations, what is held all the time, and events of two traces."""

    sizes: list[int]
    padding: list[int]
    inside: list[int]  # the allocation of each buffer
    slack: list[int]  # what each allocation is larger than it must be
    held: list[tuple[int, int, str]]  # bytes, those of its buffer, and what it is
    events: list[tuple[Event, int]]  # in program order, each with its trace

    def module(self) -> Module:
        made = Module()
        below = [0] * ALLOCATIONS
        offsets: list[dict[int, int]] = [{} for _ in below]
        for place, size in enumerate(self.sizes):
            made.instruction(f"b{place}", shape("pred", max(0, size - self.padding[place])))
            number, at = made.buffer(f"b{place}", size), self.inside[place]
            offsets[at][number] = below[at]
            below[at] += size
        for at, size in enumerate(below):
            made.allocation(size + self.slack[at], offsets[at])
        for place, (size, least, kind) in enumerate(self.held):
            made.instruction(f"h{place}", shape("pred", least))
            buffer = {made.buffer(f"h{place}", size): 0}
            parameter = place if kind == "parameter" else None
            flags = [kind] if parameter is None else []
            made.allocation(size, buffer, kinds=flags, parameter=parameter)
        words: list[list[str]] = [[], []]
        for at, ((sign, first, second), trace) in enumerate(self.events):
            made.instruction(f"e{at}")
            word = f"{first + 1}={second + 1}" if sign == "=" else f"{sign}{first + 1}"
            words[trace].append(f"{word}@e{at}")
        for trace, said in enumerate(words):
            if said:
                made.trace(" ".join(said), of=trace)
        return made


@st.composite
def worlds(draw: st.DrawFn) -> World:
    def each(strategy: st.SearchStrategy[int], count: int) -> list[int]:
        return draw(st.lists(strategy, min_size=count, max_size=count))

    buffer = st.integers(0, BUFFERS - 1)
    event = st.tuples(st.sampled_from("+-+-="), buffer, buffer)
    size = st.integers(0, 9) | st.integers(1 << 40, (1 << 40) + 9)
    count = draw(st.integers(0, 30))
    kinds = st.sampled_from(["parameter", "output", "constant", "thread-local"])
    held = draw(st.lists(st.tuples(size, size, kinds), max_size=4))
    return World(
        each(size, BUFFERS),
        each(st.integers(0, 3), BUFFERS),
        each(st.integers(0, ALLOCATIONS - 1), BUFFERS),
        each(st.integers(0, 3), ALLOCATIONS),
        [(max(pair), min(pair), kind) for *pair, kind in held],
        draw(st.lists(st.tuples(event, st.integers(0, 1)), min_size=count, max_size=count)),
    )


class Walk:
    """Who uses whose memory, by the owner; all of it looked through after every event."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.users: dict[int, list[int]] = {}
        self.owner: dict[int, int] = {}
        self.begun: dict[int, tuple[int, int]] = {}  # by owner: who took the memory, and when
        self.shares: dict[int, int] = {}  # since when, of those that did not
        self.found: Counter[tuple[int, int, int | None, int, bool]] = Counter()
        self.states = [self.step(at, event) for at, (event, _) in enumerate(world.events)]
        for buffer in list(self.owner):
            self.let_go(buffer, None)

    def step(self, at: int, event: Event) -> dict[int, list[int]]:
        sign, buffer, other = event
        alive = {each for users in self.users.values() for each in users}
        if sign == "-" and buffer in alive:
            self.let_go(buffer, at)
        elif sign != "-" and buffer not in alive:
            self.owner[buffer] = self.owner.get(other, other) if sign == "=" else buffer
            if self.owner[buffer] in self.users:
                self.shares[buffer] = at
            else:
                self.begun[self.owner[buffer]] = (buffer, at)
            self.users.setdefault(self.owner[buffer], []).append(buffer)
        return {owner: list(users) for owner, users in self.users.items()}

    def let_go(self, buffer: int, at: int | None) -> None:
        owner = self.owner[buffer]
        if buffer not in self.users.get(owner, []):
            return
        size = self.world.sizes[owner]
        self.users[owner].remove(buffer)
        if buffer in self.shares:
            self.found[buffer + 1, self.shares.pop(buffer), at, size, False] += 1
        if not self.users[owner]:
            del self.users[owner]
            who, since = self.begun.pop(owner)
            self.found[who + 1, since, at, size, True] += 1


def in_allocation(world: World, state: dict[int, list[int]], allocation: int | None) -> int:
    return sum(world.sizes[owner] for owner in state if allocation in (None, world.inside[owner]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("heaps")


@examples(100)
@given(world=worlds())
def test_curve_peak_and_lives(folder: Path, world: World) -> None:
    recording, walk = read(folder, world.module()), Walk(world)
    touched = {world.inside[buffer] for (_, buffer, _), _ in world.events}
    static = sum(size for size, _, kind in world.held if kind != "thread-local")
    sizes = [
        sum(size for size, inside in zip(world.sizes, world.inside, strict=True) if inside == at)
        + world.slack[at]
        for at in range(ALLOCATIONS)
    ]
    untraced = sum(size for at, size in enumerate(sizes) if at not in touched)
    if not sum(sizes) + sum(size for size, _, _ in world.held) and not world.events:
        assert rows(recording, "plans") == []
        return
    found = plan(recording)
    assert (found["indefinite"], found["untraced"]) == (static, untraced)
    assert found["total"] == static + sum(sizes)
    level = static + untraced
    expected = [level + in_allocation(world, state, None) for state in walk.states]
    assert curve(recording) == expected
    assert found["peak"] == max([level, *expected])
    highest = found["peak"] > level
    assert found["peak_event"] == (expected.index(found["peak"]) if highest else 0)
    temporary = Counter(life for life in lives(recording) if life[1] is not None)
    assert temporary == walk.found
    most = {
        at: max([0, *(in_allocation(world, state, at) for state in walk.states)]) for at in touched
    }
    assert found["fragmentation"] == sum(sizes[at] - most[at] for at in touched)


@examples(100)
@given(world=worlds())
def test_who_is_alive_sums_to_the_curve_at_every_moment(folder: Path, world: World) -> None:
    recording = read(folder, world.module())
    for each in reading.all_plans(recording):
        size, bare, offset, allocation = (
            recording.values("buffer_lives", name)
            for name in ("size", "unpadded", "offset", "allocation")
        )
        bare_curve = rows(recording, "plan_events", "unpadded")
        for event in range(-1, each.numbers["events"]):
            alive = reading.alive(recording, each, event)
            assert size[alive].sum() == reading.in_use(recording, each, event)
            if event >= 0:
                assert bare[alive].sum() == bare_curve[event]
            # Each lies in its allocation, and allocations one upon another.
            assert (offset[alive] >= 0).all()
            assert (offset[alive] + size[alive] <= each.numbers["total"]).all()
        at_peak = reading.alive(recording, each, reading.moment(each, "peak"))
        peaks = (each.numbers["peak"], each.numbers["unpadded_peak"])
        assert (size[at_peak].sum(), bare[at_peak].sum()) == peaks
        assert (allocation >= 0).all()


def by_the_compiler(world: World) -> int:
    """What ``ComputePeakMemoryImpl`` counts, with objects as it has them."""
    users = [0] * BUFFERS
    below: dict[int, int] = {}
    now = most = sum(size for size, _, kind in world.held if kind != "thread-local")
    for trace in range(2):
        for (sign, buffer, other), of in world.events:
            if of != trace:
                continue
            root = other if sign == "=" else buffer
            while sign != "+" and root in below:
                root = below[root]
            if sign == "=" and root != buffer:
                below[buffer] = root
            if sign == "-":
                below.pop(buffer, None)
            users[root] += -1 if sign == "-" else 1
            if users[root] == (0 if sign == "-" else 1):
                now += -world.sizes[root] if sign == "-" else world.sizes[root]
            most = max(most, now)
    return most


@examples(100)
@given(world=worlds())
def test_the_peak_by_the_compiler(folder: Path, world: World) -> None:
    assert compiler_peak(read(folder, world.module())) == by_the_compiler(world)


@examples(20)
@given(world=worlds())
def test_equal_traces_change_nothing(folder: Path, world: World) -> None:
    made = world.module()
    once = read(folder, made)
    made.traces = [each for trace in made.traces for each in (trace, trace)]
    twice = read(folder, made)
    for table in ("plans", "plan_events", "buffer_lives", "plan_modules"):
        assert once.table(table).equals(twice.table(table))
