"""The buffers of a plan that are alive at a moment, as what bars are drawn of and told with."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis import plan_lives
from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.grouping import group_ids
from tb_memory_plugin.analysis.plan_reading import Plan
from tb_memory_plugin.analysis.plan_recording import KEY, plan_recording
from tb_memory_plugin.analysis.ranking import TOP, describe, ranking
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import AFTER
from tb_memory_plugin.views import ipc

#: Buffers that bars are drawn of, the largest; the rest is one.
MOST = 5_000
#: Words of a buffer, by column of allocations.
_WORDS = {"name": "name", "dtype": "dtype", "shape": "shape", "kind": "region"}


def bars(
    recording: Recording,
    plan: Plan,
    event: int,
    *,
    by: str = "",
    pattern: str = "",
    top: int = TOP,
) -> bytes:
    """An Arrow stream of the buffers alive after ``event``, in program order.

    ``id`` of the allocation, ``bytes``, ``unpadded``, ``birth`` and ``death`` (null for what is
    held from the start, and to the end), ``name``, ``dtype``, ``shape``, ``kind``; with ``by`` the
    ``band`` of its group among the ``top`` of ``usage``. In its metadata, under ``alive``,
    ``total`` and ``count`` of all, ``left_out`` and ``left_out_bytes`` of those too small and many,
    and the ``groups``. Raises QueryError.
    """
    alive = reading.alive(recording, plan, event)
    size = recording.values("buffer_lives", "size")[alive]
    kept = np.sort(np.argsort(-size, kind="stable")[:MOST])
    rows = alive[kept]
    allocation = plan_lives.ids(recording)[rows]
    about = {
        "event": event,
        "total": int(size.sum()),
        "count": len(alive),
        "left_out": len(alive) - len(rows),
        "left_out_bytes": int(size.sum() - size[kept].sum()),
        "by": by,
        "groups": [],
    }
    planned = plan_recording(recording)
    birth, death = (recording.values("buffer_lives", name)[rows] for name in ("birth", "death"))
    table = planned.table("allocations")
    unpadded = recording.values("buffer_lives", "unpadded")[rows]
    columns = {
        "id": arrays.column(allocation, pa.int32()),
        "bytes": arrays.real_column(size[kept].astype(np.float64)),
        "unpadded": arrays.real_column(unpadded.astype(np.float64)),
        "birth": arrays.column(birth, pa.int32(), birth < 0),
        "death": arrays.column(death, pa.int32(), death == AFTER),
        **{
            name: arrays.encoded_text(arrays.words_of(table, column, allocation))
            for name, column in _WORDS.items()
        },
    }
    if by:
        device = planned.device(f"{KEY}{plan.row}")
        group = group_ids(planned, device, by, pattern).ids
        band = ranking(planned, device, by, pattern, top).band
        first = planned.rows("allocations", device).start
        columns["band"] = arrays.column(band[group[allocation - first]], pa.int32())
        about["groups"] = describe(planned, device, by, pattern, top)
    return ipc.stream(columns, "alive", about)
