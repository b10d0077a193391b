"""Memory timelines of PyTorch's profiler: their sums, by category, at every time."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import memory_timeline
from tb_memory_plugin.readers.memory_timeline_lives import CATEGORIES, of_levels
from tb_memory_plugin.readers.registry import reader_of
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import AFTER, Category
from tests.formats.mutating import cut, damaged, sentence, tried
from tests.formats.test_snapshot_fuzz import check

TIMELINES = Path(__file__).parents[2] / "../shared/data/timelines"
LEVELS, RAW = TIMELINES / "tl.json", TIMELINES / "tl.raw.json.gz"
needs_files = pytest.mark.skipif(not LEVELS.exists(), reason="../shared/data is not here")

T = 1_795_961_962_209_401  # µs
_DIGITS = b"0123456789"


def read(path: Path) -> Recording:
    recording = derive(memory_timeline.read(path))
    check(recording)
    return recording


def made(tmp_path: Path, value: Any, name: str = "timeline.json") -> Recording:
    path = tmp_path / name
    path.write_bytes(
        gzip.compress(json.dumps(value).encode(), mtime=0)
        if name.endswith(".gz")
        else json.dumps(value).encode()
    )
    return read(path)


def sums(recording: Recording, time_ns: int) -> dict[int, int]:
    """Bytes of each category that are alive after the last event of ``time_ns``."""
    events = recording.table("events").column("time").to_pylist()
    origin = recording.meta["time_origin_ns"]
    last = sum(time + origin <= time_ns for time in events) - 1
    found: dict[int, int] = {}
    for life in recording.table("allocations").to_pylist():
        birth = -1 if life["birth"] is None else life["birth"]
        if birth <= last < (AFTER if life["death"] is None else life["death"]):
            found[life["category"]] = found.get(life["category"], 0) + life["size"]
    return found


@needs_files
def test_the_levels_of_a_real_timeline() -> None:
    times, levels = json.loads(LEVELS.read_text())
    recording = read(LEVELS)
    assert reader_of(LEVELS.name, LEVELS.read_bytes()[:4096]) is memory_timeline
    last = dict(zip(times, levels, strict=True))
    for time, level in [*list(last.items())[::7], (times[-1], levels[-1])]:
        expected = {
            int(category): size
            for category, size in zip(CATEGORIES, level[1:], strict=True)
            if size
        }
        assert sums(recording, time * 1_000) == expected
    peak = max(sum(level) for level in levels)
    assert max(recording.table("usage").column("allocated").to_pylist()) == peak


@needs_files
def test_a_raw_timeline_says_the_same_as_its_levels() -> None:
    """Two exports of one run: the levels are sums of the moves."""
    times, levels = json.loads(LEVELS.read_text())
    recording = read(RAW)
    origin = recording.meta["time_origin_ns"]
    moved = [time + origin for time in recording.table("events").column("time").to_pylist()]
    assert reader_of(RAW.name, RAW.read_bytes()[:4096]) is memory_timeline
    last = dict(zip(times, levels, strict=True))
    for time, level in [*list(last.items())[::7], (times[-1], levels[-1])]:
        expected = {
            int(category): size
            for category, size in zip(CATEGORIES, level[1:], strict=True)
            if size
        }
        # A float of microseconds rounds to a quarter of one.
        near = [at for at in moved if -250 <= at - time * 1_000 < 1_250]
        assert any(sums(recording, at) == expected for at in (time * 1_000 - 251, *near))


@needs_files
def test_the_moves_of_a_real_raw_timeline() -> None:
    moves = json.loads(gzip.decompress(RAW.read_bytes()))
    recording = read(RAW)
    born = [move for move in moves if move[1] in (2, 3) and move[2] > 0]
    died = [move for move in moves if move[2] < 0]
    assert recording.table("events").num_rows == len(born) + len(died)
    usage = recording.table("usage").column("allocated").to_pylist()
    running, expected = sum(move[2] for move in moves if move[0] == -1), []
    for move in moves:
        if move[0] != -1:
            running += move[2]
            expected.append(running)
    assert usage[1:] == expected
    assert not recording.meta["problems"]


_LEVELS = st.lists(
    st.lists(st.sampled_from([0, 0, 1, 5, 9, 1 << 40]), min_size=9, max_size=9),
    min_size=1,
    max_size=12,
)


@settings(deadline=None)
@given(_LEVELS, st.booleans())
def test_levels_of_any_shape(levels: list[list[int]], same_times: bool) -> None:
    times = [T + (0 if same_times else place) for place in range(len(levels))]
    found = of_levels(times, levels)
    alive: dict[int, int] = {}
    kinds = {address: category for _, address, category in found._labels}
    before = {address for event, address, _ in found._labels if event == -1}
    for row in found.tables()["events"].to_pylist():
        if row["address"] in before and row["action"] != 0:
            alive.setdefault(row["address"], row["size"])
    alive |= found._blocks
    steps = [dict(alive)]
    place = 0
    rows = found.tables()["events"].to_pylist()
    for row in rows:
        if row["action"] == 0:
            assert row["address"] not in alive
            alive[row["address"]] = row["size"]
        else:
            assert alive.pop(row["address"]) == row["size"]
        steps.append(dict(alive))

    def by_category(state: dict[int, int]) -> list[int]:
        sums = [0] * 8
        for address, size in state.items():
            sums[CATEGORIES.index(kinds[address])] += size
        return sums

    # Every level is there, in order, and nothing above its neighbours is in between.
    states = [by_category(step) for step in steps]
    for level in levels:
        place = states.index(level[1:], place)
    assert states[-1] == levels[-1][1:]
    assert max(map(sum, states)) == max(sum(level[1:]) for level in levels)


def test_versions_move_bytes_between_categories(tmp_path: Path) -> None:
    at = T * 1_000
    moves = [
        [-1, 1, 100, 0],
        [-1, 1, 7, 2],
        [at, 2, 50, 4],
        [at + 1, 3, -50, 4],
        [at + 1, 3, 50, 5],
    ]
    moves += [[at + 2, 4, -50, 5], [at + 3, 4, -100, 0], [at + 4, 4, -9, 3], [at + 5, 9, 1, 0]]
    recording = made(tmp_path, moves, "a.raw.json.gz")
    usage = recording.table("usage").column("allocated").to_pylist()
    assert usage == [116, 166, 116, 166, 116, 16, 7]
    assert sums(recording, at + 1) == {
        int(Category.PARAMETER): 100,
        int(Category.GRADIENT): 50,
        int(Category.INPUT): 7,
        int(Category.TEMPORARY): 9,
    }
    assert recording.meta["time_origin_ns"] == at
    assert recording.meta["problems"] == ["1 rows of an action that is not known are left out."]
    assert [each["what"] for each in recording.meta["missing"]][:2] == [
        "name of the device",
        "lives",
    ]


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ([[T], []], "1 times and 0 levels"),
        ([[T], [[0, -1]]], "a category has -1 bytes"),
        ([[T], [[0, 1 << 63]]], "bytes"),
        ([[T + 1, T], [[0], [0]]], "not in order"),
        ([[1 << 62], [[0, 1]]], "time stamps that are none"),
        ([[T * 1000, 1, 1 << 64, 0]], "bytes"),
        ([[-1, 1, 5, 0]], "nothing that was allocated"),
        ([[T * 1000, 1, 1.5, 0]], "is not a valid memory timeline"),
        ([[T * 1000, 1]], "is not a valid memory timeline"),
        ({"a": 1}, "is not a valid memory timeline"),
    ],
)
def test_what_is_none_is_refused(tmp_path: Path, value: Any, fault: str) -> None:
    with pytest.raises(SourceError, match=fault) as caught:
        made(tmp_path, value)
    sentence(caught.value, "timeline.json")


def test_a_picture_is_refused_with_what_to_export(tmp_path: Path) -> None:
    text = (
        b'<html>\n<head><meta charset="utf-8" /><title>GPU Memory Timeline HTML</title></head>\n'
        b"<body>\n  <img src='data:image/png;base64,AAAA'>\n</body>\n</html>"
    )
    path = tmp_path / "timeline.html"
    path.write_bytes(text)
    assert memory_timeline.matches(path.name, text)
    assert memory_timeline.probe(path)["bytes"] == len(text)
    with pytest.raises(SourceError, match=r"holds a picture and no numbers.*raw\.json\.gz"):
        memory_timeline.read(path)


@pytest.mark.parametrize(
    ("name", "head", "is_ours"),
    [
        ("a.json", b"[[1795961962209401, 1795961962209402], [[0", True),
        ("a.raw.json.gz", gzip.compress(b"[[-1, 1, 262144, 0], [-1", mtime=0), True),
        ("a.json", b"[[1795961962209401097, 2, 5, 0]", True),
        ("a.txt", b"[[1795961962209401, 1795961962209402], [[0", False),
        ("a.json", b"[[1, 2], [3, 4]]", False),
        ("a.html", b"<html><title>Report</title>", False),
    ],
)
def test_which_files_are_timelines(name: str, head: bytes, is_ours: bool) -> None:
    assert memory_timeline.matches(name, head) == is_ours


@needs_files
@pytest.mark.parametrize("path", [LEVELS, RAW], ids=["levels", "raw"])
def test_cut_off_or_damaged(path: Path, tmp_path: Path) -> None:
    data, chance = path.read_bytes(), random.Random(4)
    target = tmp_path / path.name
    assert tried(memory_timeline.read, target, cut(data, 60))[0] == 0
    places = (damaged(data, chance) for _ in range(40))
    assert tried(memory_timeline.read, target, places)[1] > 20
    text = gzip.decompress(data) if path is RAW else data
    outcomes = [0, 0]
    for _ in range(80):
        changed = bytearray(text)
        for place in chance.sample([at for at, byte in enumerate(text) if byte in _DIGITS], 2):
            changed[place] = chance.choice(_DIGITS)
        written = gzip.compress(changed, mtime=0) if path is RAW else bytes(changed)
        read, refused = tried(memory_timeline.read, target, [written])
        outcomes = [outcomes[0] + read, outcomes[1] + refused]
    assert outcomes[0] > 10, outcomes
