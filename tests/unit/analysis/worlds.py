"""Made-up histories with the truth about them, kept by a slow simulation beside the events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.histories import Event, history

ADDRESSES = [0x180 * place for place in range(1, 9)]  # some in mapped pages, some not
PAGE = 0x100


@dataclass
class World:
    """A recording and, for the state before the first event and after each, what is alive."""

    recording: Recording
    alive: list[dict[int, tuple[int, int | None]]]  # address → (bytes, ordinal of birth)
    mapped: list[set[int]]  # pages


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Well-formed histories: a program that allocates, frees (some late) and maps segments.

    The recorded window starts anywhere in it, as a ring buffer that wrapped.
    """
    events: list[Event] = []
    alive: dict[int, tuple[int, int | None]] = {}
    pending: set[int] = set()
    pages = {100}  # something is mapped throughout: an allocator without segments is another test
    states: list[tuple[dict[int, tuple[int, int | None]], set[int], set[int]]] = []

    def note(event: Event) -> None:
        events.append(event)
        states.append((dict(alive), set(pending), set(pages)))

    for _ in range(draw(st.integers(0, 40))):
        what = draw(st.sampled_from(["alloc", "alloc", "free", "free", "late", "map", "unmap"]))
        address = draw(st.sampled_from(ADDRESSES))
        if what == "alloc" and address not in alive:
            size = draw(st.integers(1, 5000))
            alive[address] = (size, len(events))
            note(("alloc", address, size, {"stack": draw(st.integers(0, 2))}))
        elif what in ("free", "late") and address in alive:
            size = alive[address][0]
            if address not in pending:
                pending.add(address)
                note(("request", address, size))
            if what == "free":
                del alive[address]
                pending.discard(address)
                note(("free", address, size))
        elif what in ("map", "unmap"):
            first = draw(st.integers(0, 12))
            chosen = set(range(first, first + draw(st.integers(1, 5))))
            if not chosen & pages if what == "map" else chosen <= pages:
                pages = pages | chosen if what == "map" else pages - chosen
                note((what, first * PAGE, len(chosen) * PAGE))
    start = draw(st.integers(0, len(events)))
    states = [({}, set(), {100}), *states][start:]
    final_alive, final_pending, final_pages = states[-1]
    blocks = [
        {"address": address, "requested": size, "state": int(address in final_pending)}
        for address, (size, _) in final_alive.items()
    ]
    shifted = [
        {
            address: (size, birth - start if birth is not None and birth >= start else None)
            for address, (size, birth) in state.items()
        }
        for state, _, _ in states
    ]
    recording = history(
        events[start:],
        blocks=blocks,
        segments=_segments(final_pages),
        stacks=[[("f", "a.py", 1)], [("g", "a.py", 2)], [("h", "a.py", 3)]],
    )
    return World(recording, shifted, [state for _, _, state in states])


def _segments(pages: set[int]) -> list[dict[str, Any]]:
    """One final segment for each run of pages."""
    found: list[dict[str, Any]] = []
    for page in sorted(pages):
        if found and found[-1]["address"] + found[-1]["size"] == page * PAGE:
            found[-1]["size"] += PAGE
        else:
            found.append({"address": page * PAGE, "size": PAGE, "expandable": True})
    return found


@st.composite
def ruins(draw: st.DrawFn) -> Recording:
    """Histories that no allocator writes: any event at any of a few addresses, any end state."""
    kinds = ["alloc", "request", "free", "segment", "unsegment", "map", "unmap", "oom", "snapshot"]
    events = draw(
        st.lists(
            st.tuples(
                st.sampled_from(kinds),
                st.sampled_from([0, 256, 512, 1024, 2**64 - 1]),
                st.integers(0, 2000),
            ),
            max_size=30,
        )
    )
    rows = st.lists(st.tuples(st.sampled_from([0, 256, 512]), st.integers(0, 2000)), max_size=4)
    if not draw(st.booleans()):
        return history(events)
    blocks = [{"address": address, "requested": size} for address, size in draw(rows)]
    segments = [
        {"address": address, "size": size, "expandable": draw(st.booleans())}
        for address, size in draw(rows)
    ]
    return history(events, blocks=blocks, segments=segments)
