"""Shapes as XLA writes them, and what they take without padding."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fixtures.hlo import Module, shape, tupled
from tests.formats.hlo_reading import read, rows

ANY = -(1 << 63)
#: Names of elements, by code of ``PrimitiveType`` in ``xla_data.proto``.
KINDS = {
    1: "pred", 2: "s8", 3: "s16", 4: "s32", 5: "s64",
    6: "u8", 7: "u16", 8: "u32", 9: "u64", 10: "f16",
    11: "f32", 12: "f64", 15: "c64", 16: "bf16", 18: "c128",
    19: "f8e5m2", 20: "f8e4m3fn", 21: "s4", 22: "u4", 23: "f8e4m3b11fnuz",
    24: "f8e5m2fnuz", 25: "f8e4m3fnuz", 26: "s2", 27: "u2", 28: "f8e4m3",
    29: "f8e3m4", 30: "s1", 31: "u1", 32: "f4e2m1fn", 33: "f8e8m0fnu",
}  # fmt: skip


def size_of(name: str) -> int:
    """Bytes of an element: what its name says, but whole ones."""
    bits = re.search(r"\d+", name)
    return max(8, int(bits[0]) if bits else 0) // 8


def told(folder: Path, data: bytes) -> tuple[str, int | None]:
    """Text and bytes of the shape of an instruction."""
    made = Module()
    made.instruction("x", data)
    (found,) = rows(read(folder, made), "instructions", "shape", "bytes")
    return found


def test_every_kind_of_element(tmp_path: Path) -> None:
    made = Module()
    for code in KINDS:
        made.instruction(f"x{code}", shape(code, 3, 5, order=(1, 0)))
        made.buffer(f"x{code}", 1 << 20)
    recording = read(tmp_path, made)
    expected = [(f"{name}[3,5]{{1,0}}", 15 * size_of(name)) for name in KINDS.values()]
    assert rows(recording, "instructions", "shape", "bytes") == expected
    assert rows(recording, "buffers", "shape", "unpadded") == expected
    assert rows(recording, "buffers", "dtype") == list(KINDS.values())


@pytest.mark.parametrize(
    ("data", "text", "size"),
    [
        (shape("f32"), "f32[]", 4),
        (shape("f32", 0, 7), "f32[0,7]", 0),
        (shape("f32", 1, 0), "f32[1,0]", 0),
        (
            shape(16, 8, 128, order=(1, 0), tiles=[(8, 128), (2, 1)]),
            "bf16[8,128]{1,0:T(8,128)(2,1)}",
            2048,
        ),
        (shape("f32", 9, order=(0,), tiles=[(ANY, 128)], space=1), "f32[9]{0:T(*,128)S(1)}", 36),
        (shape("s4", 5, order=(0,), bits=4), "s4[5]{0:E(4)}", 3),
        (shape("s4", 5, order=(0,), tiles=[(8,)], bits=4, space=3), "s4[5]{0:T(8)E(4)S(3)}", 3),
        (shape("s4", 5, order=(0,)), "s4[5]{0}", 5),
        (shape("pred", 4, order=(0,), bits=32), "pred[4]{0:E(32)}", 16),
        (shape("f32", 4, 6, dynamic=(True, False)), "f32[<=4,6]", 96),
        (shape("f32", ANY, 6, dynamic=(True, False)), "f32[?,6]", None),
        (shape("f32", space=5), "f32[]{:S(5)}", 4),
        (shape("token"), "token[]", 0),
        (shape("opaque"), "opaque[]", 8),
        (tupled(), "()", 0),
        (
            tupled(shape("f32", 2), tupled(shape("s32"), shape("token"))),
            "(f32[2], (s32[], token[]))",
            16,
        ),
        (tupled(shape("f32", 2), kind=34), "b(f32[2])", 8),
        (shape(99, 2), "type99[2]", None),
        (shape("f32", -5), "f32[-5]", None),
        (shape("f32", 1 << 40, 1 << 40), "f32[1099511627776,1099511627776]", None),
        (b"", "type0[]", None),
    ],
)
def test_shapes_in_words(tmp_path: Path, data: bytes, text: str, size: int | None) -> None:
    assert told(tmp_path, data) == (text, size)


def test_a_long_shape_is_cut(tmp_path: Path) -> None:
    text, size = told(tmp_path, tupled(*[shape("f32", 8)] * 10_000))
    assert len(text) == 500 and text.startswith("(f32[8], ") and text.endswith("…")
    assert size == 80_000


def test_the_part_of_a_tuple_that_a_buffer_is(tmp_path: Path) -> None:
    made = Module()
    inner = tupled(shape("s32", 3), shape("f32", 7))
    made.instruction("pair", tupled(shape("f32", 2), inner))
    made.instruction("array", shape("f32", 9))
    cases: list[tuple[str, tuple[int, ...], str | None, int | None]] = [
        ("pair", (), "(f32[2], (s32[3], f32[7]))", 16),
        ("pair", (0,), "f32[2]", 8),
        ("pair", (1,), "(s32[3], f32[7])", 16),
        ("pair", (1, 1), "f32[7]", 28),  # XProf looks at the last of the index only
        ("pair", (1, 0), "s32[3]", 12),
        ("pair", (2,), None, None),
        ("pair", (-1,), None, None),
        ("array", (0,), "f32[9]", 36),
    ]
    for name, index, _, _ in cases:
        made.buffer(name, 64, index=index)
    made.buffer(999, 64)
    recording = read(tmp_path, made)
    found = rows(recording, "buffers", "shape", "unpadded")
    assert found == [(text, size) for _, _, text, size in cases] + [(None, None)]
    indexes = rows(recording, "buffers", "index")
    assert indexes[:4] == ["", "{0}", "{1}", "{1,1}"]
    (problem,) = rows(recording, "plan_modules", "problems")
    assert "3 buffers name an instruction, or a part of its shape, that is not" in problem
