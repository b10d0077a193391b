"""Pages of the list of events."""

from __future__ import annotations

import numpy as np
import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.views import events
from tb_memory_plugin.views.words import allocation_rows
from tests.fixtures.histories import history
from tests.fixtures.training import training
from tests.unit.analysis.test_analysis_event_list import made


def test_rows_say_everything_an_event_has() -> None:
    recording = made()
    answer = events.page(recording, recording.devices[0], offset=1, limit=2)
    assert (answer["events"], answer["count"], answer["offset"]) == (8, 8, 1)
    assert answer["rows"] == [
        {
            "event": 1,
            "time": 1000,
            "action": "alloc",
            "address": "0x1000",
            "size": 100,
            "stream": "default stream",
            "pool": "private pool 0,1",
            "label": "forward · model.py:88",
            "allocation": "0",
            "compile_context": None,
            "user_metadata": None,
        },
        {
            "event": 2,
            "time": 2000,
            "action": "alloc",
            "address": "0x1200",
            "size": 3000,
            "stream": "default stream",
            "pool": None,
            "label": "step · adam.py:1",
            "allocation": "1",
            "compile_context": None,
            "user_metadata": "weights of layer 3",
        },
    ]
    (failed,) = events.page(recording, recording.devices[0], filter="action:oom")["rows"]
    assert (failed["event"], failed["address"], failed["allocation"]) == (5, None, None)


def test_details_say_what_is_known_of_the_allocation_and_of_the_moment() -> None:
    recording = training()
    device = recording.devices[0]
    answer = events.page(recording, device, details=True)
    rows = recording.table("allocations").to_pylist()
    usage = recording.table("usage").to_pylist()
    steps = {0: 3, 4000: 4}
    for row in answer["rows"]:
        about = row["about"]
        last = [one for one in usage if one["device"] == 0 and one["event"] <= row["event"]][-1]
        assert (about["allocated"], about["reserved"]) == (last["allocated"], last["reserved"])
        assert about["step"] == steps[max(begin for begin in steps if begin <= row["time"])]
        of = {} if row["allocation"] is None else rows[int(row["allocation"])]
        for name in ("requested", "size", "name", "op", "module", "region", "dtype", "shape"):
            assert about[name] == of.get(name)
    told = {row["about"]["op"] for row in answer["rows"]}
    assert {"aten::mm", "aten::softmax", None} <= told
    # The same rows, but for that.
    assert events.page(recording, device)["rows"] == [
        {name: value for name, value in row.items() if name != "about"} for row in answer["rows"]
    ]


def test_a_birth_without_a_step_around_it_is_in_that_of_its_allocation() -> None:
    labels = [{"event": 0, "address": 1, "op": "mul", "step": 7}]
    recording = derive(history([("alloc", 1, 5), ("free", 1, 5)], labels=labels, timed=False))
    born, freed = events.page(recording, recording.devices[0], details=True)["rows"]
    assert (born["about"]["step"], freed["about"]["step"]) == (7, None)
    # Without a stack they are called by their operator.
    assert (born["label"], freed["label"], freed["about"]["op"]) == ("mul", "mul", "mul")


def test_made_up_addresses_are_not_told() -> None:
    lacks = [{"what": "addresses", "why": "It has none", "remedy": None}]
    recording = derive(history([("alloc", 7, 5)], missing=lacks))
    (row,) = events.page(recording, recording.devices[0])["rows"]
    assert (row["address"], row["allocation"]) == (None, "0")
    assert allocation_rows(recording, np.array([0]))[0]["address"] is None


@pytest.mark.parametrize(
    ("near", "row", "passes"), [(0, 0, False), (1, 0, True), (2, 1, True), (5, 2, False)]
)
def test_a_list_knows_where_an_event_is(near: int, row: int, passes: bool) -> None:
    recording = made()
    answer = events.page(recording, recording.devices[0], filter="action:alloc", limit=0, near=near)
    assert answer["rows"] == []
    assert answer["near"] == {"event": near, "row": row, "passes": passes}


def test_answers_are_bounded_and_filters_refused() -> None:
    recording = made()
    device = recording.devices[0]
    assert len(events.page(recording, device, limit=1 << 40)["rows"]) == 8
    assert events.page(recording, device, offset=100)["rows"] == []
    with pytest.raises(QueryError, match="not an action"):
        events.page(recording, device, filter="action:nothing")


def test_texts_of_a_program_are_cut_for_the_page_only() -> None:
    recording = derive(history([("alloc", 0x100, 1, {"user_metadata": "long" * 100})]))
    asked = (recording, recording.devices[0])
    assert events.page(*asked)["rows"][0]["user_metadata"] == "long" * 100
    assert events.page(*asked, longest=6)["rows"][0]["user_metadata"] == "longlo…"
