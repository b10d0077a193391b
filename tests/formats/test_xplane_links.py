"""Links between what threads and devices of XPlanes did, against a walk of all messages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.readers import xplane, xplane_program, xplane_spans, xplane_ties
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.xplane import Plane, space
from tests.formats.test_xplane import read, rows
from tests.formats.xplane_reading import REAL, XLA, planes, real, walk

#: A kind, and of both sides where it ran (host or device), its name, beginning and end.
Link = tuple[str, tuple[Any, ...], tuple[Any, ...]]


@dataclass
class Event:
    """An event of a line as the file has it; times in ns of the file."""

    where: str
    line: int
    name: str
    begin: int
    end: int
    offset: int
    stats: dict[str, int] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[Any, ...]:
        return (self.where, self.name, self.begin, self.end)


def walked(path: Path) -> list[tuple[str, list[Event]]]:
    """Every line of hosts and devices that a recording has spans of, by kind of line."""
    found = []
    for plane in planes(path):
        host, device = plane.name == b"/host:CPU", plane.name.startswith(b"/device:")
        if not (host or device):
            continue
        kinds = {entry.key: entry.value for entry in plane.event_metadata}
        names = {entry.key: entry.value.name.decode() for entry in plane.stat_metadata}
        called = [(line.display_name or line.name).decode() for line in plane.lines]
        streams = any(name.startswith("Stream #") for name in called)
        for place, line in enumerate(plane.lines):
            name = called[place]
            sort = "host" if host else "modules" if name == "XLA Modules" else "work"
            if sort == "work" and not (
                name.startswith("Stream #") if streams else name.endswith("XLA Ops")
            ):
                continue
            events = []
            for event in line.events:
                about = kinds[event.metadata_id]
                short = about.display_name if sort == "work" else b""
                text = short or about.name
                begin = line.timestamp_ns * 1000 + event.offset_ps
                one = Event(
                    "host" if host else plane.name.decode(),
                    place,
                    text.decode().rstrip(),
                    begin // 1000,
                    (begin + event.duration_ps) // 1000,
                    event.offset_ps,
                )
                for stat in event.stats:
                    one.stats[names[stat.metadata_id]] = stat.int64_value or stat.uint64_value
                one.stats["kind"] = event.metadata_id
                events.append(one)
            found.append((f"{sort} {name}", events))
    return found


def expected(path: Path) -> Counter[Link]:
    """What goes with what, looking at all pairs."""
    lines = walked(path)
    everything = [event for _, events in lines for event in events]
    memory = ("MemoryAllocation", "MemoryDeallocation")
    everything = [event for event in everything if event.name not in memory]
    found: Counter[Link] = Counter()
    for first, second in (("_p", "_c"), ("correlation_id", "correlation_id")):
        sides = []
        for name in (first, second):
            by_id = defaultdict(list)
            for event in everything:
                if name in event.stats:
                    of = event.stats.get(f"_{name[1]}t", 0) if name.startswith("_") else 0
                    by_id[of, event.stats[name] & (1 << 64) - 1].append(event)
            sides.append(by_id)
        for key in sides[0].keys() & sides[1].keys():
            for source in sides[0][key]:
                for target in sides[1][key]:
                    crosses = source.where == "host" != target.where
                    if first == "correlation_id" and not crosses:
                        continue
                    if source is target or (not crosses and source.begin > target.begin):
                        continue
                    kind = "launch" if crosses else "async"
                    found[kind, source.shown, target.shown] += 1
    return found


def started(path: Path) -> Counter[Link]:
    """What starts and is done on the lines of operations of XLA, by the names of instructions."""
    found: Counter[Link] = Counter()
    for sort, events in walked(path):
        if sort != "work XLA Ops":
            continue
        waiting: dict[str, Event] = {}
        for event in events:
            start = re.fullmatch(r"(.*-)start(\.\d+)?", event.name)
            done = re.fullmatch(r"(.*-)done(\.\d+)?", event.name)
            if start:
                waiting[f"{start[1]}{start[2]}"] = event
            elif done:
                begun = waiting.pop(f"{done[1]}{done[2]}", None)
                if begun is not None:
                    found["async", begun.shown, event.shown] += 1
    return found


def links(recording: Recording, origin: int) -> Counter[Link]:
    spans = rows(recording, "spans")

    def shown(row: int) -> tuple[Any, ...]:
        span = spans[row]
        where = "host"
        if span["kind"] in ("hlo_module", "kernel", "copy"):
            where = "/device:" + re.match(r"\w+:\d+", span["track"])[0]  # type: ignore[index]
        args = span["args"] or ""
        name = span["name"]
        kind = re.match(r'\{"type": "(\w+)"', args)
        if kind and where == "host":
            name = f"{name}:{kind[1]}"
        return (where, name, span["begin"] + origin, span["end"] + origin)

    return Counter(
        (link["kind"], shown(link["source"]), shown(link["target"]))
        for link in rows(recording, "links")
    )


@real
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_links_of_real_files_are_those_of_all_pairs(path: Path) -> None:
    recording = xplane.read(path)
    events = walk(path)[recording.devices[0].key]
    origin = events[0].time_ps // 1000 - int(rows(recording, "events")[0]["time"])
    assert links(recording, origin) == expected(path) + started(path)


@real
def test_real_files_have_links_of_every_kind() -> None:
    def counted(name: str) -> dict[tuple[str, str, str], int]:
        recording = xplane.read(XLA / f"{name}.xplane.pb")
        spans = rows(recording, "spans")
        return Counter(
            (link["kind"], spans[link["source"]]["kind"], spans[link["target"]]["kind"])
            for link in rows(recording, "links")
        )

    assert counted("tf2_gpu_worker") == {
        ("launch", "runtime", "kernel"): 1330,
        ("launch", "runtime", "copy"): 226,
        ("async", "op", "op"): 264,
    }
    assert counted("tpu_4device") == {
        ("launch", "op", "hlo_module"): 414,
        ("async", "kernel", "kernel"): 2371,
        ("async", "op", "op"): 1775,
    }


@real
def test_runs_of_modules_are_told_by_their_number_where_nothing_else_tells(
    tmp_path: Path,
) -> None:
    """What older profiles of TPUs have: the same links, without ids of producers."""
    path = XLA / "tpu_4device.xplane.pb"
    whole = path.read_bytes()
    found = []
    for data in (whole, whole.replace(b"\x12\x02_c", b"\x12\x02xc")):
        (tmp_path / "a.xplane.pb").write_bytes(data)
        made = rows(xplane.read(tmp_path / "a.xplane.pb"), "links")
        found.append([link for link in made if link["kind"] == "launch"])
    assert len(found[0]) == 414 and found[0] == found[1]


def named(recording: Recording) -> list[tuple[str, str, str]]:
    spans = rows(recording, "spans")
    return [
        (link["kind"], spans[link["source"]]["name"], spans[link["target"]]["name"])
        for link in rows(recording, "links")
    ]


def host() -> Plane:
    made = Plane()
    made.line("python").alloc(0, 0x100, 8, 8)
    return made


def test_one_launch_of_many_kernels(tmp_path: Path) -> None:
    made, device = host(), Plane("/device:GPU:0")
    made.lines[0].event("cudaGraphLaunch", 1_000, 5_000, correlation_id=7)
    made.lines[0].event("cudaMemcpyAsync", 7_000, 5_000, correlation_id=8)
    made.lines[0].event("cudaStreamSynchronize", 13_000, 5_000, correlation_id=9)
    stream = device.line("Stream #1(Kernel)")
    stream.event("first", 2_000, 1_000, correlation_id=7)
    stream.event("second", 4_000, 1_000, correlation_id=7)
    device.line("Stream #2(MemcpyD2H)").event("MemcpyD2H", 9_000, 1_000, correlation_id=8)
    assert named(read(tmp_path, space(made, device))) == [
        ("launch", "cudaGraphLaunch", "first"),
        ("launch", "cudaGraphLaunch", "second"),
        ("launch", "cudaMemcpyAsync", "MemcpyD2H"),
    ]


def test_launches_of_collectives_are_called_so(tmp_path: Path) -> None:
    made, device = host(), Plane("/device:GPU:0")
    made.lines[0].event("ncclAllReduce", 1_000, 5_000, _pt=1, _p=3)
    made.lines[0].event("cudaLaunchKernelExC", 7_000, 5_000, correlation_id=8)
    made.line("worker").event("ncclGroupEnd", 8_000, 1_000, _ct=1, _c=3)
    stream = device.line("Stream #1(Kernel)")
    stream.event("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 9_000, 1_000, correlation_id=8)
    stream.event("fusion_nccl", 11_000, 1_000, correlation_id=8)
    assert named(read(tmp_path, space(made, device))) == [
        ("async", "ncclAllReduce", "ncclGroupEnd"),
        ("collective", "cudaLaunchKernelExC", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"),
        ("launch", "cudaLaunchKernelExC", "fusion_nccl"),
    ]


def test_ids_are_of_their_type_and_nothing_comes_from_what_is_later(tmp_path: Path) -> None:
    made = host()
    worker = made.line("worker")
    made.lines[0].event("A::B", 5_000, 1_000, _pt=1, _p=(1 << 64) - 5)
    made.lines[0].event("A::C", 7_000, 1_000, _pt=2, _p=(1 << 64) - 5)
    made.lines[0].event("A::D", 8_000, 1_000, _p=(1 << 64) - 5)  # of no type
    worker.event("W::early", 1_000, 1_000, _ct=1, _c=(1 << 64) - 5)
    worker.event("W::late", 5_000, 1_000, _ct=1, _c=-5)
    worker.event("W::other", 9_000, 1_000, _ct=3, _c=-5)
    assert named(read(tmp_path, space(made))) == [("async", "A::B", "W::late")]


def test_ids_that_too_many_have_say_nothing(tmp_path: Path) -> None:
    made = host()
    worker = made.line("worker")
    for place in range(64):
        made.lines[0].event("A::B", 1_000 * place, 10, _pt=1, _p=1)
        worker.event("W::late", 100_000, 10, _ct=1, _c=1)
    assert named(read(tmp_path, space(made))) == []
    made.lines[0].event("A::C", 1_000, 10, _pt=1, _p=2)
    for _ in range(64):
        worker.event("W::late", 100_000, 10, _ct=1, _c=2)
    assert named(read(tmp_path, space(made))) == [("async", "A::C", "W::late")] * 64


def operations(device: Plane, *events: tuple[str, int]) -> None:
    line = device.line("XLA Ops")
    for text, offset in events:
        device.shown[text] = text.partition(" ")[0].removeprefix("%")
        line.event(text, offset, 500)


def test_what_starts_is_done_by_what_its_text_says(tmp_path: Path) -> None:
    device = Plane("/device:TPU:0")
    device.line("XLA Modules").event("jit_f(1)", 0, 9_000).event("jit_f(1)", 10_000, 9_000)
    start = "%copy-start.7 = (f32[4]{0:T(8)}, u32[]) copy-start(f32[4]{0} %p), x=1"
    done = "%copy-done.9 = f32[4]{0} copy-done((f32[4]{0:T(8)}, u32[]) %copy-start.7), x=2"
    send = "%send.1 = (f32[4], u32[]) send(f32[4] %p)"
    sent = "%b = token[] send-done(u32[] %send.1)"
    short = ("all-reduce-start.1", "all-reduce-done.1")
    operations(
        device,
        *((start, 1_000), (send, 1_500), (short[0], 1_700), (done, 2_000), (start, 3_000)),
        *((sent, 4_000), (done, 5_000), (short[1], 6_000), (start, 8_000)),  # not done in its run
        *((done, 11_000), (short[1], 12_000)),
    )
    recording = read(tmp_path, space(host(), device))
    spans = rows(recording, "spans")
    pairs = [
        (link["kind"], spans[link["source"]]["begin"], spans[link["target"]]["begin"])
        for link in rows(recording, "links")
    ]
    done_later = [("async", 1, 2), ("async", 1, 4), ("async", 3, 5)]
    assert sorted(pairs) == [*done_later, ("collective", 1, 6)]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("collective-permute-X.3", "collective"),
        ("all-gather-X", "collective"),
        ("async-collective-X.1", "collective"),
        ("ragged-all-to-all-X.2", "collective"),
        ("reduce-scatter-X", "collective"),
        ("copy-X.4", "async"),
        ("send-X", "async"),
        ("slice-X", "async"),
    ],
)
def test_collectives_that_start_and_are_done_are_called_so(
    tmp_path: Path, name: str, kind: str
) -> None:
    device = Plane("/device:TPU:0")
    device.line("XLA Modules").event("jit_f(1)", 0, 9_000)
    one, other = (name.replace("X", word) for word in ("start", "done"))
    operations(device, (one, 1_000), (other, 3_000))
    assert named(read(tmp_path, space(host(), device))) == [(kind, one, other)]


def test_instructions_of_one_name_are_of_their_program(tmp_path: Path) -> None:
    device = Plane("/device:TPU:0")
    texts = [
        *(f"%copy-start = f32[{size}] copy-start(%p)" for size in (1, 2)),
        *(f"%copy-done = f32[{size}] copy-done(%copy-start)" for size in (1, 2)),
    ]
    for text in texts:
        device.said[text] = {"program_id": 10 + ("[2]" in text)}
    operations(device, *zip(texts, (1_000, 2_000, 3_000, 4_000), strict=True))
    recording = read(tmp_path, space(host(), device))
    spans = rows(recording, "spans")
    pairs = [
        (spans[link["source"]]["begin"], spans[link["target"]]["begin"])
        for link in rows(recording, "links")
    ]
    assert pairs == [(1, 3), (2, 4)]


def test_links_of_what_is_left_out_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, device = host(), Plane("/device:GPU:0")
    stream = device.line("Stream #1(Kernel)")
    for place in range(6):
        length = 1_000 + 1_000 * place
        made.lines[0].event("cudaLaunchKernel", 10_000 * place, length, correlation_id=place)
        stream.event(f"k{place}", 10_000 * place, 7_000 - length, correlation_id=place)

    def told(recording: Recording) -> list[str]:
        return [one["why"] for one in recording.meta["missing"]]

    monkeypatch.setattr(xplane_ties, "MOST_LINKS", 2)
    recording = read(tmp_path, space(made, device))
    assert len(named(recording)) == 2
    assert any(one.startswith("4 links between") for one in told(recording))
    monkeypatch.setattr(xplane_program, "MOST_SPANS", 4)
    monkeypatch.setattr(xplane_spans, "MOST_SPANS", 4)
    recording = read(tmp_path, space(made, device))
    assert named(recording) == [
        ("launch", "cudaLaunchKernel", "k2"),
        ("launch", "cudaLaunchKernel", "k3"),
    ]
    assert any("the 2 shortest are left out" in one for one in told(recording))
