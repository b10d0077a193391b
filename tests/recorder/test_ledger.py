"""Histories with holes, and devices that count for themselves, through the ledger."""

from __future__ import annotations

from typing import Any

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.recorder.engine import StepUsage
from tb_memory_plugin.recorder.profiler.tables import tables
from tb_memory_plugin.recorder.profiler.told import profiled
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.schema import Category
from tests.recorder.fakes import History, storage

Row = dict[str, Any]


def derived(history: History) -> tuple[list[Row], list[str]]:
    """The lives that analysis makes of the history, and what it finds odd."""
    ledger = history.take()
    meta = {
        "format": "torch_profiler",
        "basis": "size",
        "devices": [{"key": name, "name": name} for name in ledger.devices],
    }
    recording = derive(builder.recording(meta, tables(ledger, history.program)))
    return recording.table("allocations").to_pylist(), list(recording.meta["problems"])


def test_an_address_given_out_again_ends_the_life_that_was_there() -> None:
    history = History()
    history.memory(0x1000, 64)
    history.memory(0x1000, 32)
    lives, problems = derived(history)
    assert [(row["size"], row["birth"], row["death"]) for row in lives] == [
        (64, 0, 1),
        (32, 2, None),
    ]
    assert history.ledger.unseen_frees == 1
    assert problems == []


def test_a_free_takes_the_size_its_allocation_had() -> None:
    history = History()
    history.memory(0x1000, 64)
    history.memory(0x1000, -48)  # freed and allocated again where nobody looked
    lives, problems = derived(history)
    assert [(row["size"], row["death"]) for row in lives] == [(64, 1)]
    assert problems == []


def test_a_free_without_a_birth_was_alive_before_the_window() -> None:
    history = History()
    history.memory(0x1000, -512, "cuda:0")
    lives, _ = derived(history)
    assert [(row["size"], row["birth"], row["death"]) for row in lives] == [(512, None, 0)]


def test_a_free_on_a_cpu_without_a_birth_is_of_unknown_size() -> None:
    """Torch reports the size it last profiled at the address, maybe that of another block."""
    history = History()
    history.memory(0x2000, 8)
    history.memory(0x1000, -48)
    history.step(0)
    lives, _ = derived(history)
    assert [(row["size"], row["birth"], row["death"]) for row in lives] == [(8, 0, None)]
    assert history.ledger.usage == [StepUsage(0, "cpu", 8, 8)]
    assert history.ledger.unknown_frees == 1


def test_a_tracked_storage_without_a_birth_was_alive_before_the_window() -> None:
    history = History()
    history.memory(0x9000, 8)
    history.sight(storage(0x1000, 400, [False]))
    history.memory(0x9000, -8)
    lives, problems = derived(history)
    before = lives[0]
    assert (before["size"], before["birth"], before["death"]) == (400, None, None)
    assert (before["name"], before["shape"], before["category"]) == ("w1000", "[100]", 0)
    assert before["category_inferred"] is False
    assert problems == []


def test_a_tracked_storage_that_goes_ends_when_it_is_missed() -> None:
    gone = [False]
    history = History()
    history.sight(storage(0x1000, 400, gone))
    history.memory(0x9000, 8)
    history.take()
    gone[0] = True
    history.memory(0x9100, 8)
    history.sight(storage(0x2000, 4, [False]))
    lives, _ = derived(history)
    row = next(row for row in lives if row["address"] == 0x1000)
    assert (row["size"], row["birth"], row["name"]) == (400, None, "w1000")
    assert row["death"] == 2


def test_a_tracked_storage_where_others_lay_was_born_unseen() -> None:
    history = History()
    history.memory(0x1010, 8)
    history.memory(0x1010, -8)
    history.sight(storage(0x1000, 400, [False]))
    lives, problems = derived(history)
    row = next(row for row in lives if row["size"] == 400)
    assert (row["birth"], row["death"], row["name"]) == (2, None, "w1000")
    assert history.ledger.unseen_births == 1
    assert problems == []


def test_steps_have_their_highest_and_last_bytes() -> None:
    history = History()
    history.sight(storage(0x100, 1000, [False]))
    history.memory(0x1000, 64)
    history.memory(0x2000, 36)
    history.memory(0x1000, -64)
    history.step(0)
    history.memory(0x3000, 1)
    history.step(1)
    assert history.take().usage == [
        StepUsage(0, "cpu", 1100, 1036),
        StepUsage(1, "cpu", 1037, 1037),
    ]


def test_a_device_that_counts_for_itself_is_believed() -> None:
    """CUDA's allocator reports what it holds, also from before the window."""
    history = History()
    history.memory(0x1000, 512, "cuda:0", total_allocated=9_512, total_reserved=20_000)
    history.memory(0x1000, -512, "cuda:0", total_allocated=9_000, total_reserved=20_000)
    history.memory(0x40, 3)
    history.step(5)
    assert history.take().usage == [
        StepUsage(5, "cuda:0", 9_512, 9_000, 20_000, 20_000),
        StepUsage(5, "cpu", 3, 3),
    ]


def test_two_devices_may_use_the_same_address() -> None:
    history = History()
    history.memory(0x1000, 64, "mps:0")
    history.memory(0x1000, 32, "cpu")
    history.memory(0x1000, -64, "mps:0")
    lives, problems = derived(history)
    assert [(row["device"], row["size"], row["birth"], row["death"]) for row in lives] == [
        (0, 64, 0, 1),
        (1, 32, 0, None),
    ]
    assert problems == []


def test_other_engines_are_told_of_births_on_their_device() -> None:
    history = History()
    history.memory(4096, 512, "cuda:0")
    history.memory(4096, 16)
    history.sight(storage(4096, 512, [False], "cuda:0"))
    history.memory(4096, -512, "cuda:0")
    history.memory(4096, 1024, "cuda:0")
    ledger = history.take()
    assert profiled(ledger, "cuda:1") is None
    found = profiled(ledger, "cuda:0")
    assert found is not None
    assert found.time.tolist() == [0, 4]
    assert found.address.tolist() == [4096, 4096]
    assert found.size.tolist() == [512, 1024]
    assert found.category.tolist() == [Category.PARAMETER, Category.UNKNOWN]
    assert found.guessed.tolist() == [0, 1]
    codes, words = found.texts["name"]
    assert [words[code] if code >= 0 else None for code in codes] == ["w1000", None]
