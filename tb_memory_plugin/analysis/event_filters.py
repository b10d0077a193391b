"""What a user types to narrow the list of events down, made into a mask over events.

The grammar of ``filters``, with ``action:alloc`` and ``event>1000`` beside its words. Words about
allocations (``category:``, ``op:`` …) pass every event of an allocation that they pass.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tb_memory_plugin.analysis import filters
from tb_memory_plugin.analysis.attribution import spans_of_kind
from tb_memory_plugin.analysis.event_allocations import events_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.filters import COMPARE, Term, whole
from tb_memory_plugin.analysis.instants import event_times
from tb_memory_plugin.analysis.matching import matching_texts, stacks_with
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Action
from tb_memory_plugin.units import parse_bytes

_SEGMENT = ("segment_alloc", "segment_free", "segment_map", "segment_unmap")
#: What ``action:`` takes: every action by its name, and a few words for several.
ACTIONS: dict[str, tuple[Action, ...]] = {
    **{action.name.lower(): (action,) for action in Action},
    "free": (Action.FREE_REQUESTED, Action.FREE_COMPLETED),
    "segment": tuple(Action[name.upper()] for name in _SEGMENT),
    "out_of_memory": (Action.OOM,),
}
_TEXTS = ("compile_context", "user_metadata")


def mask(recording: Recording, device: Device, text: str) -> IntArray | None:
    """Which of a device's events pass the filter ``text``; None where all do. Raises QueryError."""
    terms = filters.parse(text, also=("action", "event"))
    if not terms:
        return None
    passing = np.ones(len(recording.values("events", "action", device)), dtype=bool)
    for term in terms:
        found = _MATCHES.get(term.field, _by_allocation)(recording, device, term)
        passing &= found != term.negated
    return passing


def _by_allocation(recording: Recording, device: Device, term: Term) -> IntArray:
    return events_of(recording, device, filters.matches(recording, device, term))


def _free(recording: Recording, device: Device, term: Term) -> IntArray:
    """A word in a frame, in what the allocator noted, or in what is known of the allocation."""
    found = _by_stack(recording, device, term)
    for column in _TEXTS:
        hits = matching_texts(arrays.dictionary(recording.table("events"), column), term.value)
        if hits.any():
            found |= np.append(hits, False)[recording.values("events", column, device)]
    for column in ("op", "name", "module"):
        words = arrays.dictionary(recording.table("allocations"), column)
        if matching_texts(words, term.value).any():
            found |= _by_allocation(recording, device, Term(False, column, ":", term.value))
    return found


def _by_stack(recording: Recording, device: Device, term: Term) -> IntArray:
    hits = np.append(stacks_with(recording, term.value), False)
    found: IntArray = hits[recording.values("events", "stack", device)]
    return found


def _by_action(recording: Recording, device: Device, term: Term) -> IntArray:
    wanted = ACTIONS.get(term.value.lower().replace("-", "_").replace(" ", "_"))
    if wanted is None:
        raise QueryError(f"{term.value!r} is not an action; use one of {', '.join(ACTIONS)}.")
    hits = np.zeros(256, dtype=bool)
    hits[list(wanted)] = True
    found: IntArray = hits[recording.values("events", "action", device)]
    return found


def _by_size(recording: Recording, device: Device, term: Term) -> IntArray:
    try:
        wanted = parse_bytes(term.value)
    except ValueError as error:
        raise QueryError(f"{error}.") from None
    sizes = recording.values("events", "size", device)
    return COMPARE[term.compare](sizes, wanted) & _known(recording, device, "size")


def _by_event(recording: Recording, device: Device, term: Term) -> IntArray:
    count = len(recording.values("events", "action", device))
    return COMPARE[term.compare](np.arange(count), whole(term))


def _by_address(recording: Recording, device: Device, term: Term) -> IntArray:
    """Events of a block or a mapped range that holds the address."""
    wanted = np.uint64(whole(term))
    address = recording.values("events", "address", device)
    size = recording.values("events", "size", device)
    inside = (wanted - address < np.maximum(size, 1).astype(np.uint64)) & (address <= wanted)
    found: IntArray = inside & _known(recording, device, "address")
    return found


def _by_stream(recording: Recording, device: Device, term: Term) -> IntArray:
    wanted = np.uint64(0 if term.value == "default" else whole(term))
    found: IntArray = recording.values("events", "stream", device) == wanted
    own: IntArray = found & _known(recording, device, "stream")
    return own


def _by_pool(recording: Recording, device: Device, term: Term) -> IntArray:
    """The pool that the event names, or, where it names none, that of its allocation."""
    codes = recording.values("events", "pool", device)
    named: IntArray = filters.pool_hits(recording, term)[codes]
    return named | (_by_allocation(recording, device, term) & (codes < 0))


def _by_step(recording: Recording, device: Device, term: Term) -> IntArray:
    """Events that happened in the step; between steps there is none."""
    count = len(recording.values("events", "action", device))
    times = event_times(recording, device)
    if times is None:
        return np.full(count, term.value == "none")
    spans = spans_of_kind(recording, "step", device)
    numbers = recording.values("spans", "step")[spans.rows]
    if term.value == "none":
        wanted = numbers >= 0
    else:
        wanted = COMPARE[term.compare](numbers, whole(term)) & (numbers >= 0)
    # +1 where a step begins, -1 where it ends: inside wherever the sum is positive.
    edges = np.zeros(count + 1, dtype=np.int32)
    np.add.at(edges, np.searchsorted(times, spans.begin[wanted], side="left"), 1)
    np.add.at(edges, np.searchsorted(times, spans.end[wanted], side="left"), -1)
    inside: IntArray = np.cumsum(edges[:-1]) > 0
    return ~inside if term.value == "none" else inside


def _known(recording: Recording, device: Device, column: str) -> IntArray:
    table = recording.table("events")
    rows = recording.rows("events", device)
    if not table.column(column).null_count:
        return np.ones(rows.stop - rows.start, dtype=bool)
    return arrays.valid(table, column)[rows]


_MATCHES: dict[str, Callable[[Recording, Device, Term], IntArray]] = {
    "": _free,
    "stack": _by_stack,
    "action": _by_action,
    "size": _by_size,
    "event": _by_event,
    "address": _by_address,
    "stream": _by_stream,
    "pool": _by_pool,
    "step": _by_step,
}
