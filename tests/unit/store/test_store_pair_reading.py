"""Two recordings as one, as far as their times can be shifted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_memory_plugin.api import load
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.store.pair_reading import MOST_SHIFT, as_one
from tests.fixtures.pairs import write_pair


def test_a_shift_beyond_what_times_can_be_is_refused(tmp_path: Path) -> None:
    ours, theirs = (load(path).recording for path in write_pair(tmp_path))
    matched = as_one("x", ours, theirs, None).values("spans", "begin")
    for shift in (MOST_SHIFT, -MOST_SHIFT):
        begins = as_one("x", ours, theirs, shift).values("spans", "begin")
        assert (begins - begins.min() == matched - matched.min()).all()
    for shift in (MOST_SHIFT + 1, -(1 << 63), (1 << 63) - 1):
        with pytest.raises(SourceError, match="shift by at most 36 years"):
            as_one("x", ours, theirs, shift)
