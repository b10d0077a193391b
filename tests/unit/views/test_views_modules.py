"""The list of runs of HLO modules: what is not known, equals, and what is refused."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import modules
from tests.fixtures.histories import history

SPANS = [
    ("jit_g(18446744073709551615)", "TPU:10", 1000, 3000),
    ("jit_f(7)", "TPU:2", 500, 500),
    ("Jit_f", "TPU:2", 1000, None),
    ("jit_f(18446744073709551616)", "TPU:2", None, 900),  # more than 64 bits: part of a name
    ("(3)", "TPU:10", 2000, 2500),
]


def recording(timed: bool = True) -> Recording:
    """A kilobyte an event, then a free; modules before, between and after them."""
    events: list[Any] = [("alloc", n, 1024) for n in range(3)] + [("free", 0, 1024)]
    spans = [
        {"kind": "hlo_module", "name": name, "track": on, "begin": begin, "end": end}
        for name, on, begin, end in SPANS
    ]
    return derive(history(events, spans=spans, timed=timed))


def ask(of: Recording, **question: Any) -> dict[str, Any]:
    return modules.page(of, of.devices[0], **question)


def names(**question: Any) -> list[str]:
    return [row["name"] for row in ask(recording(), **question)["rows"]]


def test_a_row_says_what_is_known() -> None:
    answer = ask(recording())
    assert (answer["found"], answer["modules"], answer["devices"]) == (5, 5, 2)
    assert answer["rows"][0] == {
        "id": "3",
        "program": None,
        "name": "jit_f(18446744073709551616)",
        "on": "TPU:2",
        "begin": None,
        "end": 900,
        "duration": None,
        "begin_event": 0,
        "end_event": 1,
        "before": 0,
        "peak": 1024,
    }
    assert answer["rows"][2] == {
        "id": "0",
        "program": "18446744073709551615",
        "name": "jit_g",
        "on": "TPU:10",
        "begin": 1000,
        "end": 3000,
        "duration": 2000,
        "begin_event": 1,
        "end_event": 3,
        "before": 1024,
        "peak": 3072,
    }
    assert answer["rows"][3]["end_event"] == 4  # its end was not seen


def test_what_is_not_known_comes_last_and_equals_begin_in_order() -> None:
    assert names(sort="program") == [
        "jit_f",
        "jit_g",
        "jit_f(18446744073709551616)",
        "Jit_f",
        "(3)",
    ]
    assert names(sort="-program")[:2] == ["jit_g", "jit_f"]
    assert names(sort="duration")[-2:] == names(sort="-duration")[-2:]
    # What was not seen to begin is the earliest, what was not seen to end the latest.
    assert names(sort="-begin")[-1] == names(sort="begin")[0] == "jit_f(18446744073709551616)"
    assert names(sort="end")[-1] == names(sort="-end")[0] == "Jit_f"
    by_device = [row["on"] for row in ask(recording(), sort="on")["rows"]]
    assert by_device == ["TPU:2"] * 3 + ["TPU:10"] * 2  # by their numbers


def test_after_an_event_runs_what_does_so_before_the_next_one() -> None:
    assert names(at="event:-1") == ["jit_f(18446744073709551616)"]
    assert names(at="event:0") == ["jit_f(18446744073709551616)", "jit_f"]
    assert sorted(names(at="event:1")) == ["Jit_f", "jit_g"]
    assert sorted(names(at="event:2")) == ["(3)", "Jit_f", "jit_g"]
    assert sorted(names(at="peak")) == ["(3)", "Jit_f", "jit_g"]
    assert names(at="event:3", begin=0, end=1) == ["Jit_f"]  # whatever the window


def test_a_time_is_any_nanosecond() -> None:
    assert names(at="time:499") == ["jit_f(18446744073709551616)"]
    assert names(at="time:500") == ["jit_f(18446744073709551616)", "jit_f"]  # takes no time
    assert names(at="time:-7") == ["jit_f(18446744073709551616)"]
    assert sorted(names(at="time:2499")) == ["(3)", "Jit_f", "jit_g"]
    assert sorted(names(at="time:2500")) == ["Jit_f", "jit_g"]
    assert names(at=f"time:{10**19 - 1}") == ["Jit_f"]  # not seen to end
    assert [ask(recording(), at=f"time:{time}")["at"] for time in (-7, 0, 2999, 5000)] == [
        -1,
        0,
        2,
        3,
    ]
    assert ask(recording(timed=False), at="event:1")["rows"] == []
    with pytest.raises(QueryError, match="no time stamps"):
        ask(recording(timed=False), at="time:5")


def test_found_is_what_is_shown() -> None:
    assert names(find="/^jit_f$/") == ["jit_f", "Jit_f"]
    assert names(find="/^7$/") == ["jit_f"]
    assert names(find="/^$/") == []  # no program is not a program without a name


def test_a_window_has_what_touches_it() -> None:
    assert sorted(names(axis="time", begin=500, end=1000)) == [
        "jit_f",
        "jit_f(18446744073709551616)",
    ]
    assert sorted(names(axis="event", begin=3, end=4)) == ["Jit_f", "jit_g"]


def test_without_time_stamps_all_are_listed_and_bytes_are_not_known() -> None:
    answer = ask(recording(timed=False), begin=0, end=2)
    assert answer["found"] == 5 and "no time stamps" in answer["notes"][0]
    assert {row["before"] for row in answer["rows"]} == {None}
    assert {row["begin_event"] for row in answer["rows"]} == {None}


def test_as_csv() -> None:
    of = recording()
    text = "".join(modules.whole(of, of.devices[0], sort="-peak", find="jit_f"))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert tuple(rows[0]) == modules.COLUMNS
    assert [row["program"] for row in rows] == ["", "7", ""]
    assert rows[0]["name"] == "Jit_f" and rows[0]["end"] == ""


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"sort": "colour"}, "choose one of program"),
        ({"find": "/(/"}, "not a regular expression"),
        ({"at": "noon"}, "not a moment"),
        ({"begin": 4, "end": 4}, "beginning before its end"),
    ],
)
def test_what_cannot_be_asked_is_refused(question: dict[str, Any], said: str) -> None:
    of = recording()
    with pytest.raises(QueryError, match=said):
        ask(of, **question)
    with pytest.raises(QueryError, match=said):
        modules.whole(of, of.devices[0], **question)
