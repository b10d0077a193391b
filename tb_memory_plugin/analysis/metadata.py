"""Annotations that a program gave live blocks, merged into what their allocations say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tb_memory_plugin.analysis.columns import picked
from tb_memory_plugin.analysis.device_tables import DeviceTables
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.lives import Lives
from tb_memory_plugin.recording.schema import Action

#: Characters that the texts of one allocation may have together.
_LONGEST = 65_536


class Metadata:
    """Codes of the texts in ``allocations.user_metadata``: those of events, then joined ones."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)
        self._joined: dict[tuple[int, ...], int] = {}

    @property
    def words(self) -> list[str]:
        """The dictionary of the codes given so far."""
        return self._words

    def of_lives(self, tables: DeviceTables, lives: Lives) -> IntArray:
        """For every life the code of its text, -1 for none.

        The text that came with the allocation stands first, then those of the ``annotate``
        events of its block while it was alive, in order, a line each.
        """
        codes = tables.column("events", "user_metadata")
        own = picked(codes, lives.birth).astype(np.int64)
        events = _annotating(tables, codes)
        life = _alive_at(lives, tables.column("events", "address")[events], events)
        events, life = events[life >= 0], life[life >= 0]
        order = np.argsort(life, kind="stable")  # an allocation's texts stay in order
        events, life = events[order], life[order]
        annotated, first, count = np.unique(life, return_index=True, return_counts=True)
        texts = codes[events]
        single = (count == 1) & (own[annotated] < 0)
        own[annotated[single]] = texts[first[single]]
        # The loop is over the allocations that have several texts.
        for place in np.flatnonzero(~single).tolist():
            row, begin = int(annotated[place]), int(first[place])
            sequence = texts[begin : begin + int(count[place])].tolist()
            own[row] = self._code(tuple([int(own[row])] * bool(own[row] >= 0) + sequence))
        return own

    def _code(self, sequence: tuple[int, ...]) -> int:
        found = self._joined.get(sequence)
        if found is None:
            text = "\n".join(self._words[code] for code in sequence[:_LONGEST])
            found = self._joined[sequence] = len(self._words)
            self._words.append(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")
        return found


def _annotating(tables: DeviceTables, codes: IntArray) -> IntArray:
    """The ordinals of annotations that say something of some address."""
    chosen = (tables.column("events", "action") == Action.ANNOTATE) & (codes >= 0)
    if not chosen.any():
        return np.flatnonzero(chosen)
    return np.flatnonzero(chosen & ~tables.missing("events", "address"))


def _alive_at(lives: Lives, address: IntArray, event: IntArray) -> IntArray:
    """The life that holds each ``address`` after each ``event``, -1 for none."""
    found = np.full(len(event), -1, dtype=np.int64)
    rows = np.flatnonzero(np.isin(lives.address, address)) if len(event) else found
    if not len(rows):
        return found
    count = len(rows)
    addresses = np.concatenate([lives.address[rows], address])
    # Of what was alive before the window, what is alive at the end first: it may be alive beside
    # other lives of its address (a block no event tells of), which then come first.
    sooner = np.concatenate([-lives.death[rows], event])
    order = np.lexsort((sooner, np.concatenate([lives.birth[rows], event]), addresses))
    is_life = order < count
    place = np.arange(len(order))
    latest = np.maximum.accumulate(np.where(is_life, place, -1))[~is_life]
    asked = order[~is_life] - count
    # Before the first life of an address stands one of another address, or none at all.
    starts = np.searchsorted(addresses[order], address[asked], side="left")
    for candidate in (starts, latest):
        life = rows[np.minimum(order[np.maximum(candidate, 0)], count - 1)]
        fits = (candidate >= 0) & is_life[candidate] & (lives.address[life] == address[asked])
        fits &= (lives.birth[life] <= event[asked]) & (event[asked] < lives.death[life])
        found[asked[fits]] = life[fits]
    return found
