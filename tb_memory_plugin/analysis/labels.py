"""Stacks, made into labels that begin with what tells them apart from the others shown."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.content import stack_layout
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.frames import called_last, frame_labels, named_by
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.analysis.telling import PLUMBING
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording

#: Stacks that are compared with each other; a longer list is nobody's to read.
_MOST_COMPARED = 500
_NO_FRAMES = "stack without frames"
_FAR = np.iinfo(np.int64).max


def stack_labels(recording: Recording, stacks: Sequence[int]) -> list[str]:
    """A label for each of ``stacks`` (rows of the table), different where their frames are.

    A stack is called by its innermost frame that is the user's own (``forward · model.py:88``),
    else by the most telling one. Where several would be called alike, the label begins with a
    frame that the others do not have, and the common one follows: ``←`` points from who calls
    to what is called. The longest lists are labelled by the first rule only.
    """
    named = named_by(recording)[list(stacks)].tolist() if len(stacks) else []
    plain = frame_labels(recording, set(named))
    labels = [plain.get(frame, _NO_FRAMES) for frame in named]
    if len(stacks) > _MOST_COMPARED:
        return labels
    distinct = sorted(set(stacks))
    if len(distinct) == len(set(labels)):
        return labels
    key = ("told_apart", tuple(distinct))
    apart = memo(recording, key, lambda: _told_apart(recording, distinct))
    told = dict(zip(distinct, apart, strict=True))
    return [told[stack] for stack in stacks]


@dataclass(frozen=True)
class _Shown:
    """The frames of the stacks that are compared, one stack after the other.

    ``rank`` orders the frames of a stack, the most telling first; ``shared`` is how many of the
    stacks have a frame that reads alike.
    """

    recording: Recording
    rows: IntArray
    code: IntArray
    rank: IntArray
    shared: IntArray
    offsets: IntArray

    @staticmethod
    def of(recording: Recording, stacks: list[int]) -> _Shown:
        layout, offsets = stack_layout(recording)
        lengths = (offsets[1:] - offsets[:-1])[stacks]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        depth = np.arange(int(starts[-1])) - np.repeat(starts[:-1], lengths)
        rows = layout[np.repeat(offsets[:-1][stacks], lengths) + depth]
        code = recording.values("frame_kinds", "label")[rows]
        place = np.repeat(np.arange(len(stacks)), lengths)
        _, same = np.unique(code, return_inverse=True)
        codes = int(same.max(initial=0)) + 1
        count = np.bincount(arrays.distinct(place * codes + same) % codes, minlength=codes)
        kind = recording.values("frame_kinds", "kind")[rows]
        rank = (kind.astype(np.int64) << 32) + depth
        return _Shown(recording, rows, code, rank, count[same], starts)

    def only_here(self, place: int) -> int:
        """The element of the most telling frame that only this stack has, -1 for none."""
        own = slice(int(self.offsets[place]), int(self.offsets[place + 1]))
        rank = np.where(self.shared[own] == 1, self.rank[own], _FAR)
        best = int(rank.argmin()) if len(rank) else 0
        if not len(rank) or rank[best] >> 32 >= PLUMBING:
            return -1
        return own.start + best

    def by_code(self, place: int) -> dict[int, int]:
        """The elements of a stack's frames by how they read, the most telling of each."""
        own = range(int(self.offsets[place]), int(self.offsets[place + 1]))
        ordered = sorted(own, key=lambda element: -int(self.rank[element]))
        return {int(self.code[element]): element for element in ordered}

    def depth(self, element: int) -> int:
        return int(self.rank[element]) & 0xFFFFFFFF

    def label(self, element: int) -> str:
        row = int(self.rows[element])
        return frame_labels(self.recording, [row])[row]


def _told_apart(recording: Recording, stacks: list[int]) -> list[str]:
    shown = _Shown.of(recording, stacks)
    named, last = named_by(recording)[stacks], called_last(recording)[stacks]
    codes = recording.values("frame_kinds", "label")
    plain = frame_labels(recording, set(named.tolist()))
    alike: dict[int, list[int]] = defaultdict(list)
    labels = [_NO_FRAMES] * len(stacks)
    for place, frame in enumerate(named.tolist()):
        if frame >= 0:
            alike[int(codes[frame])].append(place)
            labels[place] = plain[frame]
    for code, places in alike.items():
        if len(places) == 1:
            continue
        direct = [place for place in places if codes[last[place]] == code]
        clear = set(direct) if len(direct) == 1 else set()  # the others call something further
        for place in clear.symmetric_difference(places):
            telling = shown.only_here(place)
            if telling >= 0:
                labels[place] = _joined(shown, place, code, [telling])
                clear.add(place)
        if len(clear) == len(places):
            continue
        pieces = {p: q for p, q in _differences(shown, places).items() if p not in clear}
        for most in (1, len(shown.rows)):
            tried = {
                p: _joined(shown, p, code, _rarest(shown, q)[:most]) for p, q in pieces.items()
            }
            count = Counter([*tried.values(), *(labels[place] for place in clear)])
            for place, label in tried.items():
                labels[place] = label
                if count[label] == 1:
                    del pieces[place]
    return _numbered(labels)


def _differences(shown: _Shown, places: list[int]) -> dict[int, list[int]]:
    """For each stack the elements that tell it from the others, the last the most telling.

    Of every set of stacks each gives the most telling frame that not all of them have; those
    that give the same one are a smaller set.
    """
    have = {place: shown.by_code(place) for place in places}
    pieces: dict[int, list[int]] = {place: [] for place in places}
    sets = [places]
    while sets:
        members = sets.pop()
        common = set.intersection(*(set(have[place]) for place in members)) if members else set()
        smaller: dict[int, list[int]] = defaultdict(list)
        for place in members:
            others = [element for code, element in have[place].items() if code not in common]
            if others:
                best = min(others, key=lambda element: int(shown.rank[element]))
                pieces[place].append(best)
                smaller[int(shown.code[best])].append(place)
            else:
                smaller[-1].append(place)
        if len(smaller) > 1:
            sets += [found for found in smaller.values() if len(found) > 1]
    return pieces


def _rarest(shown: _Shown, pieces: list[int]) -> list[int]:
    """``pieces``, those that the fewest stacks have first; of those, the later ones."""
    later = [(int(shown.shared[element]), -place) for place, element in enumerate(pieces)]
    return [pieces[-place] for _, place in sorted(later)]


def _joined(shown: _Shown, place: int, code: int, pieces: list[int]) -> str:
    """A label of ``pieces``, the first of them first, and the frame of ``code``."""
    named = shown.by_code(place)[code]
    if not pieces:
        return shown.label(named)
    first, rest = pieces[0], {*pieces, named} - {pieces[0]}
    label, depth = shown.label(first), shown.depth(first)
    for element in sorted(rest, key=shown.depth):
        outer = shown.depth(element) > depth
        label += f" {'←' if outer else '→'} {shown.label(element)}"
        depth = shown.depth(element)
    return label


def _numbered(labels: list[str]) -> list[str]:
    """Labels of stacks whose frames read alike (in other folders, or called again), numbered."""
    several = {label for label, count in Counter(labels).items() if count > 1}
    seen: Counter[str] = Counter()
    found = []
    for label in labels:
        seen[label] += 1
        number = f"({seen[label]}) " if label in several and seen[label] > 1 else ""
        found.append(number + label)
    return found
