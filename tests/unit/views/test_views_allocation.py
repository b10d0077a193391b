"""Everything about one allocation."""

from __future__ import annotations

import json

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.views import allocation
from tb_memory_plugin.views.allocation import card
from tb_memory_plugin.views.breakdown import allocations, page
from tests.fixtures.histories import Event, history
from tests.fixtures.training import training


def test_a_card() -> None:
    found = json.loads(json.dumps(card(training(), "3")))
    assert found["label"] == "forward · model.py:90"
    kept = (
        "device",
        "birth",
        "free_requested",
        "death",
        "before_window",
        "size",
        "size_inferred",
        "category_inferred",
        "stream",
        "pool",
        "annotation",
        "compile_context",
        "user_metadata",
    )
    assert {name: found[name] for name in kept} == {
        "device": "0",
        "birth": 1,
        "free_requested": 4,
        "death": 5,
        "before_window": False,
        "size": 2048,
        "size_inferred": True,
        "category_inferred": False,
        "stream": "default",
        "pool": "default",
        "annotation": "inner",
        "compile_context": "0/0",
        "user_metadata": None,
    }
    assert [frame["function"] for frame in found["birth_stack"]] == ["softmax", "forward", "main"]
    assert [frame["library"] for frame in found["birth_stack"]] == [True, False, False]
    assert found["death_stack"] == found["birth_stack"]  # that of the request to free it
    assert found["forward_stack"] is None
    assert found["segment"] == {
        "address": "0x1000",
        "size": 0x6000,
        "kind": "large",
        "expandable": False,
        "birth": None,
        "death": None,
    }
    assert found["siblings"] == {"count": 1, "bytes": 2048, "alive_at_peak": 1, "ids": ["3"]}


@pytest.mark.parametrize("by", ["category", "stack", "op", "step", "lifetime"])
def test_a_card_names_the_group_that_lists_it(by: str) -> None:
    recording = training()
    device = recording.devices[0]
    holding = [
        group["key"]
        for group in page(recording, device, at="event:1", by=by)["groups"]
        for row in allocations(recording, device, at="event:1", by=by, key=group["key"])["rows"]
        if str(row["id"]) == "3"
    ]
    assert holding == [card(recording, "3", by)["group"]["key"]]
    assert card(recording, "3")["group"] is None


def test_what_was_there_before_says_so() -> None:
    found = card(training(), "0")
    assert found["before_window"]
    assert found["birth_stack"] is None
    assert found["siblings"] is None
    assert found["name"] == "w"


def test_a_private_pool_and_another_stream_are_named() -> None:
    found = card(training(), "4")
    assert (found["pool"], found["stream"]) == ("private 0,1", "0x7")
    assert found["category_inferred"]


def test_an_allocation_of_another_device() -> None:
    assert card(training(), "6")["device"] == "1"


def test_what_a_size_may_be_comes_from_sizes_that_recur_before_and_after_the_peak() -> None:
    row, table = 2 * 640, 2 * 640 * 900
    events: list[Event] = [
        ("alloc", 1, row), ("free", 1, row),
        ("alloc", 1, table), ("free", 1, table),
        ("alloc", 1, row), ("free", 1, row),
    ]  # fmt: skip
    recording = derive(history(events))
    guesses = card(recording, "1")["guesses"]
    assert {"dimensions": (900, 640), "width": 2} in guesses["shapes"]
    assert guesses["multiples"] == []  # 900 times is no answer
    assert card(recording, "0")["guesses"] == {"shapes": [], "multiples": []}
    twice = derive(history([*events, ("alloc", 2, 5 * row)]))
    assert card(twice, "3")["guesses"]["multiples"] == [{"times": 5, "bytes": row, "count": 2}]


def test_a_known_shape_is_not_guessed_at() -> None:
    labels = [{"event": 0, "shape": "[8, 640]"}]
    recording = derive(history([("alloc", 1, 10_240), ("alloc", 2, 1280)], labels=labels))
    found = card(recording, "0")
    assert (found["shape"], found["guesses"]) == ("[8, 640]", None)


@pytest.mark.parametrize("id", ["7", "-1", "x", "", "١", "9" * 40])
def test_unknown_ids_are_refused(id: str) -> None:
    with pytest.raises(QueryError, match="no allocation"):
        card(training(), id)


def test_siblings_around_it_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = derive(
        history(
            [("alloc", n, 1, {"stack": n % 2}) for n in range(200)],
            stacks=[[("f", "a.py", 1)], [("g", "a.py", 2)]],
        )
    )
    siblings = card(recording, "100")["siblings"]
    assert (siblings["count"], siblings["bytes"], siblings["alive_at_peak"]) == (100, 100, 100)
    assert siblings["ids"] == [str(n) for n in range(0, 200, 2)]
    monkeypatch.setattr(allocation, "_NEAR", 25)
    assert card(recording, "100")["siblings"]["ids"] == [str(n) for n in range(50, 151, 2)]
