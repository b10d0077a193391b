"""The page's tables of what is alive, and their CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import breakdown
from tb_memory_plugin.views import csv as tables
from tests.fixtures.histories import history
from tests.fixtures.training import training
from tests.properties import examples
from tests.unit.analysis.worlds import worlds


def groups(**question: Any) -> dict[str, Any]:
    recording = training()
    whole = {"by": "category", **question}
    answer: dict[str, Any] = json.loads(
        json.dumps(breakdown.page(recording, recording.devices[0], **whole))
    )
    return answer


def allocations(**question: Any) -> dict[str, Any]:
    recording = training()
    whole = {"by": "category", **question}
    answer: dict[str, Any] = json.loads(
        json.dumps(breakdown.allocations(recording, recording.devices[0], **whole))
    )
    return answer


def test_the_peak_by_category() -> None:
    answer = groups()
    kept = {name: value for name, value in answer.items() if name != "groups"}
    assert kept == {
        "device": "0",
        "event": 3,
        "time": 3000,
        "step": 3,
        "total_bytes": 4560,
        "total_count": 5,
        "sums": 0,
        "reserved": 0x7000,
        "rest": {"groups": 0, "bytes": 0, "count": 0},
    }
    assert answer["groups"][0] == {
        "key": "activation",
        "label": "activation",
        "bytes": 2560,
        "count": 2,
        "sums": 0,
        "largest": 2048,
        "oldest_step": 3,
        "oldest_event": 0,
        "oldest_time": 0,
        "category": "activation",
    }
    assert answer["groups"][-1] == {
        "key": "…before",
        "label": "before the window",
        "bytes": 300,
        "count": 1,
        "sums": 0,
        "largest": 300,
        "oldest_step": None,
        "oldest_event": None,
        "oldest_time": None,
        "category": "unknown",
    }


def test_stacks_come_with_their_frames() -> None:
    group = groups(by="stack")["groups"][0]
    assert group["frames"] == [
        {
            "function": "softmax",
            "file": "/env/lib/python3.11/site-packages/torch/nn/functional.py",
            "line": 7,
            "library": True,
        },
        {"function": "forward", "file": "/home/me/model.py", "line": 90, "library": False},
        {"function": "main", "file": "/home/me/train.py", "line": 41, "library": False},
    ]


def test_what_the_limit_leaves_out_is_added_up() -> None:
    answer = groups(limit=1)
    assert [group["key"] for group in answer["groups"]] == ["activation"]
    assert answer["rest"] == {"groups": 3, "bytes": 2000, "count": 3}
    assert answer["total_bytes"] == 4560


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("-bytes", ["activation", "parameter", "gradient", "before the window"]),
        ("bytes", ["before the window", "gradient", "parameter", "activation"]),
        ("label", ["activation", "before the window", "gradient", "parameter"]),
        ("-label", ["parameter", "gradient", "before the window", "activation"]),
        ("-count", ["activation", "parameter", "gradient", "before the window"]),
        ("largest", ["before the window", "gradient", "parameter", "activation"]),
        ("oldest", ["parameter", "before the window", "activation", "gradient"]),
        ("-oldest", ["gradient", "activation", "before the window", "parameter"]),
    ],
)
def test_groups_are_sorted(sort: str, expected: list[str]) -> None:
    assert [group["label"] for group in groups(sort=sort)["groups"]] == expected


def test_stacks_are_sorted_by_label() -> None:
    found = [group["label"] for group in groups(by="stack", sort="label")["groups"]]
    assert found == [
        "no stack recorded",
        "aten::mm",
        "forward · model.py:88",
        "forward · model.py:90",
    ]


def test_a_filter_narrows_groups_and_totals() -> None:
    answer = groups(filter="size>600")
    assert {group["key"]: group["bytes"] for group in answer["groups"]} == {
        "activation": 2048,
        "parameter": 1000,
        "gradient": 700,
    }
    assert (answer["total_bytes"], answer["total_count"]) == (3748, 3)


def test_other_sorts_are_refused() -> None:
    with pytest.raises(QueryError, match="choose one of label, bytes, count, largest, oldest"):
        groups(sort="mood")
    with pytest.raises(QueryError, match="choose one of label, bytes, birth, death"):
        allocations(sort="mood")


def test_the_allocations_of_a_group() -> None:
    answer = allocations(key="activation")
    assert (answer["total_count"], answer["total_bytes"]) == (2, 2560)
    assert answer["rows"][1] == {
        "id": "2",
        "requested": 512,
        "size": 512,
        "category": "activation",
        "name": None,
        "op": "aten::mm",
        "module": "block.0",
        "region": None,
        "dtype": "float32",
        "shape": "[8, 16]",
        "annotation": "load",
        "step": 3,
        "birth": 0,
        "death": None,
        "birth_time": 0,
        "death_time": None,
        "address": "0x3000",
        "label": "forward · model.py:88",
    }


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("-bytes", [2048, 1000, 700, 512, 300]),
        ("-largest", [2048, 1000, 700, 512, 300]),
        ("bytes", [300, 512, 700, 1000, 2048]),
        ("birth", [1000, 300, 512, 2048, 700]),
        ("-death", [1000, 512, 700, 300, 2048]),
        ("label", [700, 300, 512, 2048, 1000]),
    ],
)
def test_allocations_are_sorted(sort: str, expected: list[int]) -> None:
    assert [row["requested"] for row in allocations(sort=sort)["rows"]] == expected


def test_allocations_come_a_page_at_a_time() -> None:
    answer = allocations(limit=2, offset=3)
    assert [row["requested"] for row in answer["rows"]] == [512, 300]
    assert answer["total_count"] == 5
    assert allocations(offset=99)["rows"] == []


def test_labels_say_what_is_known() -> None:
    found = {row["address"]: row["label"] for row in allocations(at="9")["rows"]}
    assert found["0x1000"] == "w"
    assert found["0x6000"] == "no stack recorded"


def many() -> Recording:
    return derive(
        history(
            [("alloc", n, 100 + n, {"stack": n % 30}) for n in range(300)],
            stacks=[[(f"f{n}", "a.py", n + 1)] for n in range(30)],
        )
    )


def test_the_rest_s_key_takes_what_the_chart_calls_the_rest() -> None:
    recording = many()
    device = recording.devices[0]
    shown = breakdown.page(recording, device, by="stack", limit=12)
    rest = breakdown.allocations(recording, device, by="stack", key="…rest", top=12)
    assert rest["total_bytes"] == shown["rest"]["bytes"]
    assert rest["total_count"] == shown["rest"]["count"] == 180


@examples(60)
@given(worlds(), st.integers(-1, 60))
def test_groups_are_what_the_simulation_has_alive(world: Any, event: int) -> None:
    recording = derive(world.recording)
    device = recording.devices[0]
    event = min(event, len(world.alive) - 2)
    truth = world.alive[event + 1]
    for by in ("stack", "size", "step"):
        answer = breakdown.page(recording, device, at=str(event), by=by)
        assert answer["total_bytes"] == sum(size for size, _ in truth.values())
        assert answer["total_count"] == len(truth)
        for group in answer["groups"]:
            members = breakdown.allocations(
                recording, device, at=str(event), by=by, key=group["key"]
            )
            assert members["total_bytes"] == group["bytes"]
            assert members["total_count"] == group["count"]
            assert max(row["requested"] for row in members["rows"]) == group["largest"]


def parsed(pieces: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(pieces))))


def test_groups_as_csv() -> None:
    recording = training()
    rows = parsed(tables.groups(recording, recording.devices[0], by="category"))
    assert [(row["label"], row["bytes"]) for row in rows] == [
        ("activation", "2560"),
        ("parameter", "1000"),
        ("gradient", "700"),
        ("before the window", "300"),
    ]


def test_allocations_as_csv_are_whole() -> None:
    recording = many()
    rows = parsed(tables.allocations(recording, recording.devices[0], by="stack", sort="birth"))
    assert [int(row["requested"]) for row in rows] == [100 + n for n in range(300)]


def test_words_of_a_file_are_no_formulas_in_a_spreadsheet() -> None:
    label = {"event": 0, "address": 1, "name": "=HYPERLINK(1)", "op": "@x"}
    recording = derive(history([("alloc", 1, 5)], labels=[label]))
    (row,) = parsed(tables.allocations(recording, recording.devices[0], by="op"))
    assert (row["name"], row["op"]) == ("'=HYPERLINK(1)", "'@x")


def test_csv_that_cannot_be_asked_is_refused_before_it_begins() -> None:
    recording = training()
    with pytest.raises(QueryError):
        tables.groups(recording, recording.devices[0], by="mood")
    with pytest.raises(QueryError):
        tables.allocations(recording, recording.devices[0], by="op", key="nonsense")
