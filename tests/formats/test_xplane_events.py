"""What the compiled decoder reads of events is what protobuf reads, also of damaged ones."""

from __future__ import annotations

import importlib.util
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb_memory_plugin.readers import xplane_events as decoded
from tb_memory_plugin.readers import xplane_wire as wire
from tb_memory_plugin.readers.checked import Malformed
from tests.fixtures import xplane
from tests.fixtures.pprof import number, part, varint
from tests.formats.xplane_reading import REAL

COMPILED: Any = None
if importlib.util.find_spec("tb_memory_plugin.readers._xlines"):
    from tb_memory_plugin.readers import _xlines as COMPILED

needs_compiled = pytest.mark.skipif(COMPILED is None, reason="built without a C compiler")


EVERY = decoded.wish(tuple(dict.fromkeys(name for name, _ in decoded.STATS.values())), {})
_ROOM = 2_000  # bytes
Answer = tuple[list[Any], dict[bytes, int]] | str


def line_of(events: list[bytes], head: bytes = b"") -> bytes:
    return head + b"".join(part(4, event) for event in events)


def both(data: bytes, wanted: decoded.Wish) -> list[Answer]:
    """Fields, columns and texts of a line, or the fault that is found: as it is, and in Python."""
    answers: list[Answer] = []
    before = decoded._compiled
    for module in (COMPILED, None):
        decoded._compiled = module
        texts: dict[bytes, int] = {}
        if wanted.others is not None:
            wanted = replace(wanted, others=decoded.Others({}, np.array([_ROOM])))
        try:
            line = decoded.Line(b"xy" + data + b"z", (2, 2 + len(data)), wanted.kinds)
            others = replace(wanted, listed=not wanted.listed)
            tables = [decoded.table([line], each, texts)[0] for each in (wanted, others)]
            fields = (line.listed, line.others, line.timestamp_ns, line.name, line.display_name)
            found = [fields, *(table.columns.tolist() for table in tables)]
            if wanted.others is not None:
                found += [wanted.others.known, wanted.others.room.tolist()]
            answers.append((found, texts))
        except Malformed as error:
            answers.append(str(error))
        finally:
            decoded._compiled = before
    return answers


def _both(line: tuple[bytes, decoded.Wish]) -> list[Answer]:
    return both(*line)


def lines(data: bytes) -> Iterator[tuple[bytes, decoded.Wish]]:
    """The bytes of every line, and what to read of it: all that is known of memory's events."""
    for plane in wire.planes(data)[0]:
        kinds = [key for key, name in plane.event_names.items() if name.startswith(b"Memory")]
        wanted = decoded.wish(EVERY.names, plane.stat_names, kinds, listed=True)
        for begin, end in plane.lines:
            yield data[begin:end], wanted
            yield data[begin:end], rest_of(plane.stat_names, kinds)


def rest_of(stat_names: dict[int, bytes], kinds: Sequence[int]) -> decoded.Wish:
    """A few columns, and all other stats but some."""
    return decoded.wish(
        ("step", "op", "producer"),
        stat_names,
        kinds,
        listed=True,
        known={**decoded.STATS, **decoded.TRACED},
        others=decoded.Others({}, np.array([_ROOM])),
        without=(b"addr", b"fragmentation", b"id"),
    )


def test_the_compiled_module_is_used_where_it_was_built_and_is_wanted() -> None:
    pure = bool(os.environ.get("TB_MEMORY_PURE_PYTHON"))
    assert decoded._compiled is (None if pure else COMPILED)


@needs_compiled
def test_made_lines_are_read_the_same() -> None:
    assert all(python == compiled for compiled, python in map(_both, lines(xplane.full())))
    found = [both(data, wanted) for data, wanted in lines(xplane.small())]
    assert all(compiled == python for compiled, python in found)
    fields = [answer[0][0] for _, answer in found if not isinstance(answer, str)]
    assert (
        fields[::2]
        == fields[1::2]
        == [
            (2, 2, 1_000, b"python", b""),
            (4, 0, 3_000, b"worker", b""),
            (0, 1, 2_000, b"XLA Modules", b""),
        ]
    )


@needs_compiled
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_lines_are_read_the_same(path: Path) -> None:
    for data, wanted in lines(path.read_bytes()):
        if len(data) < 400_000:
            compiled, python = both(data, wanted)
            assert compiled == python


@needs_compiled
def test_the_compiled_module_itself_takes_regular_lines() -> None:
    for data, wanted in lines(xplane.small()):
        kinds = wanted.kinds.tobytes()
        listed, others, *_ = COMPILED.outline(data, 0, len(data), kinds)
        table = np.zeros((wanted.width, others), dtype=np.int64)
        filled = COMPILED.fill(
            data, 0, len(data), kinds, False, wanted.stats.tobytes(), {}, table, 0
        )
        assert filled == others and listed + others > 0


_ODD = [0, 1, 7, 127, 128, 1 << 31, 1 << 32, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]


def test_values_and_fields_of_all_kinds_are_read_the_same() -> None:
    stat_names, chance = dict(enumerate(decoded.STATS, 1)), random.Random(3)
    wanted = decoded.wish(EVERY.names, stat_names, (1, 7), listed=True)
    real = varint(2 << 3 | 1) + b"\0\0\0\0\0\0\xf8\x7f"
    for _ in range(400):
        events, head = [], b""
        for _ in range(chance.randrange(3)):
            event = number(1, chance.choice((1, 2, 7))) if chance.random() < 0.7 else b""
            for _ in range(chance.randrange(5)):
                value = b""
                for _ in range(chance.randrange(4)):
                    place = chance.choice((2, 3, 4, 5, 6, 7, 8, 9))
                    value += (
                        real
                        if place == 2
                        else part(place, chance.choice((b"", b"abc", b"\xff")))
                        if place in (5, 6)
                        else number(place, chance.choice(_ODD))
                    )
                event += part(4, number(1, chance.choice((1, 2, 3, 5, 7, 9, 18, 99))) + value)
            events.append(event + number(chance.choice((1, 2, 3, 5, 9)), chance.choice(_ODD)))
        for _ in range(chance.randrange(3)):
            place = chance.choice((1, 2, 3, 9, 11))
            head += part(place, b"n") if place in (2, 11) else number(place, chance.choice(_ODD))
        for one in (wanted, rest_of(stat_names, (1, 7))):
            compiled, python = both(line_of(events, head), one)
            assert compiled == python


def test_a_whole_number_is_a_real_one_too() -> None:
    """P3's neighbour: a profiler writes a fragmentation of 1.0 as the integer 1."""
    wanted = decoded.wish(("fragmentation",), {1: b"fragmentation"})
    event = part(4, number(1, 1) + number(4, 1))
    for answer in both(line_of([event]), wanted):
        assert not isinstance(answer, str)
        (value,) = answer[0][1][4]
        assert np.array([value]).view(np.float64).tolist() == [1.0]


def test_stats_without_a_column_are_kept_as_they_lie_in_the_file() -> None:
    wanted = rest_of({1: b"step_num", 2: b"addr", 3: b"note", 4: b"size"}, ())
    wanted = replace(wanted, listed=False)
    named, left = part(4, number(1, 1) + number(4, 5)), part(4, number(1, 2) + number(4, 9))
    note, odd = part(4, number(1, 3) + part(5, b"x")), part(4, number(1, 99) + part(6, b"y"))
    large = part(4, number(1, 4) + part(5, b"z" * 5_000))
    many = [part(4, number(1, 4) + number(4, value)) + note * 40 for value in range(9)]
    events = [
        number(1, 3) + one
        for one in (note + named + left + odd, named, left, odd, note + odd, large, *many)
    ]
    for answer in both(line_of(events), wanted):
        assert not isinstance(answer, str)
        (_, columns, _, known, room), _ = answer
        assert columns[-1] == [0, -1, -1, 1, 0, -2, *range(2, 7), *[-2] * 4]
        assert list(known)[:2] == [note + odd, odd] and list(known)[2:] == many[:5]
        assert room == [_ROOM - sum(len(each) + decoded.COST_OF_OTHERS for each in known)]


@needs_compiled
def test_mutated_lines_are_read_or_refused_the_same() -> None:
    chance = random.Random(5)
    whole = list(lines(xplane.small()))
    refused = read = 0
    for _ in range(3_000):
        line, wanted = chance.choice(whole)
        data = bytearray(line)
        for _ in range(chance.choice((1, 1, 2, 5))):
            place, kind = chance.randrange(len(data)), chance.randrange(5)
            if kind == 0:
                data[place] = chance.randrange(256)
            elif kind == 1:
                data[place] ^= 1 << chance.randrange(8)
            elif kind == 2 and len(data) > 8:
                del data[place : place + chance.randrange(1, 5)]
            elif kind == 3:
                data[place:place] = chance.randbytes(chance.randrange(1, 5))
            elif len(data) > 8:
                del data[place:]
            if not data:
                break
        compiled, python = both(bytes(data), wanted)
        assert compiled == python, bytes(data)
        refused += isinstance(python, str)
        read += not isinstance(python, str)
    assert refused > 300 and read > 300


@pytest.mark.parametrize(
    "data",
    [
        b"\x08",  # cut off
        b"\x08\x80",
        b"\x0b",  # a group
        b"\x0e",  # no such type
        b"\x00\x01",  # no such field
        b"\x22\x05\x08",  # longer than there is
        b"\x22\x02\x08\x80",  # a stat that is cut off
        b"\x08" + b"\xff" * 11,
        b"\x15\0\0",
        b"\x11\0\0",
    ],
)
def test_what_is_no_event_is_refused(data: bytes) -> None:
    said = both(line_of([data]), decoded.wish((), {}))
    assert said == ["holds an event that is no valid protobuf"] * 2


@pytest.mark.parametrize("data", [b"\x22\x05", b"\x0b", b"\x08", b"\x18\x80"])
def test_what_is_no_line_is_refused(data: bytes) -> None:
    assert both(data, EVERY) == ["holds a line that is no valid protobuf"] * 2


@needs_compiled
def test_other_arguments_are_refused() -> None:
    table = np.zeros((5, 1), dtype=np.int64)
    for wrong in ((), (b"", 0, 0), ("", 0, 0, b"")):
        with pytest.raises(TypeError):
            COMPILED.outline(*wrong)
    for begin, end in ((-1, 0), (0, 1), (1, 0)):
        assert COMPILED.outline(b"", begin, end, b"") is None
        assert COMPILED.fill(b"", begin, end, b"", False, b"", {}, table, 0) is None
    with pytest.raises(TypeError):
        COMPILED.fill()
    with pytest.raises(TypeError):
        COMPILED.fill(b"", 0, 0, b"", False, b"", [], table, 0)
    with pytest.raises(BufferError):
        COMPILED.fill(b"", 0, 0, b"", False, b"", {}, b"read only", 0)
    with pytest.raises((BufferError, ValueError)):
        COMPILED.fill(b"", 0, 0, b"", False, b"", {}, table.T[:, ::2], 0)

    def filled(table: Any, stats: Any = (), row: int = 0, data: bytes = line_of([b""])) -> Any:
        stats = np.array(stats, dtype=np.int64).tobytes()
        return COMPILED.fill(data, 0, len(data), b"", False, stats, {}, table, row)

    assert filled(table) == 1
    assert filled(table, row=1) is None and filled(table, row=-1) is None
    for shape in ((3, 1), (99, 1), (5,)):
        assert filled(np.zeros(shape, dtype=np.int64)) is None
    assert filled(table.astype(np.int32)) is None
    assert filled(table, [(1, 5, 0)]) is None and filled(table, [(1, 0, 9)]) is None
    assert filled(table, [(0, 0, 0)] * 99) is None
    assert filled(table, data=line_of([b"\x22\x05\x08"])) is None

    def gathered(column: int, known: Any, room: Any) -> Any:
        more = (column, known, room)
        return COMPILED.fill(line_of([b""]), 0, 2, b"", False, b"", {}, table, 0, *more)

    assert gathered(0, {}, np.zeros(1, dtype=np.int64)) == 1
    assert gathered(1, {}, np.zeros(1, dtype=np.int64)) is None
    assert gathered(0, {}, np.zeros(2, dtype=np.int64)) is None
    for known, room in (([], np.zeros(1, dtype=np.int64)), ({}, b"read only")):
        with pytest.raises((TypeError, BufferError)):
            gathered(0, known, room)


def test_the_switch_is_heeded() -> None:
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "from tb_memory_plugin.readers import xplane_events as e; print(e._compiled)",
        ],
        env={**os.environ, "TB_MEMORY_PURE_PYTHON": "1"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "None"
