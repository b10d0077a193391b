"""Names in an allocator's history, of what was seen or profiled while it lived.

The oracle plays an allocator with few addresses, so that each is given out again and again, and
knows which life every sighting was of.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tb_memory_plugin.readers.torch_snapshot import from_structure
from tb_memory_plugin.recorder.additions import labels
from tb_memory_plugin.recorder.labels import Name, Sighting, Storage
from tb_memory_plugin.recorder.profiler.told import Profiled
from tb_memory_plugin.recorder.sighted import MOST, Sighted
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import Category

START = 1_700_000_000_000_000  # µs


@dataclass
class Life:
    address: int
    size: int
    birth: int  # place in the whole history
    time: int  # µs
    death: int | None = None


@dataclass
class Player:
    """An allocator, and a history of the last ``ring`` entries of what it did."""

    seed: int
    ring: int
    entries: list[dict[str, Any]] = field(default_factory=list)
    lives: list[Life] = field(default_factory=list)
    alive: dict[int, Life] = field(default_factory=dict)
    now: int = START

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def act(self) -> None:
        self.now += self.random.randrange(2, 900)
        # Above 2^63 too, as on an XPU.
        address = self.random.choice([4096, 8192, 12288, (1 << 63) + 4096, (1 << 64) - 4096])
        if address in self.alive:
            life = self.alive.pop(address)
            for action in ("free_requested", "free_completed"):
                self._enter(action, life)
            life.death = len(self.entries) - 1
        else:
            life = Life(address, self.random.randrange(1, 4000), len(self.entries), self.now)
            self.alive[address] = life
            self.lives.append(life)
            self._enter("alloc", life)

    def _enter(self, action: str, life: Life) -> None:
        entry = {"action": action, "addr": life.address, "size": life.size, "stream": 0}
        self.entries.append({**entry, "time_us": self.now})

    @property
    def dropped(self) -> int:
        return max(0, len(self.entries) - self.ring)

    def recording(self) -> Recording:
        segments = [
            {
                "device": 0,
                "address": address,
                "total_size": 4096,
                "stream": 0,
                "segment_type": "small",
                "blocks": [
                    {
                        "address": address,
                        "size": 4096,
                        "requested_size": life.size,
                        "state": "active_allocated",
                    }
                ],
            }
            for address, life in self.alive.items()
        ]
        trace = [dict(entry) for entry in self.entries[self.dropped :]]
        return from_structure({"segments": segments, "device_traces": [trace]}, "made")

    def key(self, life: Life) -> tuple[int, int]:
        """How the life's row of labels is found."""
        return (life.birth - self.dropped if life.birth >= self.dropped else -1, life.address)


def name(text: str, category: Category = Category.GRADIENT) -> Name:
    return Name(category, text, "float32", "[1]")


def rows(recording: Recording, *arguments: Any) -> dict[tuple[int, int], dict[str, Any]]:
    found = labels(recording, *arguments).to_pylist()
    keys = [(row["event"], row["address"]) for row in found]
    assert keys == sorted(set(keys))
    return dict(zip(keys, found, strict=True))


@pytest.mark.parametrize("seed", range(40))
def test_every_sighting_names_the_life_it_was_of(seed: int) -> None:
    player = Player(seed, ring=random.Random(seed).choice([4, 40, 1000]))
    sighted = Sighted()
    seen: dict[int, tuple[Life, int]] = {}  # the life, and the entries there were at last
    for _ in range(120):
        player.act()
        if player.random.random() < 0.3:
            chosen = [life for life in player.alive.values() if player.random.random() < 0.6]
            player.now += 2
            names = [name(f"life {player.lives.index(life)}") for life in chosen]
            addresses = [life.address for life in chosen]
            sighted.append(Sighting(player.now * 1000, names, addresses))
            seen |= {player.lives.index(life): (life, len(player.entries)) for life in chosen}
    recording = player.recording()
    found = {key: row["name"] for key, row in rows(recording, sighted, [], ()).items()}
    expected = {
        player.key(life): f"life {number}"
        for number, (life, entries) in seen.items()
        if entries > player.dropped and (life.death is None or life.death >= player.dropped)
    }
    assert found == expected


def test_what_is_gone_between_two_looks_keeps_its_name() -> None:
    player = Player(1, ring=1000)
    sighted = Sighted()
    while len(player.alive) < 3:
        player.act()
    model = list(player.alive.values())

    def look() -> None:
        player.now += 2
        storages = [
            Storage(life.address, life.size, "cuda:0", name(f"w{place}"), lambda: False)
            for place, life in enumerate(model)
            if life in player.alive.values()
        ]
        addresses = [storage.address for storage in storages]
        names = [storage.name for storage in storages]
        sighted.append(Sighting(player.now * 1000, names, addresses, storages))

    look()
    for _ in range(200):
        player.act()
        look()
    recording = player.recording()
    found = {key: row["name"] for key, row in rows(recording, sighted, [], ()).items()}
    assert found == {player.key(life): f"w{place}" for place, life in enumerate(model)}


def test_what_is_alive_is_named_without_times_too() -> None:
    player = Player(2, ring=30)
    for _ in range(100):
        player.act()
    assert player.alive
    for entry in player.entries:
        del entry["time_us"]
    now = [
        Storage(life.address, life.size, device, name("w"), lambda: False)
        for life in player.alive.values()
        for device in ("cuda:0", "cuda:1")
    ]
    found = rows(player.recording(), Sighted(), now, ())
    assert set(found) == {player.key(life) for life in player.alive.values()}


def test_sightings_are_bounded() -> None:
    sighted = Sighted()
    names = [name(str(place)) for place in range(1000)]
    for step in range(3 * MOST // 1000):
        sighted.append(Sighting(step, names, list(range(1, 1001))))
    assert sum(len(addresses) for _, addresses, _ in sighted._seen) == MOST


def witness(births: list[tuple[int, Life]], **facts: Any) -> Any:
    """A profiler that saw ``births`` at times of its own (ns)."""
    births = sorted(births, key=lambda birth: birth[0])
    count = len(births)
    words = [f"op {number}" for number in range(count)]
    none = (np.full(count, -1), list[str]())
    profiled = Profiled(
        np.array([time for time, _ in births], dtype=np.int64),
        np.array([life.address for _, life in births], dtype=np.uint64),
        np.array([-(-life.size // 512) * 512 for _, life in births], dtype=np.int64),
        np.full(count, facts.get("category", Category.ACTIVATION)),
        np.full(count, facts.get("guessed", 1)),
        {"op": (np.arange(count), words)}
        | dict.fromkeys(("name", "dtype", "shape", "module"), none),
    )
    return lambda device: profiled if device == "cuda:0" else None


@pytest.mark.parametrize("seed", range(20))
def test_what_the_profiler_knows_is_told_of_the_same_births(seed: int) -> None:
    """Some births the profiler did not see, and some it saw before the window."""
    player = Player(seed, ring=100)
    for _ in range(200):
        player.act()
        player.now += 60  # two births at one address are further apart than the clocks
    apart = player.random.randrange(-25, 26)
    saw = [life for life in player.lives if player.random.random() < 0.7]
    births = [
        ((life.time + apart) * 1000 + player.random.randrange(-2000, 2000), life) for life in saw
    ]
    found = rows(player.recording(), Sighted(), [], [witness(births)])
    births.sort(key=lambda birth: birth[0])
    expected = {
        player.key(life): f"op {number}"
        for number, (_, life) in enumerate(births)
        if life.birth >= player.dropped
    }
    assert {key: row["op"] for key, row in found.items()} == expected
    assert all(row["inferred"] and row["category"] == Category.ACTIVATION for row in found.values())


def test_births_that_only_one_of_them_saw_are_nobodys() -> None:
    player = Player(5, ring=1000)
    for _ in range(50):
        player.act()
    late = [((life.time + 101) * 1000, life) for life in player.lives if life.address == 4096]
    times = np.array([life.time * 1000 for _, life in late])
    alone = [birth for birth in late if np.abs(times - birth[0]).min() > 100_000]
    assert alone
    assert rows(player.recording(), Sighted(), [], [witness(alone)]) == {}
    small = [(life.time * 1000, Life(life.address, 0, 0, 0)) for life in player.lives]
    assert rows(player.recording(), Sighted(), [], [witness(small)]) == {}


def test_what_was_seen_is_certain_and_keeps_the_operator() -> None:
    player = Player(6, ring=1000)
    player.act()
    (life,) = player.lives
    sighted = Sighted()
    sighted.append(Sighting((player.now + 2) * 1000, [name("w")], [life.address]))
    births = [(life.time * 1000, life)]
    (row,) = rows(player.recording(), sighted, [], [witness(births)]).values()
    assert (row["category"], row["inferred"], row["name"]) == (Category.GRADIENT, False, "w")
    assert row["op"] == "op 0"
