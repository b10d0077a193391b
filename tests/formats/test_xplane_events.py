"""What the compiled decoder reads of events is what protobuf reads, also of damaged ones."""

from __future__ import annotations

import importlib.util
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb_memory_plugin.proto.xplane import xplane_classes
from tb_memory_plugin.readers import xplane_events as decoded
from tb_memory_plugin.readers.checked import Malformed
from tests.fixtures import xplane
from tests.fixtures.pprof import number, part, varint
from tests.formats.xplane_reading import REAL

COMPILED: Any = None
if importlib.util.find_spec("tb_memory_plugin.readers._xevents"):
    from tb_memory_plugin.readers import _xevents as COMPILED

needs_compiled = pytest.mark.skipif(COMPILED is None, reason="built without a C compiler")


def both(events: list[bytes], stats: Any, wanted: list[int], every: bool) -> list[Any]:
    """Rows and texts, or the fault that is found: as it is, and in Python."""
    answers: list[Any] = []
    before = decoded._compiled
    for module in (COMPILED, None):
        decoded._compiled = module
        texts: dict[bytes, int] = {}
        try:
            rows = decoded.rows(events, stats, wanted, texts, every=every)
            answers.append((rows.tolist(), texts))
        except Malformed as error:
            answers.append(str(error))
        finally:
            decoded._compiled = before
    return answers


def lines(data: bytes) -> Any:
    """The events of every line, the stats to read and the wanted kinds."""
    for plane in xplane_classes()["XSpace"].FromString(data).planes:
        stats = decoded.stats_of((entry.key, entry.value.name) for entry in plane.stat_metadata)
        wanted = [e.key for e in plane.event_metadata if e.value.name.startswith(b"Memory")]
        for line in plane.lines:
            yield list(line.events), stats, wanted


def test_the_compiled_module_is_used_where_it_was_built_and_is_wanted() -> None:
    pure = bool(os.environ.get("TB_MEMORY_PURE_PYTHON"))
    assert decoded._compiled is (None if pure else COMPILED)


@needs_compiled
@pytest.mark.parametrize("every", [False, True])
def test_made_events_are_read_the_same(every: bool) -> None:
    found = 0
    for events, stats, wanted in lines(xplane.small()):
        compiled, python = both(events, stats, wanted, every)
        assert compiled == python and not isinstance(python, str)
        found += len(python[0])
    assert found == (9 if every else 7)


@needs_compiled
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_events_are_read_the_same(path: Path) -> None:
    for events, stats, wanted in lines(path.read_bytes()):
        compiled, python = both(events[:5_000], stats, wanted, False)
        assert compiled == python


@needs_compiled
def test_the_compiled_module_itself_takes_regular_events() -> None:
    for events, stats, wanted in lines(xplane.small()):
        kinds = np.array(wanted, dtype=np.int64).tobytes()
        width = len(decoded.COLUMNS) - decoded.FIRST
        assert COMPILED.rows(events, stats.tobytes(), kinds, 0, True, width, {}) is not None


_ODD = [0, 1, 7, 127, 128, 1 << 31, 1 << 32, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]


def test_values_and_fields_of_all_kinds_are_read_the_same() -> None:
    names = [(key, name) for key, name in enumerate(decoded.STATS, 1)]
    stats, chance = decoded.stats_of(names), random.Random(3)
    real = varint(2 << 3 | 1) + b"\0\0\0\0\0\0\xf8\x7f"
    for _ in range(400):
        event = b""
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
            event += part(4, number(1, chance.choice((1, 2, 3, 7, 9, 18, 99))) + value)
        event += number(chance.choice((1, 2, 3, 5, 9)), chance.choice(_ODD))
        compiled, python = both([event], stats, [1, 7], chance.random() < 0.5)
        assert compiled == python


@needs_compiled
def test_mutated_events_are_read_or_refused_the_same() -> None:
    chance = random.Random(5)
    whole = [line for line in lines(xplane.small()) if line[0]]
    refused = read = 0
    for _ in range(3_000):
        events, stats, wanted = chance.choice(whole)
        data = bytearray(chance.choice(events))
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
        compiled, python = both([*events, bytes(data)], stats, wanted, True)
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
    assert set(both([data], decoded.stats_of(()), [], True)) == {
        "holds an event that is no valid protobuf"
    }


@needs_compiled
def test_other_arguments_are_refused() -> None:
    with pytest.raises(TypeError):
        COMPILED.rows()
    with pytest.raises(TypeError):
        COMPILED.rows((), b"", b"", 0, True, 1, {})
    with pytest.raises(TypeError):
        COMPILED.rows([], b"", b"", 0, True, 1, [])
    assert COMPILED.rows(["text"], b"", b"", 0, True, 1, {}) is None
    assert COMPILED.rows([b""], b"", b"", 0, True, 99, {}) is None
    assert COMPILED.rows([b""], b"", b"", 0, True, -1, {}) is None
    beyond = np.array([[1, 5, 0]]).tobytes()
    assert COMPILED.rows([b""], beyond, b"", 0, True, 1, {}) is None
    many = np.zeros((99, 3), dtype=np.int64).tobytes()
    assert COMPILED.rows([b""], many, b"", 0, True, 1, {}) is None
    assert COMPILED.rows([b""], b"xyz", b"", 0, True, 1, {}) == bytes(40)
    assert COMPILED.rows([b""], b"", b"", 0, False, 1, {}) == b""


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
