"""What is alive at a moment, against a look at every life."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis import alive
from tb_memory_plugin.recording.schema import AFTER

LENGTHS = st.sampled_from((0, 1, alive.BLOCK - 1, alive.BLOCK, 3 * alive.BLOCK + 7, 5_000))


@given(LENGTHS, st.integers(0, 1 << 32), st.floats(0, 1), st.data())
def test_those_that_outlive_an_event(
    length: int, seed: int, long: float, data: st.DataObject
) -> None:
    """Whether few or many are left, of all lives or of the first of them."""
    random = np.random.default_rng(seed)
    born = np.sort(random.integers(0, 2 * length + 1, length))
    lives = np.where(random.random(length) < long, length, 3)
    death = born + 1 + random.integers(0, lives + 1)
    death[random.random(length) < long / 10] = AFTER
    latest = alive.latest(death)
    count = data.draw(st.integers(0, length))
    event = data.draw(st.integers(-1, 3 * length + 2))
    expected = [row for row in range(count) if death[row] > event]
    assert alive.outliving(death[:count], event, latest).tolist() == expected
