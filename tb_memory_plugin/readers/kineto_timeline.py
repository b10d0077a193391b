"""All that took time in a Kineto trace, and what led to what: the tables ``spans`` and ``links``.

Rows of spans are those of the program (see ``kineto_program``), then those of its devices and of
the calls that these came from (see ``kineto_placed``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers import kineto_links, kineto_tracks
from tb_memory_plugin.readers.checked import text
from tb_memory_plugin.readers.collectives import collective
from tb_memory_plugin.readers.kineto_backward import backwards
from tb_memory_plugin.readers.kineto_columns import Columns
from tb_memory_plugin.readers.kineto_kinds import KERNEL, KINDS, STEP
from tb_memory_plugin.readers.kineto_memory import Histories
from tb_memory_plugin.readers.kineto_placed import PlacedWork
from tb_memory_plugin.readers.kineto_program import Program
from tb_memory_plugin.recording import arrays, builder
from tb_memory_plugin.recording.arrays import IntArray
from tb_memory_plugin.recording.aside import set_aside
from tb_memory_plugin.recording.nesting import depths_of_kind
from tb_memory_plugin.recording.vocabulary import Vocabulary

#: What newer traces say of a kernel that is a collective.
_COLLECTIVE_NAME = b'"Collective name"'


@dataclass(frozen=True)
class Timeline:
    """The two tables, and of every event of the allocator the innermost span around it (-1: none).

    ``links`` and ``lost``: how many there are, and how many lead to or from no span that is there.
    """

    spans: pa.Table
    links: pa.Table
    around: IntArray
    lost: int


def timeline(
    columns: Columns, program: Program, found: Histories, at: IntArray, op: IntArray, origin: int
) -> Timeline:
    """Takes the columns of work and flows, and of ``program``.

    ``at`` are the program's rows around the events of ``found``; ``op`` is :meth:`Program.ops`.
    """
    work = PlacedWork(columns.work, len(columns.tracks.codes))
    before = np.int32(len(program.track))
    within = work.within(program.nested, at, found.track, found.time, ended=True)
    around = np.where(within >= 0, within + before, at)
    told = kineto_links.told(columns.flows, program.nested, op, work)
    owner = Vocabulary()
    process = np.array([owner.code(pid) for pid, _ in columns.tracks.words], dtype=np.int64)
    ops = program.take("numbered")
    pairs = backwards(ops, program.track, program.nested.end, process)
    known = kineto_links.correlated(work, int(before))
    known = kineto_links.joined(kineto_links.backward(*pairs), known)
    links = kineto_links.links(told, known, _collective(columns, program, work))
    spans = builder.table("spans", dict(_span_columns(columns, program, work, found, origin)))
    return Timeline(set_aside(spans), set_aside(links), around, told.lost)


def _collective(columns: Columns, program: Program, work: PlacedWork) -> IntArray:
    """Which rows are collectives on a device, as their names or arguments say."""
    names = collective(program.names)
    said = columns.arguments.saying(_COLLECTIVE_NAME)
    found: IntArray = np.zeros(len(program.track) + len(work), dtype=bool)
    found[len(program.track) :] = (work.kind == KERNEL) & (names[work.name] | said[work.args])
    return found


def _span_columns(
    columns: Columns, program: Program, work: PlacedWork, found: Histories, origin: int
) -> Iterable[tuple[str, pa.Array]]:
    """One after the other: all of them together would be in memory twice."""
    nested, kind, track = program.take("nested"), program.take("kind"), program.take("track")
    parent = np.concatenate([nested.parent, work.parents(nested)])
    yield "parent", arrays.column(parent, pa.int32(), parent < 0, "parent")
    del parent
    depth = depths_of_kind(track, nested.begin, nested.end, kind)
    depth = np.concatenate([depth, work.depths()])
    yield "depth", arrays.column(depth, pa.int32(), name="depth")
    del depth
    for column in ("begin", "end"):
        times = np.concatenate([getattr(nested, column), getattr(work.nested, column)])
        times -= origin
        yield column, arrays.adopted(times, pa.int64())
    del nested, times, work.nested
    yield from _track_columns(columns, track, work, found)
    del track, work.track
    steps = np.array([-1 if step is None else step for step in program.steps] or [-1], "i8")
    name = np.concatenate([program.take("name"), work.name])
    kind = np.concatenate([kind, work.kind])
    step = np.where(kind == STEP, steps[name], -1)
    yield "step", arrays.column(step, pa.int64(), step < 0, "step")
    del step
    yield "kind", arrays.text(kind, KINDS)
    del kind, work.kind
    yield "name", arrays.text(name, [text(each) for each in program.names])
    del name, work.name
    place, words = columns.arguments.take()
    args = np.concatenate([program.take("args"), work.args])
    yield "args", arrays.text(place[args], words)


def _track_columns(
    columns: Columns, track: IntArray, work: PlacedWork, found: Histories
) -> Iterable[tuple[str, pa.Array]]:
    tracks = columns.tracks.words
    whole = np.concatenate([track, work.track])
    hosts = np.flatnonzero(np.bincount(whole, minlength=len(tracks))[: len(tracks)])
    names, places = kineto_tracks.streams(tracks, columns.work.streams, found.devices)
    yield "track", arrays.text(whole, [*kineto_tracks.threads(tracks, hosts.tolist()), *names])
    device = np.array([-1] * len(tracks) + places, dtype=np.int16)[whole]
    yield "device", arrays.column(device, pa.int16(), device < 0, "device")
