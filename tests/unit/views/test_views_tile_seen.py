"""Lives in the columns of a picture, beside each life looked at in each column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.alive import latest
from tb_memory_plugin.recording.schema import AFTER
from tb_memory_plugin.views.tile import seen as seeing
from tb_memory_plugin.views.tile.seen import seen

_EVENTS = st.integers(-1, 60)
_LIVES = st.lists(st.tuples(_EVENTS, st.integers(1, 40) | st.none()), max_size=40)


@pytest.mark.parametrize(("part", "bits"), [(1, 0), (3, 2), (1 << 15, 14)])
@given(lives=_LIVES, instants=st.lists(_EVENTS, max_size=12))
def test_lives_are_seen_where_they_are_alive(
    part: int, bits: int, lives: list[tuple[int, int | None]], instants: list[int]
) -> None:
    lives.sort(key=lambda life: life[0])
    instants.sort()
    spans = [(birth, AFTER if length is None else birth + length) for birth, length in lives]
    birth, death = (np.array([each[end] for each in spans], dtype=np.int64) for end in (0, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seeing, "_PART", part)
        patch.setattr(seeing, "_BITS", bits)
        found = seen(birth, death, np.array(instants, dtype=np.int64), latest(death))
    truth = []
    for row, (begin, end) in enumerate(spans):
        there = [place for place, event in enumerate(instants) if begin <= event < end]
        if there:
            truth.append((row, there[0], there[-1], len(there) == 1 and len(instants) > 1))
    columns = (found.row, found.first, found.last, found.short)
    assert list(zip(*(each.tolist() for each in columns), strict=True)) == truth
