"""Groups, their keys and labels, and the order in which they are drawn."""

from __future__ import annotations

import re

import pytest

from tb_memory_plugin.analysis import naming
from tb_memory_plugin.analysis.breakdown import breakdown
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.grouping import FIRST, GROUPINGS, UNKNOWN, group_ids, patterns
from tb_memory_plugin.analysis.instants import resolve
from tb_memory_plugin.analysis.ranking import describe, ranking
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views.breakdown import allocations, page
from tests.fixtures.histories import Event, history
from tests.fixtures.training import training

PEAK = 3  # the event of training() after which it holds most


def at_peak(recording: Recording, by: str, pattern: str = "") -> dict[str, int]:
    """Bytes by label, largest first."""
    device = recording.devices[0]
    groups = group_ids(recording, device, by, pattern)
    found = breakdown(recording, device, PEAK, groups)
    labels = naming.labels(recording, groups, found.group.tolist())
    return dict(zip(labels, found.bytes.tolist(), strict=True))


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (
            "category",
            {"activation": 2560, "parameter": 1000, "gradient": 700, "before the window": 300},
        ),
        (
            "stack",
            {
                "forward · model.py:90": 2048,
                "no stack recorded": 1300,
                "aten::mm": 700,
                "forward · model.py:88": 512,
            },
        ),
        ("op", {"aten::softmax": 2048, "before the window": 1300, "aten::mm": 1212}),
        (
            "module",
            {
                "block.1": 2048,
                "before the window": 1300,
                "no module known": 700,
                "block.0": 512,
            },
        ),
        (
            "dtype_shape",
            {
                "float32 [8, 64]": 2048,
                "before the window": 1300,
                "no dtype known": 700,
                "float32 [8, 16]": 512,
            },
        ),
        ("step", {"step 3": 3260, "before the window": 1300}),
        (
            "annotation",
            {
                "inner": 2048,
                "before the window": 1300,
                "outside any annotation": 700,
                "load": 512,
            },
        ),
        ("pool", {"default pool": 3860, "private pool 0,1": 700}),
        ("stream", {"default stream": 3860, "stream 0x7": 700}),
        (
            "size",
            {"2.00 KiB": 2048, "1000 B": 1000, "700 B": 700, "512 B": 512, "300 B": 300},
        ),
    ],
)
def test_what_is_alive_at_the_peak(by: str, expected: dict[str, int]) -> None:
    found = at_peak(training(), by)
    assert found == expected
    assert list(found) == list(expected)


def test_lifetimes_are_classes_of_ten() -> None:
    events = [
        ("alloc", 0x100, 1),
        ("alloc", 0x200, 20),
        ("free", 0x200, 20),  # after 1 µs
        ("alloc", 0x300, 300),
        *[("snapshot", 0, 0)] * 9,
        ("free", 0x300, 300),  # after 10 µs
        ("free", 0x400, 4000),  # older than the window
    ]
    for timed, expected in (
        (True, ["not freed", "under 10 µs", "under 100 µs", "before the window"]),
        (False, ["not freed", "under 10 events", "under 100 events", "before the window"]),
    ):
        recording = derive(history(events, timed=timed))
        groups = group_ids(recording, recording.devices[0], "lifetime")
        rows = recording.table("allocations").column("requested").to_pylist()
        called = naming.labels(recording, groups, groups.ids.tolist())
        assert dict(zip(rows, called, strict=True)) == dict(
            zip([1, 20, 300, 4000], expected, strict=True)
        )


def test_patterns_take_what_matches_in_their_order() -> None:
    found = at_peak(training(), "pattern", "MODEL.PY:88, /soft(max|min)/\nmain")
    assert found == {"/soft(max|min)/": 2048, "everything else": 2000, "MODEL.PY:88": 512}


def test_patterns_match_ops_names_and_modules_too() -> None:
    assert at_peak(training(), "pattern", "aten::mm")["aten::mm"] == 1212
    assert at_peak(training(), "pattern", "block.1")["block.1"] == 2048
    assert at_peak(training(), "pattern", "/^w$/")["/^w$/"] == 1000


def test_patterns_are_split_at_commas_but_not_inside_an_expression() -> None:
    assert patterns("a, b\n/x{1,2}/,  c,,a") == ["a", "b", "/x{1,2}/", "c"]
    assert patterns("/home/me,b") == ["/home/me,b"]
    with pytest.raises(QueryError, match="needs a pattern"):
        patterns(" ,\n")
    with pytest.raises(QueryError, match="At most 20 patterns at once; these are 21"):
        patterns(",".join(f"p{number}" for number in range(21)))


@pytest.mark.parametrize("by", sorted(GROUPINGS))
def test_every_key_leads_back_to_its_group(by: str) -> None:
    recording = training()
    device = recording.devices[0]
    groups = group_ids(recording, device, by, "model.py:88,mm" if by == "pattern" else "")
    ids = sorted(set(groups.ids.tolist()))
    keys = naming.keys(recording, groups, ids)
    assert len(set(keys)) == len(ids)
    assert [naming.find(recording, groups, key) for key in keys] == ids
    with pytest.raises(QueryError, match=f"no group 'nonsense' by {by}"):
        naming.find(recording, groups, "nonsense")


def test_the_key_of_a_stack_depends_on_its_content_only() -> None:
    def keys(stacks: list[list[tuple[str, str, int]]]) -> set[str]:
        recording = derive(
            history([("alloc", n, 1, {"stack": n}) for n in range(len(stacks))], stacks=stacks)
        )
        groups = group_ids(recording, recording.devices[0], "stack")
        return set(naming.keys(recording, groups, sorted(set(groups.ids.tolist()))))

    one, two, three = [("f", "a.py", 1)], [("g", "a.py", 1)], [("f", "a.py", 1), ("g", "a.py", 1)]
    assert keys([one, two, three]) == keys([three, one, two])
    assert len(keys([one, two, three])) == 3


def test_unknown_stacks_are_the_window_s_or_older() -> None:
    older = derive(
        history(blocks=[{"address": 1, "requested": 7}], segments=[{"address": 0, "size": 9}])
    )
    assert list(at_peak_labels(older)) == ["before the window"]
    within = derive(history([("alloc", 1, 7)]))
    assert list(at_peak_labels(within)) == ["no stack recorded"]


def at_peak_labels(recording: Recording) -> list[str]:
    return [band["label"] for band in describe(recording, recording.devices[0], "stack")]


def test_bands_are_the_largest_at_the_peak_then_the_unknown_then_the_rest() -> None:
    events = [("alloc", n, 100 - n, {"stack": n}) for n in range(6)]
    recording = derive(
        history(
            [*events, ("alloc", 9, 1), ("free", 20, 1000)],
            stacks=[[(f"f{n}", "a.py", n + 1)] for n in range(6)],
        )
    )
    bands = describe(recording, recording.devices[0], "stack", top=3)
    assert [band["label"] for band in bands] == [
        "f0 · a.py:1",
        "f1 · a.py:2",
        "f2 · a.py:3",
        "no stack recorded",
        "3 smaller groups",
    ]
    assert bands[-1]["key"] == "…rest"
    assert ranking(recording, recording.devices[0], "stack", top=5).rest == 0


def of_sizes(sizes: list[int]) -> Recording:
    """Allocations that stay, one after the other."""
    return derive(history([("alloc", at, size) for at, size in enumerate(sizes)]))


def test_sizes_are_in_their_own_order_and_shaded_by_it() -> None:
    recording = of_sizes([3000, 10, 10, 500, 500, 500, 500, 500, 2000, 40, *range(100, 130)])
    device = recording.devices[0]
    bands = describe(recording, device, "size", top=4)
    assert [band["label"] for band in bands[:-1]] == ["129 B", "500 B", "1.95 KiB", "2.93 KiB"]
    assert bands[-1] == {"key": naming.REST_KEY, "label": "31 smaller groups"}
    # A scale is divided among the sixteen that hold most, however many are shown.
    marks = [*range(117, 130), 500, 2000, 3000]
    shades = {size: place / 15 for place, size in enumerate(marks)}
    for top in (1, 4, 12, 16, 40):
        for band in describe(recording, device, "size", top=top)[:-1]:
            size = int(band["key"])
            least = sum(mark < size for mark in marks)
            between = max(0, (least - 0.5)) / 15 if size not in marks else shades[size]
            assert band["shade"] == pytest.approx(between, abs=1e-4)
    groups = group_ids(recording, device, "size")
    rows = page(recording, device, by="size", sort="label")["groups"]
    assert len(rows) == groups.count - FIRST
    for row in rows:
        in_chart = [
            b for b in describe(recording, device, "size", top=40) if b["key"] == row["key"]
        ]
        assert [row["shade"]] == [band["shade"] for band in in_chart]


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("at", ["peak", "-1", "0", "event:7", "40", "59"])
def test_ages_are_those_at_the_moment(timed: bool, at: str) -> None:
    """Every allocation beside its age, worked out one by one."""
    times = [0, 400, 900, 1_500, 9_999, 10_000, 123_456, 2_000_000, 30_000_000, 45_000_000]
    events: list[Event] = [("free", 1, 8), ("alloc", 2, 8), ("free", 2, 8)]
    events += [("alloc", 100 + n, 10 + n) for n in range(57)]
    events = [(*event[:3], {"time": times[n % 10] + n // 10 * 50_000_000} if timed else {})
              for n, event in enumerate(events)]  # fmt: skip
    recording = derive(history(events, timed=timed))
    device = recording.devices[0]
    moment = resolve(recording, device, at)
    groups = group_ids(recording, device, "age", at)
    found = naming.labels(recording, groups, groups.ids.tolist())
    rows = recording.table("allocations").to_pylist()
    assert len(found) == len(rows) == 59
    units = {"µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "events": 1}
    for label, row in zip(found, rows, strict=True):
        if row["birth"] is None:
            assert label == "before the window"
            continue
        if row["birth"] > moment.event:
            assert label == "born later"
            continue
        age = (moment.time or 0) - row["birth_time"] if timed else moment.event - row["birth"]
        most, unit = re.fullmatch(r"under ([\d ]+) (\S+)", label).groups()  # type: ignore[union-attr]
        limit = int(most.replace(" ", "")) * units[unit]
        assert age < limit
        assert age >= limit // 10 or limit in (1_000, 10)
    # In a chart they are in order, the oldest darkest, what is of before the window by itself.
    bands = describe(recording, device, "age", at)
    present = [int(group) for group in sorted(set(groups.ids)) if group >= FIRST]
    assert [band["label"] for band in bands] == [
        *naming.labels(recording, groups, present), "before the window"
    ]  # fmt: skip
    shades = [band["shade"] for band in bands[:-1]]
    assert shades == sorted(shades)
    assert len(set(shades)) == len(shades)
    told = page(recording, device, by="age", at=at if at == "peak" else f"event:{moment.event}")
    whole = {band["key"]: band.get("shade") for band in bands}
    assert {row["key"]: row.get("shade") for row in told["groups"]}.items() <= whole.items()
    listed = [
        int(row["id"])
        for group in told["groups"]
        for row in allocations(recording, device, by="age", at=at, key=group["key"])["rows"]
    ]
    lives = [
        (-1 if row["birth"] is None else row["birth"], 99 if row["death"] is None else row["death"])
        for row in rows
    ]
    alive = [n for n, (birth, death) in enumerate(lives) if birth <= moment.event < death]
    assert sorted(listed) == alive


def test_an_age_at_no_moment_is_refused() -> None:
    recording = training()
    with pytest.raises(QueryError, match="not a moment"):
        group_ids(recording, recording.devices[0], "age", "soon")


def test_what_has_no_order_has_no_shade() -> None:
    recording = training()
    device = recording.devices[0]
    for by in ("category", "stack", "op", "stream"):
        assert not any("shade" in band for band in describe(recording, device, by))
    of_lifetimes = describe(recording, device, "lifetime")
    assert [band.get("shade") for band in of_lifetimes] == [0.0, 1.0, None]
    only = of_sizes([7, 7])
    assert [b["shade"] for b in describe(only, only.devices[0], "size")] == [0.5]


def test_categories_are_stacked_in_their_own_order() -> None:
    recording = training()
    bands = describe(recording, recording.devices[0], "category", top=1)
    assert [band["key"] for band in bands] == [
        "parameter",
        "gradient",
        "activation",
        "unknown",
        "…before",
    ]
    assert bands[0] == {"key": "parameter", "label": "parameter", "category": "parameter"}


@pytest.mark.parametrize("name", ["unknown", "…unknown", "…rest", "…before", "…"])
def test_a_name_that_is_a_word_of_ours_is_its_own_group(name: str) -> None:
    recording = derive(
        history(
            [("alloc", 4096, 10), ("alloc", 8192, 20), ("alloc", 12288, 30)],
            spans=[{"kind": "annotation", "name": name, "begin": 1000, "end": 2000}],
        )
    )
    groups = group_ids(recording, recording.devices[0], "annotation")
    ids = [UNKNOWN, FIRST + list(groups.values).index(name)]
    named = naming.keys(recording, groups, ids)
    assert len(set(named)) == 2
    assert [naming.find(recording, groups, key) for key in named] == ids


def test_grouping_by_something_else_is_refused() -> None:
    recording = training()
    with pytest.raises(QueryError, match="choose one of category, stack, op"):
        group_ids(recording, recording.devices[0], "mood")
