"""Spans of two recordings of one process, made into those of one: what both have is there once."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.ordering import stable_order
from tb_memory_plugin.analysis.pairs.clock import Clock
from tb_memory_plugin.analysis.pairs.moves import Moves
from tb_memory_plugin.analysis.pairs.partners import partners
from tb_memory_plugin.analysis.pairs.texts import moved, texts
from tb_memory_plugin.recording import arrays, builder, nesting
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import SCHEMAS, sentinel

#: ns by which both may be apart in when an annotation begins and ends: each is told by another
#: observer, and these are called one after the other.
_APART = 1_000_000
_BEFORE, _AFTER = sentinel("begin"), sentinel("end")

Columns = dict[str, IntArray]


@dataclass(frozen=True)
class Spans:
    """The table ``spans`` of both, and the rows in it of the spans of either, -1 for none.

    The last of ``ours`` and of ``theirs`` is -1, so that they can be asked for row -1 too.
    ``doubles`` of ours are left out, as theirs say more of them: their thread, what is in them.
    """

    table: pa.Table
    ours: IntArray
    theirs: IntArray
    doubles: int


def joined(
    ours: Recording, theirs: Recording, devices: IntArray, clock: Clock, later: int = 0
) -> Spans:
    """Spans of ours and, by our clock, of theirs, whose devices are ``devices`` of ours (-1: none).

    Of what both have by ``clock``, theirs stands, with the ends that only ours knows; all of theirs
    come ``later`` ns later.
    """
    own, other = _columns(ours), _columns(theirs)
    for name, unknown in (("begin", _BEFORE), ("end", _AFTER)):
        other[name] = np.where(other[name] == unknown, unknown, clock.at(other[name]))
    other["device"] = moved(devices, other["device"])
    doubles, twins = _doubles(ours, theirs, own, other)
    ends = own["end"][doubles]
    other["end"][twins] = np.where(other["end"][twins] == _AFTER, ends, other["end"][twins])
    kept = np.ones(len(own["begin"]), dtype=bool)
    kept[doubles] = False
    kept &= ~_guessed(ours, theirs, own, other)
    for name, unknown in (("begin", _BEFORE), ("end", _AFTER)):
        other[name] = np.where(other[name] == unknown, unknown, other[name] + later)
    first = int(kept.sum())
    own["parent"] = _without(own["parent"], kept)
    other["parent"] = np.where(other["parent"] >= 0, other["parent"] + first, -1)
    columns: dict[str, object] = {}
    for field in SCHEMAS["spans"]:
        name = field.name
        if pa.types.is_dictionary(field.type):
            codes = (ours.values("spans", name)[kept], theirs.values("spans", name))
            words = (arrays.words(side.table("spans"), name) for side in (ours, theirs))
            columns[name] = texts(*zip(words, codes, strict=True))
        else:
            whole = np.concatenate([own[name][kept], other[name]])
            columns[name] = (whole, whole == sentinel(name))
    rows = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)
    rows[doubles] = first + twins
    others = np.append(np.arange(len(other["begin"])) + first, -1).astype(np.int32)
    return Spans(builder.table("spans", columns), rows, others, len(kept) - first)


def _columns(recording: Recording) -> Columns:
    names = ("device", "begin", "end", "depth", "parent", "step")
    return {name: recording.values("spans", name) for name in names}


def _without(parent: IntArray, kept: IntArray) -> IntArray:
    """Of every row the new row of the nearest one around it that is ``kept``, -1 for none."""
    above = np.where(parent < np.arange(len(parent)), parent, -1)
    nearest = nesting.nearest(above, kept)[above]
    found: IntArray = np.append(np.cumsum(kept) - 1, -1)[nearest]
    return found


def _of_kind(recording: Recording, *kinds: str) -> IntArray:
    words = arrays.words(recording.table("spans"), "kind")
    wanted = np.array([word in kinds for word in words] + [False], dtype=bool)
    found: IntArray = wanted[recording.values("spans", "kind")]
    return found


def _guessed(ours: Recording, theirs: Recording, own: Columns, other: Columns) -> IntArray:
    """Which of ours are steps that nobody marked, in the time in which theirs tells of steps."""
    words = [*arrays.words(ours.table("spans"), "args"), "{}"]
    guesses = np.array([_says_inferred(word) for word in words], dtype=bool)
    found: IntArray = guesses[ours.values("spans", "args")] & _of_kind(ours, "step")
    told = _of_kind(theirs, "step")
    if not told.any():
        return np.zeros_like(found)
    found &= own["end"] > other["begin"][told].min()
    found &= own["begin"] < other["end"][told].max()
    return found


def _says_inferred(word: str) -> bool:
    if "inferred" not in word:
        return False
    try:
        said = json.loads(word)
    except ValueError:
        return False
    return isinstance(said, dict) and bool(said.get("inferred"))


def _doubles(
    ours: Recording, theirs: Recording, own: Columns, other: Columns
) -> tuple[IntArray, IntArray]:
    """Rows of ours and of theirs that are one span: of one kind and name, at one time."""
    known: dict[tuple[str, str], int] = {}
    left, right = _named(ours, own, known), _named(theirs, other, known)
    mine, its = partners(left, right, _APART)
    rows, twins = left.row[mine], right.row[its]
    ends, others = own["end"][rows], other["end"][twins]
    same = (ends == _AFTER) | (others == _AFTER)
    same |= (ends <= others + _APART) & (others <= ends + _APART)
    return rows[same], twins[same]


def _named(recording: Recording, columns: Columns, known: dict[tuple[str, str], int]) -> Moves:
    """Steps and annotations as what :func:`partners` takes: by kind and name, then by time."""
    table = recording.table("spans")
    names = arrays.words(table, "name")
    name = arrays.values(table, "name").astype(np.int64)
    steps = _of_kind(recording, "step")
    told = steps | _of_kind(recording, "annotation")
    rows = np.flatnonzero(told & (name >= 0) & (columns["begin"] != _BEFORE))
    rows = rows[np.argsort(columns["begin"][rows], kind="stable")]
    # A step is called by its number, where that is known.
    number = np.where(steps[rows], columns["step"][rows], -1)
    both, place = np.unique(np.stack([number, name[rows]]), axis=1, return_inverse=True)
    words = [
        ("step", str(step)) if step >= 0 else ("annotation", names[code])
        for step, code in both.T.tolist()
    ]
    numbers = np.array([known.setdefault(word, len(known)) for word in words], dtype=np.int64)
    code = numbers[place.reshape(-1)]
    order = stable_order(code)
    begin = columns["begin"][rows][order]
    return Moves(code[order], begin, np.zeros(len(rows), dtype=np.int64), rows[order])
