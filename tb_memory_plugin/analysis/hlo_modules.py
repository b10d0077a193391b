"""The HLO modules that ran on a device, in rows in which none covers another."""

from __future__ import annotations

import numpy as np

from tb_memory_plugin.analysis.attribution import Spans, spans_of_kind
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.trace.lanes import first_free
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording


def hlo_modules(recording: Recording, device: Device) -> tuple[Spans, IntArray]:
    """The runs of HLO modules on ``device``, and in which row each is drawn.

    Those of all devices where none is known to be of this one, as for an allocator of the host.
    Rows go by track (a device, as the source calls it); where runs overlap it has several.
    """
    return memo(recording, ("hlo_modules", device.index), lambda: _found(recording, device))


def _found(recording: Recording, device: Device) -> tuple[Spans, IntArray]:
    everywhere = spans_of_kind(recording, "hlo_module", None)
    own = recording.values("spans", "device")[everywhere.rows] == device.index
    chosen = np.flatnonzero(own) if own.any() else np.arange(len(own))
    spans = Spans(everywhere.rows[chosen], everywhere.begin[chosen], everywhere.end[chosen])
    depth = np.zeros(len(spans.rows), dtype=np.int64)
    table = recording.table("spans")
    track, names = arrays.values(table, "track")[spans.rows], [*arrays.words(table, "track"), ""]
    below = 0
    # "TPU:2" before "TPU:10".
    in_order = sorted(
        arrays.distinct(track).tolist(), key=lambda code: (len(names[code]), names[code])
    )
    for one in in_order:
        here = np.flatnonzero(track == one)
        in_time = here[np.argsort(spans.begin[here], kind="stable")]
        rows = first_free(spans.begin[in_time], spans.end[in_time])
        depth[in_time] = below + rows
        below += int(rows.max()) + 1
    return spans, depth
