"""What part of allocations nobody asked for, in classes, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.rounding_classes import NAMES, roundings
from tb_memory_plugin.recording import builder
from tests.properties import examples

SIZES = st.one_of(st.integers(0, 5_000), st.integers(0, (1 << 60) - 1))


@examples(200)
@given(st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=20))
def test_classes_are_those_of_the_exact_part(pairs: list[tuple[int, int]]) -> None:
    size = np.array([max(pair) for pair in pairs])
    asked = np.array([min(pair) for pair in pairs])
    table = builder.table(
        "allocations",
        {"device": np.zeros(len(pairs), dtype=int), "size": size, "requested": asked},
    )
    meta = {"format": "x", "basis": "size", "devices": [{"key": "0", "name": "0"}]}
    recording = builder.recording(meta, {"allocations": table})
    found, names = roundings(recording, recording.devices[0])
    assert names == NAMES
    edges = [Fraction(part, 1000) for part in (10, 100, 250, 500, 900)]
    for code, whole, least in zip(found.tolist(), size.tolist(), asked.tolist(), strict=True):
        more = whole - least
        part = Fraction(more, whole) if whole else Fraction(0)
        expected = 0 if more == 0 else 1 + sum(part >= edge for edge in edges)
        # Thousandths of sizes over a million are whole numbers of bytes: nearest an edge only.
        near = min(abs(part - edge) for edge in edges) < Fraction(1, 100_000)
        assert code == expected or near
