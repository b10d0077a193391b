"""Runs of HLO modules in real XPlanes, against a slow walk of the file: view and command line."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from tb_memory_plugin import cli
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.module_runs import SORTS
from tb_memory_plugin.readers import xplane
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import modules, tracks
from tests.formats.xplane_reading import XLA, Walked, planes, real, walk

pytestmark = real
BIG = 1 << 62
FILES = ["tpu_4device", "jax_mi300_attention"]
DEVICES = [
    ("tpu_4device", "0", "TPU:0"),
    ("tpu_4device", "3", "TPU:3"),
    ("jax_mi300_attention", "GPU_0_bfc", "GPU:0"),
    ("jax_mi300_attention", "xla_gpu_host_bfc", "GPU:0"),  # of the host, so all there are
]
each_device = pytest.mark.parametrize(("name", "key", "plane"), DEVICES)


class Run(NamedTuple):
    """A run as a slow walk finds it; times in ns of the file's own clock."""

    begin: int
    end: int
    on: str
    name: str
    program: str | None


@cache
def recorded(name: str) -> Recording:
    return derive(xplane.read(XLA / f"{name}.xplane.pb"))


@cache
def walked(name: str) -> tuple[list[Run], dict[str, list[Walked]]]:
    path = XLA / f"{name}.xplane.pb"
    found = []
    for plane in planes(path):
        if plane.name.startswith(b"/device:"):
            found += ran(plane)
    return sorted(found), walk(path)


def ran(plane: Any) -> list[Run]:
    """What a device ran: events of its line of modules, else its kernels, module by module."""
    device = plane.name.decode().removeprefix("/device:")
    kinds = {entry.key: entry.value.name.decode() for entry in plane.event_metadata}
    names = {entry.key: entry.value.name.decode() for entry in plane.stat_metadata}
    found, kernels = [], []
    for line in plane.lines:
        of_line = []
        for event in line.events:
            begin_ps = line.timestamp_ns * 1000 + event.offset_ps
            begin, end = begin_ps // 1000, (begin_ps + event.duration_ps) // 1000
            if line.name == b"XLA Modules":
                name, _, program = kinds[event.metadata_id].rstrip(")").partition("(")
                found.append(Run(begin, end, device, name, program))
            stats = {names[stat.metadata_id]: stat for stat in event.stats}
            if "hlo_module" in stats:
                module = stats["hlo_module"]
                called = module.str_value.decode() or names[module.ref_value]
                program = str(stats["program_id"].int64_value or stats["program_id"].uint64_value)
                group = stats["group_id"].int64_value if "group_id" in stats else None
                of_line.append((begin, end, called, program, group))
        kernels.append((f"{device} {line.name.decode()}", sorted(of_line, key=lambda k: k[0])))
    if found:
        return found
    for on, of_line in kernels:
        before: Any = None
        for begin, end, called, program, group in of_line:
            if before == (called, program, group):
                found[-1] = found[-1]._replace(end=max(found[-1].end, end))
            else:
                found.append(Run(begin, end, on, called, program))
            before = (called, program, group)
    return found


def origin_of(name: str, key: str) -> int:
    """The moment that times count from, on the file's own clock, as its first event has it."""
    recording = recorded(name)
    first = int(recording.values("events", "time", recording.device(key))[0])
    return walked(name)[1][key][0].time_ps // 1000 - first


def told(row: dict[str, Any], origin: int) -> Run:
    begin, end = row["begin"] + origin, row["end"] + origin
    return Run(begin, end, row["on"], row["name"], row["program"])


def ask(name: str, key: str, **question: Any) -> dict[str, Any]:
    recording = recorded(name)
    return modules.page(recording, recording.device(key), **{"limit": 1000, **question})


@each_device
def test_every_run_is_told_with_the_memory_meanwhile(name: str, key: str, plane: str) -> None:
    runs, events = walked(name)
    expected = [run for run in runs if run.on.startswith(plane)]
    assert len(expected) in (75, 103, 105)
    answer = ask(name, key)
    origin = origin_of(name, key)
    assert Counter(told(row, origin) for row in answer["rows"]) == Counter(expected)
    assert (answer["all"], answer["found"]) == (len(expected), len(expected))
    assert answer["modules"] == len({(run.name, run.program) for run in expected})
    assert answer["devices"] == len({run.on for run in expected})
    history = [(e.time_ps // 1000, e.number("bytes_allocated")) for e in events[key]]
    first = events[key][0]
    start = first.number("bytes_allocated") - first.number("allocation_bytes") * (
        1 if first.born else -1
    )
    for row in answer["rows"]:
        run = told(row, origin)
        earlier = [level for time, level in history if time < run.begin]
        within = [level for time, level in history if run.begin <= time < run.end]
        assert row["before"] == (earlier[-1] if earlier else start)
        assert row["peak"] == max([row["before"], *within])
        assert row["begin_event"] == len(earlier)
        assert row["end_event"] == len(earlier) + len(within)
        assert row["duration"] == run.end - run.begin


@each_device
@pytest.mark.parametrize("column", SORTS)
def test_sorted_by_any_column(name: str, key: str, plane: str, column: str) -> None:
    def value(row: dict[str, Any]) -> Any:
        if column == "program":
            return int(row["program"])
        return row[column].casefold() if column == "name" else row[column]

    rising = ask(name, key, sort=column)["rows"]
    assert [value(row) for row in rising] == sorted(value(row) for row in rising)
    falling = ask(name, key, sort=f"-{column}")["rows"]
    assert falling == rising[::-1]
    pages = [ask(name, key, sort=column, offset=at, limit=30)["rows"] for at in range(0, 120, 30)]
    assert [row for page in pages for row in page] == rising


@each_device
def test_a_window_and_a_moment(name: str, key: str, plane: str) -> None:
    recording = recorded(name)
    device = recording.device(key)
    everything = ask(name, key)["rows"]
    times = recording.values("events", "time", device).tolist()
    middle = len(times) // 2
    begin, end = times[middle // 2], times[middle]
    expected = [row["id"] for row in everything if row["begin"] < end and row["end"] >= begin]
    for window in (
        {"axis": "time", "begin": begin, "end": end},
        {"axis": "event", "begin": times.index(begin), "end": times.index(end)},
    ):
        found = [row["id"] for row in ask(name, key, **window)["rows"]]
        assert found == expected and 0 < len(found) < len(everything)
    # After an event until the next one; before the first one, and after the last, without end.
    ever = set()
    for event, (time, until) in enumerate(pairwise([-BIG, *times, BIG]), -1):
        last = max(until, time + 1)
        running = [row["id"] for row in everything if row["begin"] < last and row["end"] > time]
        answer = ask(name, key, at=f"event:{event}", axis="time", begin=begin, end=end)
        assert ([row["id"] for row in answer["rows"]], answer["at"]) == (running, event)
        ever |= {*running}
    assert ever == {row["id"] for row in everything}


@each_device
def test_a_time_within_any_run_also_where_nothing_happens(name: str, key: str, plane: str) -> None:
    recording = recorded(name)
    times = recording.values("events", "time", recording.device(key)).tolist()
    everything = ask(name, key)["rows"]
    idle = [row for row in everything if row["begin_event"] == row["end_event"]]
    assert idle and all(row["duration"] > 0 for row in everything)
    beyond = [times[0] - 10, times[-1] + 10]
    for time in [(row["begin"] + row["end"]) // 2 for row in idle] + beyond:
        answer = ask(name, key, at=f"time:{time}")
        running = [row["id"] for row in everything if row["begin"] <= time < row["end"]]
        assert [row["id"] for row in answer["rows"]] == running
        assert answer["at"] == sum(each <= time for each in times) - 1
        assert running or time in beyond


def test_found_by_name_program_and_device() -> None:
    rows = ask("tpu_4device", "2")["rows"]

    def found(text: str) -> list[str]:
        return [row["id"] for row in ask("tpu_4device", "2", find=text)["rows"]]

    assert found("PSUM") == [row["id"] for row in rows if "psum" in row["name"]] != []
    assert found("/^jit_f$/") == [row["id"] for row in rows if row["name"] == "jit_f"] != []
    assert found("jit_f(") == []  # what is not shown is not found
    program = rows[-1]["program"]
    assert found(program) == [row["id"] for row in rows if row["program"] == program] != []
    assert found(f"/^{program}$/") == found(program)
    assert (found("tpu:2"), found("TPU:3")) == ([row["id"] for row in rows], [])


@pytest.mark.parametrize("name", FILES)
def test_on_the_command_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(XLA / f"{name}.xplane.pb")
    for row in [row for row in DEVICES if row[0] == name]:
        words = ["module-runs", path, "--device", row[1], "--sort=-duration", "--limit", "1500"]
        assert cli.main([*words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == ask(name, row[1], sort="-duration")
    assert cli.main(["module-runs", path, "--find", "jit_", "--offset", "2", "--limit", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    key = "0" if name == "tpu_4device" else "GPU_0_bfc"
    page = ask(name, key)
    assert lines[0].endswith(f"{page['found']} runs of {page['modules']} HLO modules")
    assert [line.split()[0] for line in lines[2:5]] == [row["program"] for row in page["rows"][2:5]]
    assert lines[-1] == f"{page['found'] - 5} more (--offset, --limit)"


def test_a_run_is_where_the_chart_has_it() -> None:
    recording = recorded("tpu_4device")
    device = recording.device("1")
    rows = {row["id"]: row for row in ask("tpu_4device", "1")["rows"]}
    for axis in ("time", "event"):
        drawn = tracks.window(recording, device, axis=axis, width=10_000)["modules"]
        alone = [item for item in drawn if item["count"] == 1]
        assert len(alone) > 20
        for item in alone:
            row = rows[item["id"]]
            ends = ("begin_event", "end_event") if axis == "event" else ("begin", "end")
            assert (item["begin"], item["end"]) == (row[ends[0]], row[ends[1]])
            assert item["on"] == row["on"]


def test_a_file_without_modules_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["module-runs", str(XLA / "tf_mlp_cpu_bfc.xplane.pb")]) == 0
    assert "does not say when HLO modules ran" in capsys.readouterr().out
