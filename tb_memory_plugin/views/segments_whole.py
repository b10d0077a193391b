"""The allocator's state at an instant, whole: for the command line and for files."""

from __future__ import annotations

from typing import Any

from tb_memory_plugin.analysis.instants import resolve
from tb_memory_plugin.analysis.segment_state import segment_state
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.segments import described
from tb_memory_plugin.views.segments_groups import groups_of
from tb_memory_plugin.views.words import hexadecimal


def whole(recording: Recording, device: Device, at: str = "peak") -> dict[str, Any]:
    """Every segment with every block and hole in it. Raises QueryError.

    A block's ``state`` is ``allocated`` or ``pending``; ``rounding_inferred`` says that its size is
    worked out, not recorded.
    """
    instant = resolve(recording, device, at)
    state = segment_state(recording, device, instant.event)
    pools, group = groups_of(recording, state)
    segments = state.segments
    kinds = [*arrays.words(recording.table("segment_lives"), "kind"), None]
    columns = {
        name: getattr(segments, name).tolist()
        for name in ("size", "used", "requested", "pending", "free", "largest_free", "ranges")
    }
    found: list[dict[str, Any]] = [
        {
            "key": pools[group[row]]["key"],
            "address": hexadecimal(int(segments.address[row])),
            **{name: values[row] for name, values in columns.items()},
            "kind": kinds[segments.kind[row]],
            "expandable": bool(segments.expandable[row]),
            "birth": int(segments.birth[row]) if segments.birth[row] >= 0 else None,
            "blocks": [],
            "holes": [],
        }
        for row in range(len(segments.size))
    ]
    blocks, holes = state.blocks, state.holes
    for segment, offset, size, requested, pending, inferred, allocation in zip(
        *(
            column.tolist()
            for column in (
                blocks.segment,
                blocks.offset,
                blocks.size,
                blocks.requested,
                blocks.pending,
                blocks.inferred,
                blocks.allocation,
            )
        ),
        strict=True,
    ):
        found[segment]["blocks"].append(
            {
                "offset": offset,
                "size": size,
                "requested": requested,
                "state": "pending" if pending else "allocated",
                "rounding_inferred": bool(inferred),
                "allocation": str(allocation),
            }
        )
    for segment, offset, size in zip(
        holes.segment.tolist(), holes.offset.tolist(), holes.size.tolist(), strict=True
    ):
        found[segment]["holes"].append({"offset": offset, "size": size})
    return {**described(recording, device, state, instant), "pools": pools, "segments": found}
