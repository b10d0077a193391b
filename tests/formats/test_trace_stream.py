"""A trace in pieces is the trace as a whole, wherever the pieces end and whatever is damaged."""

from __future__ import annotations

import io
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_memory_plugin.readers import trace_stream
from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.trace_stream import TraceStream, mend

_TEXT = st.text(
    st.sampled_from('a"\\{}[],: \n\té\ud83d\ude00'.replace("\ud83d\ude00", "😀")), max_size=8
)
_ARGS = st.recursive(
    st.none() | st.integers(-(1 << 70), 1 << 70) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_EVENTS = st.fixed_dictionaries(
    {"ph": st.sampled_from("XiM"), "name": _TEXT},
    optional={
        "ts": st.integers(0, 1 << 52) | st.integers(0, 1 << 50).map(lambda value: value / 1000),
        "pid": st.integers(0, 9) | _TEXT,
        "args": st.dictionaries(_TEXT, _ARGS, max_size=3),
        "list": st.lists(st.fixed_dictionaries({"x": _TEXT}), max_size=3),
    },
)


def read(text: bytes, piece: int = 1 << 20) -> tuple[list[Any], TraceStream]:
    """The events of a trace that comes in pieces of so many bytes, and its stream."""
    before = trace_stream.PIECE
    trace_stream.PIECE = piece
    try:
        stream = TraceStream(io.BytesIO(text).read)
        return [event for batch in stream.batches() for event in batch], stream
    finally:
        trace_stream.PIECE = before


def told(events: list[Any]) -> list[Any]:
    return [(event.ph, event.name, event.ts, event.pid) for event in events]


def expected(events: list[dict[str, Any]]) -> list[Any]:
    return [(each["ph"], each["name"], each.get("ts"), each.get("pid")) for each in events]


@settings(deadline=None, max_examples=150)
@given(
    st.lists(_EVENTS, max_size=12),
    st.dictionaries(st.sampled_from(["a", "z"]), _ARGS, max_size=2),
    st.sampled_from([None, 1, "\t"]),
    st.integers(1, 400),
    st.booleans(),
)
def test_pieces_make_the_whole(
    events: list[dict[str, Any]], about: dict[str, Any], indent: Any, piece: int, first: bool
) -> None:
    whole = {"traceEvents": events, **about} if first else {**about, "traceEvents": events}
    found, stream = read(json.dumps(whole, indent=indent).encode(), piece)
    assert told(found) == expected(events)
    assert stream.about == {**about, "traceEvents": []}
    assert stream.mended == 0

    found, _ = read(json.dumps(events, indent=indent).encode(), piece)
    assert told(found) == expected(events)


def test_a_list_may_be_without_its_last_bracket() -> None:
    for end in (b"", b",", b",\n", b"]", b"\n]\n"):
        found, _ = read(b'[{"ph":"X","name":"a"},\n{"ph":"X","name":"b"}' + end)
        assert [event.name for event in found] == ["a", "b"]


@pytest.mark.parametrize("piece", [16, 1 << 20])
def test_cut_off_anywhere(piece: int) -> None:
    events = [{"ph": "X", "name": f"n{i}", "args": {"x": [{}, {"y": "]}"}]}} for i in range(5)]
    text = json.dumps({"schemaVersion": 1, "traceEvents": events, "traceName": "t"}).encode()
    end = text.index(b"]", text.rindex(b"n4") + 30)
    for length in range(len(text) - len(b', "traceName": "t"}') - 1):
        with pytest.raises(Malformed, match=r"ends in the middle|without traceEvents|is none"):
            read(text[:length], piece)
    assert end > 0
    # Only what stands after the events is cut off: they are all there.
    assert len(read(text[:-4], piece)[0]) == 5


def test_what_is_not_quite_json_is_mended() -> None:
    text = (
        b'{"traceEvents": [{"ph": "X", "name": "C:\\Users\\x \\\\ \\u12 \\u00e9 \\n", "ts": 1},'
        b'{"ph": "X", "name": "\xff\xfe\xc3\xa9 \x01", "args": {"v": NaN, "w": [-Infinity]}}],'
        b'"a": NaN}'
    )
    found, stream = read(text)
    assert [event.name for event in found] == ["C:/Users/x \\ /u12 é \n", "??é  "]
    assert stream.mended == 1
    assert stream.about["a"] == ""


@given(st.binary(max_size=200))
def test_mending_keeps_the_length(text: bytes) -> None:
    assert len(mend(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b"", "without traceEvents"),
        (b'{"a": 1}', "without traceEvents"),
        (b'{"traceEvents": {}}', "without traceEvents"),
        (b'{"traceEvents": [3]}', "is none"),
        (b'{"traceEvents": [{"name": 3}]}', "is none"),
        (b'{"traceEvents": [null]}', "is none"),
        (b'{"traceEvents": [{"ts": 1e999}]}', "is none"),
        (b'{"x": {"traceEvents": [{"name": "inner"}]}}', "without traceEvents"),
        (b'{"traceEvents": [' + b"[" * 100_000, "is none"),
        (b'{"traceEvents": [{"args": ' + b"[" * 100_000, "ends in the middle"),
        (b'{"a": ' + b"[" * 100_000, "without traceEvents"),
    ],
)
def test_what_is_no_trace_is_refused(text: bytes, fault: str) -> None:
    with pytest.raises(Malformed, match=fault):
        read(text)


def test_an_event_without_an_end_is_not_collected_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_stream, "MOST", 1 << 16)
    endless = b'{"traceEvents": [{"name": "' + b"a" * (1 << 20)
    with pytest.raises(Malformed, match="an event of more than"):
        read(endless, 1 << 12)
    with pytest.raises(Malformed, match="without traceEvents"):
        read(b'{"a": "' + b"a" * (1 << 20), 1 << 12)


def test_long_time_stamps_are_exact() -> None:
    text = b'[{"ph":"X","ts":1710000000000000.123},{"ph":"X","ts":1710000000000000.124,"dur":0.5}]'
    found, _ = read(text)
    assert [int(event.ts * 1000) for event in found] == [
        1710000000000000123,
        1710000000000000124,
    ]


def test_mutated_bytes() -> None:
    chance = random.Random(3)
    events = [{"ph": "X", "name": f"n{i}", "ts": i, "args": {"x": [i]}} for i in range(40)]
    plain = json.dumps({"traceEvents": events, "traceName": "t"}).encode()
    outcomes = {"read": 0, "refused": 0}
    for _ in range(400):
        data = bytearray(plain)
        for _ in range(chance.choice((1, 1, 4))):
            place = chance.randrange(len(data))
            kind = chance.randrange(3)
            if kind == 0:
                data[place] = chance.randrange(256)
            elif kind == 1:
                del data[place : place + chance.randrange(1, 9)]
            else:
                data[place:place] = data[: chance.randrange(1, 30)]
        try:
            read(bytes(data), chance.choice((64, 1 << 20)))
            outcomes["read"] += 1
        except Malformed:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 40, outcomes


def test_a_damaged_piece_is_mended_once_for_all_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    mended: list[int] = []

    def counted(text: bytes) -> bytes:
        mended.append(len(text))
        return mend(text)

    monkeypatch.setattr(trace_stream, "mend", counted)
    event = b'{"ph": "X", "name": "a", "ts": 1},'
    text = b'{"traceEvents": [{"ph": "X" "ts": 1},' + event * (trace_stream.PIECE // len(event) + 9)
    stream = TraceStream(io.BytesIO(text).read)
    with pytest.raises(Malformed, match="ends in the middle"):
        list(stream.batches())
    assert 1 <= len(mended) <= 3, mended
