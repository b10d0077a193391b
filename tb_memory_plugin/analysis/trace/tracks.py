"""Tracks by their place in ``span_tracks``, and the lanes of some of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording


def lanes_of(recording: Recording, tracks: Sequence[int] | None) -> IntArray:
    """The rows of ``span_lanes`` of some tracks (None: all), in order. Raises QueryError."""
    firsts, stops = (recording.values("span_tracks", name) for name in ("first", "stop"))
    if tracks is None:
        return np.arange(recording.table("span_lanes").num_rows)
    for track in tracks:
        if not 0 <= track < len(firsts):
            raise QueryError(f"There is no track {track}; there are {len(firsts)}.")
    chosen = [np.arange(firsts[track], stops[track]) for track in sorted({*tracks})]
    return np.concatenate([np.zeros(0, dtype=np.int64), *chosen])
