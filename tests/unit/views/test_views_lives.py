"""The list of all lives of a window against a look at every row."""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_memory_plugin.analysis import life_list
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.life_orders import SORTS
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import Category
from tb_memory_plugin.views import breakdown, lives
from tb_memory_plugin.views.words import allocation_labels, lines
from tests.fixtures.histories import history
from tests.fixtures.training import training
from tests.unit.analysis.worlds import World, worlds

BIG = 10**30


def ask(recording: Recording, device: int = 0, **question: Any) -> dict[str, Any]:
    return lives.page(recording, recording.devices[device], **{"limit": 1000, **question})


def ids(answer: dict[str, Any]) -> list[int]:
    return [int(row["id"]) for row in answer["rows"]]


@settings(max_examples=80, deadline=None)
@given(
    worlds(),
    st.integers(0, 45),
    st.integers(1, 45),
    st.one_of(st.none(), st.integers(0, 5000)),
    st.one_of(st.none(), st.integers(0, 5000)),
    st.booleans(),
    st.sampled_from([2, 1 << 16]),
)
def test_what_is_listed_is_what_lives_then(
    world: World,
    begin: int,
    length: int,
    least: int | None,
    most: int | None,
    timed: bool,
    part: int,
) -> None:
    recording = derive(world.recording)
    rows = recording.table("allocations").to_pylist()
    events = recording.table("events").num_rows
    if timed and not events:
        return
    scale = 1000 if timed else 1
    with patch.object(life_list, "_PART", part):
        answer = ask(
            recording,
            axis="time" if timed else "event",
            begin=begin * scale,
            end=(begin + length) * scale,
            minimum=least,
            maximum=most,
            sort="birth",
        )
    first, stop = min(begin, events), min(begin + length, events)
    expected = [
        row
        for row, life in enumerate(rows)
        if (life["birth"] is None or life["birth"] < stop)
        and (life["death"] is None or life["death"] >= first)
        and (least is None or life["requested"] >= least)
        and (most is None or life["requested"] <= most)
    ]
    assert (answer["window"]["first"], answer["window"]["stop"]) == (first, stop)
    assert ids(answer) == expected
    assert answer["total_count"] == len(expected)
    assert answer["total_bytes"] == sum(rows[row]["requested"] for row in expected)


@settings(max_examples=80, deadline=None)
@given(worlds(), st.integers(-1, 45), st.one_of(st.none(), st.integers(0, 5000)), st.booleans())
def test_at_a_moment_is_what_is_alive_then(
    world: World, at: int, least: int | None, windowed: bool
) -> None:
    recording = derive(world.recording)
    rows = recording.table("allocations").to_pylist()
    at = min(at, recording.table("events").num_rows - 1)
    window = {"begin": 1, "end": 2} if windowed else {}  # whatever it is
    answer = ask(recording, at=f"event:{at}", minimum=least, sort="birth", **window)
    expected = [
        row
        for row, life in enumerate(rows)
        if (life["birth"] is None or life["birth"] <= at)
        and (life["death"] is None or life["death"] > at)
        and (least is None or life["requested"] >= least)
    ]
    assert (answer["at"], ids(answer)) == (at, expected)
    assert answer["total_bytes"] == sum(rows[row]["requested"] for row in expected)
    page = breakdown.page(recording, recording.devices[0], at=f"event:{at}", by="category", limit=1)
    if least is None:
        assert answer["total_bytes"] == page["total_bytes"]
    text = "".join(lives.whole(recording, recording.devices[0], at=str(at), minimum=least))
    assert sorted(int(row["id"]) for row in csv.DictReader(io.StringIO(text))) == expected


def test_a_moment_that_there_is_not_is_refused() -> None:
    with pytest.raises(QueryError, match="has no event 99"):
        ask(training(), at="event:99")
    assert ask(training())["at"] is None and ask(training(), at="peak")["at"] is not None


def value(recording: Recording, row: dict[str, Any], column: str, label: str) -> Any:
    """What a life is sorted by; None where it is not known."""
    if column == "label":
        return label.casefold()
    if column == "bytes":
        return row["requested"]
    if column == "where":
        return None if row["line"] is None else row["line"].casefold()
    if column == "birth":
        return -1 if row["birth"] is None else row["birth"]
    if column == "death":
        return BIG if row["death"] is None else row["death"]
    if column == "duration":
        known = row["birth_time"] is not None and row["death_time"] is not None
        return row["death_time"] - row["birth_time"] if known else None
    if column in ("padding", "expansion"):
        size, asked = row["size"], row["requested"]
        if size is None or asked is None:
            return None
        return size - asked if column == "padding" else Fraction(size, asked)
    found = row[column]
    if column == "category" and found is not None:
        return Category(found).label
    return found.casefold() if isinstance(found, str) else found


@pytest.mark.parametrize("column", SORTS)
@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("few", [0, 1000])
def test_sorted_by_any_column(
    column: str, sign: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(life_list, "_FEW", few)  # more are taken from an order of all
    recording = training()
    rows = recording.table("allocations").to_pylist()[: len(ids(ask(recording)))]
    labels = allocation_labels(recording, np.arange(len(rows)))
    for row, line in zip(rows, lines(recording, np.arange(len(rows))), strict=True):
        row["line"] = line
    keys = [value(recording, row, column, label) for row, label in zip(rows, labels, strict=True)]
    known = [place for place, key in enumerate(keys) if key is not None]
    known.sort(key=lambda place: (keys[place], place), reverse=sign == "-")
    unknown = [place for place, key in enumerate(keys) if key is None]
    assert ids(ask(recording, sort=sign + column)) == known + unknown


def test_a_row_says_all_there_is() -> None:
    answer = ask(training(), sort="-bytes", limit=1)
    (row,) = answer["rows"]
    assert answer["total_count"] == 6 and answer["offset"] == 0
    assert (row["label"], row["requested"], row["op"]) == (
        "forward · model.py:90",
        2048,
        "aten::softmax",
    )
    assert (row["birth_time"], row["death_time"], row["duration"]) == (1000, 5000, 4000)
    assert (row["dtype"], row["shape"], row["step"]) == ("float32", "[8, 64]", 3)
    assert row["category"] == "activation" and not row["sum"]


def test_pages_are_parts_of_the_whole() -> None:
    recording = training()
    whole = ids(ask(recording, sort="-bytes", filter="category:activation -size<10"))
    parts = [
        ids(
            ask(
                recording,
                sort="-bytes",
                filter="category:activation -size<10",
                offset=offset,
                limit=1,
            )
        )
        for offset in range(len(whole) + 1)
    ]
    assert len(whole) == 2
    assert [row for part in parts for row in part] == whole


def test_the_filter_and_sizes_narrow_it_together() -> None:
    answer = ask(training(), filter="op:mm", minimum=600, maximum=700)
    assert [row["requested"] for row in answer["rows"]] == [700]
    assert (answer["total_count"], answer["total_bytes"]) == (1, 700)
    assert ask(training(), minimum=701, maximum=700)["rows"] == []


def test_a_sum_is_said_to_be_one() -> None:
    rest = [{"address": None, "requested": 70, "segment": None}]
    recording = derive(history([("alloc", 0x100, 5)], blocks=rest))
    answer = ask(recording)
    assert [(row["requested"], row["sum"]) for row in answer["rows"]] == [(70, True), (5, False)]
    assert answer["sums"] == 1
    assert ask(recording, maximum=10)["sums"] == 0


def test_lives_of_the_second_device_have_ids_of_their_own() -> None:
    recording = training()
    (row,) = ask(recording, device=1)["rows"]
    assert row["requested"] == 5
    assert int(row["id"]) == len(recording.table("allocations")) - 1


def test_the_whole_list_as_csv() -> None:
    recording = training()
    text = "".join(lives.whole(recording, recording.devices[0], sort="-bytes", minimum=500))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [int(row["requested"]) for row in rows] == [2048, 1000, 700, 512]
    assert rows[0]["duration"] == "4000" and rows[1]["duration"] == ""


def test_what_cannot_be_sorted_by_is_refused() -> None:
    with pytest.raises(QueryError, match="Cannot sort by 'colour'; choose one of label, bytes"):
        ask(training(), sort="-colour")
