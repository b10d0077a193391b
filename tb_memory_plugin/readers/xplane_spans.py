"""What threads and devices did, to the tables ``spans`` and ``links`` of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers import xplane_work
from tb_memory_plugin.readers.collectives import collective
from tb_memory_plugin.readers.xplane_device import Span
from tb_memory_plugin.readers.xplane_planes import Planes
from tb_memory_plugin.readers.xplane_program import KINDS, Spans
from tb_memory_plugin.readers.xplane_ties import COLLECTIVE, links
from tb_memory_plugin.readers.xplane_ties import KINDS as LINKS
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.nesting import depths_of_kind, nested
from tb_memory_plugin.recording.vocabulary import Vocabulary

#: What ran on devices and becomes a span, the longest: more is never looked at one by one.
MOST_SPANS = 1_000_000
_KINDS = [*KINDS, "hlo_module", *xplane_work.KINDS]
_COLUMNS = ("device", "track", "kind", "name", "begin", "end", "step", "args")


def tables(planes: Planes, host: Spans, keys: Sequence[str], origin: int) -> dict[str, pa.Table]:
    """Operations of the host, then what devices did, each in order of time; and the links.

    What is left out is counted in ``planes``.
    """
    tracks, names = Vocabulary(), Vocabulary()
    marked, work = _marked(planes, keys, tracks, names), _worked(planes, keys, tracks, names)
    kept = _longest(work)
    planes.work.left_out = len(work["begin"]) - len(kept)
    ran = {
        name: np.concatenate([marked[name], work[name][kept]]).astype(np.int64, copy=False)
        for name in _COLUMNS
    }
    order = np.lexsort((-ran["end"], ran["begin"]))
    ran = {name: column[order] for name, column in ran.items()}
    first, count = len(host.columns["begin"]), len(marked["begin"])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(first, first + len(order))
    placed = np.full(planes.work.count, -1)
    placed[kept] = place[count:]
    spans = _table(planes, host, ran, (tracks, names), origin)
    begin = arrays.values(spans, "begin")
    found = links(
        [(planes.program.ties, host.place)],
        [(planes.ties, place[: len(planes.modules)]), (planes.work.ties, placed)],
        planes.work.pairs(placed),
        begin,
    )
    planes.links_left_out = found.left_out
    together = collective(arrays.words(spans, "name"))[arrays.values(spans, "name")]
    on_device = found.target >= first
    kind = np.where(on_device & together[found.target], COLLECTIVE, found.kind)
    return {
        "spans": spans,
        "links": builder.table(
            "links",
            {
                "source": found.source,
                "target": found.target,
                "kind": arrays.text(kind, LINKS),
            },
        ),
    }


def device_of_plane(keys: Sequence[str], name: str) -> int:
    """The place in ``keys`` of the memory of the device plane ``name`` (``TPU:0``), -1 for none."""
    kind, _, number = name.partition(":")
    called = {"TPU": number, "GPU": f"GPU_{number}_bfc"}.get(kind, "")
    return keys.index(called) if called in keys else -1


def _of_devices(steps: Sequence[Span], keys: Sequence[str]) -> list[Span]:
    """The steps of devices whose memory is known; of one device, where none is."""
    known = [step for step in steps if device_of_plane(keys, step.device) >= 0]
    return known or [step for step in steps if step.device == steps[0].device]


def _marked(
    planes: Planes, keys: Sequence[str], tracks: Vocabulary, names: Vocabulary
) -> dict[str, IntArray]:
    """Modules, in the order of ``planes``, and steps."""
    rows = [
        (
            device_of_plane(keys, span.device),
            tracks.code(span.track),
            _KINDS.index(span.kind),
            names.code(span.name),
            span.begin,
            span.end,
            span.step,
            -1,
        )
        for span in [*planes.modules, *_of_devices(planes.steps(), keys)]
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, len(_COLUMNS)).T
    return dict(zip(_COLUMNS, columns, strict=True))


def _worked(
    planes: Planes, keys: Sequence[str], tracks: Vocabulary, names: Vocabulary
) -> dict[str, IntArray]:
    """What ran on devices, in the order of ``planes``."""
    work = planes.work

    def coded(name: str, codes: list[int]) -> IntArray:
        found: IntArray = np.array([*codes, -1], dtype=np.int64)[work.column(name)]
        return found

    return {
        "device": coded("device", [device_of_plane(keys, name) for name in work.devices.words]),
        "track": coded("track", [tracks.code(name) for name in work.tracks.words]),
        "kind": work.column("kind") + len(KINDS) + 1,
        "name": coded("name", [names.code(name) for name in work.names.words]),
        "begin": work.column("begin"),
        "end": work.column("end"),
        "step": np.full(work.count, -1),
        "args": work.column("detail"),
    }


def _longest(work: dict[str, IntArray]) -> IntArray:
    """The rows that are kept, in order."""
    length = work["end"] - work["begin"]
    if len(length) <= MOST_SPANS:
        return np.arange(len(length))
    return np.sort(np.argsort(-length, kind="stable")[:MOST_SPANS])


def _table(
    planes: Planes,
    host: Spans,
    ran: dict[str, IntArray],
    words: tuple[Vocabulary, Vocabulary],
    origin: int,
) -> pa.Table:
    first = len(host.columns["begin"])
    inside = nested(ran["track"], ran["begin"], ran["end"])
    parent = np.full(len(inside.order) + 1, -1)
    own = np.append(inside.order, -1)
    parent[inside.order] = own[inside.parent]
    depth = np.empty(len(inside.order), dtype=np.int64)
    kind = ran["kind"][inside.order]
    depth[inside.order] = depths_of_kind(ran["track"][inside.order], inside.begin, inside.end, kind)
    parent = np.where(parent[:-1] < 0, -1, parent[:-1] + first)
    ran = ran | {"parent": parent, "depth": depth}
    ran["track"] += len(host.tracks)
    ran["name"] += len(host.names)
    found: dict[str, Any] = {
        name: np.concatenate([column, ran[name]]) for name, column in host.columns.items()
    }
    device = np.concatenate([np.full(first, -1), ran["device"]])
    args, said = planes.details.texts(found["args"])
    tracks, names = (vocabulary.words for vocabulary in words)
    return builder.table(
        "spans",
        {
            "device": (device, device < 0),
            "track": arrays.text(found["track"], [*host.tracks, *tracks]),
            "kind": arrays.text(found["kind"], _KINDS),
            "name": arrays.text(found["name"], [*host.names, *names]),
            "begin": found["begin"] - origin,
            "end": found["end"] - origin,
            "depth": found["depth"],
            "parent": (found["parent"], found["parent"] < 0),
            "step": (found["step"], found["step"] < 0),
            "args": arrays.text(args, said),
        },
    )
