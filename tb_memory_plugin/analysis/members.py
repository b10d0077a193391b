"""A group by its key, made into which allocations are of it."""

from __future__ import annotations

from tb_memory_plugin.analysis import naming
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.grouping import group_ids
from tb_memory_plugin.analysis.ranking import TOP, ranking
from tb_memory_plugin.recording.recording import Device, Recording


def members(
    recording: Recording,
    device: Device,
    by: str,
    pattern: str,
    key: str,
    top: int = TOP,
    rows: IntArray | slice = slice(None),
) -> IntArray:
    """A mask over ``rows`` of the device's allocations: those of the group ``key``.

    The key of the rest is that of all groups but the ``top`` that ``ranking`` shows. Raises
    QueryError.
    """
    groups = group_ids(recording, device, by, pattern)
    ids = groups.ids[rows]
    if key == naming.REST_KEY and by != "pattern":
        ranked = ranking(recording, device, by, pattern, top)
        rest: IntArray = ranked.band[ids] == len(ranked.shown)
        return rest
    found: IntArray = ids == naming.find(recording, groups, key)
    return found
