"""The table of operators: which rows, in which order, and what is said about what is missing."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import operators
from tests.fixtures.histories import history
from tests.fixtures.training import training

STACKS = [
    [("aten::empty", "", 0), ("aten::linear", "", 0)],
    [("aten::linear", "", 0)],
]
SPANS = [
    {"kind": "op", "name": name, "begin": begin, "end": begin + 900}
    for name, begin in (("aten::empty", 0), ("aten::linear", 0), ("aten::linear", 4000))
]


def traced() -> Recording:
    """Two allocations in nested operators, one of them freed in the outer, one outside."""
    events: list[Any] = [
        ("alloc", 0x100, 1000, {"stack": 0}),
        ("alloc", 0x200, 300, {"stack": 1}),
        ("free", 0x100, 1000, {"stack": 1}),
        ("free", 0x200, 300),
        ("alloc", 0x300, 7),
    ]
    labels = [
        {"event": 0, "address": 0x100, "op": "aten::empty"},
        {"event": 1, "address": 0x200, "op": "aten::linear"},
    ]
    return derive(history(events, labels=labels, spans=SPANS, stacks=STACKS))


def ask(recording: Recording, **question: Any) -> dict[str, Any]:
    return operators.page(recording, recording.devices[0], **question)


def test_a_trace_tells_everything() -> None:
    answer = ask(traced())
    assert answer["freed_where"] and answer["notes"] == []
    assert (answer["before"], answer["after"]) == (0, 7)
    assert answer["total"] == {
        "operators": 2,
        "count": 3,
        "frees": 2,
        "bytes": 1307,
        "increase": 7,
    }
    assert answer["rows"] == [
        {
            "op": "aten::empty",
            "label": "aten::empty",
            "calls": 1,
            "count": 1,
            "self_count": 1,
            "bytes": 1000,
            "self_bytes": 1000,
            "increase": 1000,
            "self_increase": 1000,
            "peak": 1000,
        },
        {
            "op": None,
            "label": "outside any operator",
            "calls": None,
            "count": 1,
            "self_count": 1,
            "bytes": 7,
            "self_bytes": 7,
            "increase": -293,
            "self_increase": -293,
            "peak": 7,
        },
        {
            "op": "aten::linear",
            "label": "aten::linear",
            "calls": 2,
            "count": 2,
            "self_count": 1,
            "bytes": 1300,
            "self_bytes": 300,
            "increase": 300,
            "self_increase": -700,
            "peak": 300,
        },
    ]


@pytest.mark.parametrize("column", operators.SORTS)
def test_sorted_by_any_column(column: str) -> None:
    recording = traced()
    rising = [row[column] for row in ask(recording, sort=column)["rows"]]
    falling = [row[column] for row in ask(recording, sort=f"-{column}")["rows"]]
    if column == "calls":
        rising, falling = ([0 if each is None else each for each in x] for x in (rising, falling))
    assert rising == sorted(rising) and falling == sorted(rising, reverse=True)


def test_pages_and_search() -> None:
    recording = traced()
    assert [row["label"] for row in ask(recording, find="LINEAR")["rows"]] == ["aten::linear"]
    assert ask(recording, find="/^aten::/")["found"] == 2
    assert ask(recording, find="outside")["rows"][0]["op"] is None
    assert [row["label"] for row in ask(recording, offset=1, limit=1)["rows"]] == [
        "outside any operator"
    ]
    # What is told of all of them goes by the window, not by the search.
    assert ask(recording, find="nothing")["total"]["bytes"] == 1307


def test_only_what_moved_memory_in_the_window_is_listed() -> None:
    answer = ask(traced(), begin=1, end=2)
    assert [(row["label"], row["calls"]) for row in answer["rows"]] == [("aten::linear", 0)]
    assert answer["window"] == {"first": 1, "stop": 2, "begin": 1000, "end": 2000}
    assert (answer["before"], answer["after"]) == (1000, 1300)


def test_what_is_not_known_is_said() -> None:
    labelled = ask(training())
    assert [row["calls"] for row in labelled["rows"]] == [None] * 3
    assert not labelled["freed_where"]
    assert ["when operators ran" in note for note in labelled["notes"]] == [True, False]
    assert labelled["rows"][-1]["label"] == "no operator known"
    none = ask(derive(history([("alloc", 1, 5)])))
    assert len(none["notes"]) == 1 and "in which operator" in none["notes"][0]
    assert [row["op"] for row in none["rows"]] == [None]


def test_as_csv() -> None:
    recording = traced()
    text = "".join(operators.whole(recording, recording.devices[0], sort="label"))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["label"] for row in rows] == [
        "aten::empty",
        "aten::linear",
        "outside any operator",
    ]
    assert rows[1]["self_increase"] == "-700" and rows[2]["calls"] == ""


def test_what_cannot_be_sorted_by_is_refused() -> None:
    with pytest.raises(QueryError, match="Cannot sort by 'colour'; choose one of label, calls"):
        ask(traced(), sort="colour")
