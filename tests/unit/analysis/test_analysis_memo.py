"""What is kept, for how long, and how much of it."""

from __future__ import annotations

import gc
import threading
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb_memory_plugin.analysis import memo as memo_module
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.grouping import GROUPINGS
from tb_memory_plugin.analysis.memo import ROOM_PER_EVENT, _Memo
from tb_memory_plugin.recording.recording import open_recording, save
from tb_memory_plugin.views import breakdown, pools, usage
from tb_memory_plugin.views.tile.window import LAYOUTS, tile
from tests.fixtures.histories import history
from tests.unit.analysis.simulated import simulated


def test_work_is_done_once_for_a_recording() -> None:
    kept, calls = _Memo(1 << 20), [0]
    one, other = history(), history()

    def work() -> int:
        calls[0] += 1
        return calls[0]

    assert [kept.get(recording, "name", work) for recording in (one, one, other)] == [1, 1, 2]


def test_the_least_recently_used_makes_room() -> None:
    kept = _Memo(2500)
    recording = history()
    done: list[str] = []

    def ask(name: str) -> None:
        def work() -> IntArray:
            done.append(name)
            return np.zeros(1000, np.int8)

        kept.get(recording, name, work)

    for name in ("a", "b", "a", "c", "a", "b", "a"):
        ask(name)
    assert done == ["a", "b", "c", "b"]


def test_what_is_larger_than_the_room_is_not_kept_and_drops_nothing() -> None:
    kept = _Memo(3000)
    recording = history()
    kept.get(recording, "small", lambda: 1)
    kept.get(recording, "large", lambda: np.zeros(5000, np.int8))
    assert kept.get(recording, "small", lambda: 2) == 1


def test_names_take_room_too() -> None:
    kept = _Memo(10_000)
    recording = history()
    for number in range(100):
        kept.get(recording, ("hits", f"{number} {'x' * 4000}"), lambda: None)
    assert len(kept._results) == 2


def test_a_long_recording_gets_room_by_its_events() -> None:
    recording = history([("alloc", place * 512, 512) for place in range(400)])
    room = ROOM_PER_EVENT * 400
    kept = _Memo(100)
    kept.get(recording, "fits", lambda: np.zeros(room - 200, np.int8))
    kept.get(recording, "does not", lambda: np.zeros(room + 1, np.int8))
    assert kept.get(recording, "fits", lambda: np.ones(1)).size == room - 200
    assert kept.get(recording, "does not", lambda: np.ones(1)).size == 1


@dataclass(frozen=True)
class Pair:
    first: IntArray
    second: list[dict[str, IntArray]]


def test_a_part_of_an_array_takes_the_room_of_all_of_it() -> None:
    kept, recording = _Memo(100_000), history()
    many = np.zeros(10_000, np.int64)  # 80 000 bytes
    kept.get(recording, "part", lambda: many[:1])
    assert kept._held >= many.nbytes
    # What numpy finds is a part of what it looked for it with.
    kept.get(recording, "found", lambda: Pair(np.flatnonzero(many == 0), []))
    assert list(kept._results) == [(id(recording), "found")]
    # 24 000 more would be too many, however deep they are.
    kept.get(recording, "deep", lambda: Pair(many[:0], [{"a": np.zeros(3000, np.int64)}]))
    assert list(kept._results) == [(id(recording), "found")]


def test_mapped_columns_take_no_room(tmp_path: Path) -> None:
    save(history([("alloc", place * 512, 512) for place in range(4000)]), tmp_path / "one.tbmem")
    recording = open_recording(tmp_path / "one.tbmem")
    kept = _Memo(1 << 20)
    kept.get(recording, "sizes", lambda: recording.values("events", "size")[10:])
    assert 0 < kept._held < 1000


def test_whatever_is_asked_no_more_is_held_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recording = simulated(3, expandable=True, calls=200).recording
    device = recording.devices[0]
    room = max(60_000, ROOM_PER_EVENT * len(recording.table("events")))
    kept = _Memo(60_000)
    monkeypatch.setattr(memo_module, "_MEMO", kept)
    dropped = False
    for by in GROUPINGS:
        grouped: dict[str, Any] = {"by": by, "pattern": "a" if by == "pattern" else ""}
        before = set(kept._results)
        usage.window(recording, device, axis="event", width=100, **grouped)
        breakdown.page(recording, device, at="peak", **grouped)
        for layout in LAYOUTS:
            asked: dict[str, Any] = {
                "axis": "event",
                "level": 1,
                "index": 0,
                "layout": layout,
                "height": 100,
            }
            tile(recording, device, **asked, **grouped, filter=f"size>{len(by)}")
        pools.window(recording, device, axis="event", width=100)
        dropped |= not before <= set(kept._results)
        assert held_by([result for result, _ in kept._results.values()]) <= room
    assert dropped, "all had room: that tests nothing"


def held_by(result: Any) -> int:
    """The bytes of all arrays in a result, each once."""
    owners: dict[int, int] = {}

    def look(at: Any) -> None:
        if isinstance(at, np.ndarray):
            while isinstance(at.base, np.ndarray):
                at = at.base
            owners[id(at)] = at.nbytes if at.flags.owndata else 0
        elif isinstance(at, (list, tuple)):
            for each in at:
                look(each)
        elif isinstance(at, dict):
            look(list(at.values()))
        elif is_dataclass(at):
            look([getattr(at, field.name) for field in fields(at)])

    look(result)
    return sum(owners.values())


def test_results_go_with_their_recording() -> None:
    kept = _Memo(1 << 20)
    recording = history()
    kept.get(recording, "name", lambda: np.zeros(100))
    assert kept._held > 0
    del recording
    gc.collect()
    assert kept._held == 0


def test_who_asks_while_it_is_worked_out_waits_for_it() -> None:
    kept, recording = _Memo(1 << 20), history()
    begun, go, done = threading.Event(), threading.Event(), []

    def work() -> int:
        begun.set()
        assert go.wait(30)
        done.append(1)
        return len(done)

    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(kept.get(recording, "name", work)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    assert begun.wait(30)
    assert kept.get(recording, "another", lambda: 7) == 7
    go.set()
    for thread in threads:
        thread.join(30)
    assert found == [1, 1, 1, 1]


def test_who_waited_for_what_failed_does_it_itself() -> None:
    kept, recording = _Memo(1 << 20), history()
    begun, go = threading.Event(), threading.Event()

    def fail() -> int:
        begun.set()
        assert go.wait(30)
        raise ValueError("no")

    failed: list[str] = []

    def first() -> None:
        with pytest.raises(ValueError, match="no"):
            kept.get(recording, "name", fail)
        failed.append("yes")

    found: list[int] = []
    threads = [threading.Thread(target=first)]
    threads[0].start()
    assert begun.wait(30)
    threads.append(threading.Thread(target=lambda: found.append(kept.get(recording, "name", int))))
    threads[1].start()
    go.set()
    for thread in threads:
        thread.join(30)
    assert failed == ["yes"]
    assert found == [0]
