"""Shapes of XLA, made into text as XLA writes it and the bytes they take without padding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.recording.schema import MOST_MEMORY

#: Names and bits of an element by code of ``PrimitiveType``.
_ELEMENTS = {
    1: ("pred", 8),
    2: ("s8", 8),
    3: ("s16", 16),
    4: ("s32", 32),
    5: ("s64", 64),
    6: ("u8", 8),
    7: ("u16", 16),
    8: ("u32", 32),
    9: ("u64", 64),
    10: ("f16", 16),
    11: ("f32", 32),
    12: ("f64", 64),
    16: ("bf16", 16),
    15: ("c64", 64),
    18: ("c128", 128),
    21: ("s4", 8),
    22: ("u4", 8),
    26: ("s2", 8),
    27: ("u2", 8),
    30: ("s1", 8),
    31: ("u1", 8),
    32: ("f4e2m1fn", 8),
    19: ("f8e5m2", 8),
    20: ("f8e4m3fn", 8),
    23: ("f8e4m3b11fnuz", 8),
    24: ("f8e5m2fnuz", 8),
    25: ("f8e4m3fnuz", 8),
    28: ("f8e4m3", 8),
    29: ("f8e3m4", 8),
    33: ("f8e8m0fnu", 8),
}
_TUPLE, _OPAQUE, _TOKEN, _BUFFER = 13, 14, 17, 34
#: A size without bound, and in a tile one that is combined with the next.
_ANY = -(1 << 63)
_POINTER = 8
_DEEPEST = 64
_LONGEST = 500


@dataclass(frozen=True)
class Shape:
    """A shape: its text, element type, bytes without padding (None where unknown) and parts."""

    text: str
    dtype: str
    bytes: int | None
    parts: tuple[Shape, ...] = ()

    def at(self, index: tuple[int, ...]) -> Shape | None:
        """The part at ``index`` of a tuple; None where there is none."""
        found: Shape = self
        for place in index:
            if not 0 <= place < len(found.parts):
                return None
            found = found.parts[place]
        return found


class Shapes:
    """Shapes by their bytes: a module has few distinct ones."""

    def __init__(self) -> None:
        self._known: dict[bytes, Shape] = {}

    def of(self, data: bytes, depth: int = 0) -> Shape:
        """The shape in ``data``, which so many tuples are around. Raises Malformed."""
        found = self._known.get(data)
        if found is None:
            message = _parsed(data)
            if message.element_type == _TUPLE or message.tuple_shapes:
                found = self._tuple(message, depth)
            else:
                found = _array(message)
            self._known[data] = found
        return found

    def _tuple(self, message: Any, depth: int) -> Shape:
        if depth >= _DEEPEST:
            raise Malformed("a shape of it is nested too deep")
        parts = tuple(self.of(part, depth + 1) for part in message.tuple_shapes)
        if message.element_type == _BUFFER and len(parts) == 1:
            return replace(parts[0], text=_cut(f"b({parts[0].text})"))
        text = f"({', '.join(part.text for part in parts)})"
        return Shape(_cut(text), "tuple", _POINTER * len(parts), parts)


def _parsed(data: bytes) -> Any:
    from google.protobuf.message import DecodeError

    from tb_memory_plugin.proto.hlo import hlo_classes

    try:
        return hlo_classes()["Shape"].FromString(data)
    # The implementations of protobuf (C, Python) do not raise the same.
    except (DecodeError, RecursionError, ValueError, TypeError, IndexError):
        raise Malformed("a shape of it is no protobuf") from None


def _array(message: Any) -> Shape:
    kind = message.element_type
    if kind == _TOKEN:
        return Shape("token[]", "token", 0)
    if kind == _OPAQUE:
        return Shape("opaque[]", "opaque", _POINTER)
    name, bits = _ELEMENTS.get(kind, (f"type{kind}", 0))
    dynamic = message.is_dynamic_dimension
    dimensions = [
        _dimension(size, place < len(dynamic) and dynamic[place])
        for place, size in enumerate(message.dimensions)
    ]
    packed = message.layout.element_size_in_bits
    text = f"{name}[{','.join(dimensions)}]{_layout(message.layout)}"
    return Shape(_cut(text), name, _bytes(message.dimensions, packed or bits))


def _dimension(size: int, dynamic: bool) -> str:
    if size == _ANY:
        return "?"
    return f"<={size}" if dynamic else str(size)


def _bytes(dimensions: Any, bits: int) -> int | None:
    if not bits or any(size < 0 for size in dimensions):
        return None
    if 0 in dimensions:
        return 0
    count = 1
    for size in dimensions:
        count *= size
        if count > MOST_MEMORY:  # a hostile file may name any, and very many
            return None
    whole = -(-count * bits // 8)
    return whole if 0 <= whole < MOST_MEMORY else None


def _layout(layout: Any) -> str:
    more = ""
    if layout.tiles:
        more += f"T{''.join(map(_tile, layout.tiles))}"
    if layout.element_size_in_bits:
        more += f"E({layout.element_size_in_bits})"
    if layout.memory_space:
        more += f"S({layout.memory_space})"
    order = ",".join(map(str, layout.minor_to_major))
    if not order and not more:
        return ""
    return f"{{{order}{':' if more else ''}{more}}}"


def _tile(tile: Any) -> str:
    return f"({','.join('*' if size == _ANY else str(size) for size in tile.dimensions)})"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
