"""Annotations of live blocks come to the allocations they are about."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tests.fixtures.histories import Event, history


def annotate(address: int, text: str | None, **extra: Any) -> Event:
    return ("annotate", address, 0, {"user_metadata": text, **extra})


def texts(*events: Event, **more: Any) -> list[str | None]:
    recording = derive(history(events, **more))
    found: list[str | None] = recording.table("allocations").column("user_metadata").to_pylist()
    return found


def test_the_allocation_s_own_text_stands_before_its_annotations_in_order() -> None:
    assert texts(
        ("alloc", 1, 10, {"user_metadata": "own"}),
        ("alloc", 2, 10),
        annotate(2, "first"),
        annotate(1, "weights"),
        ("request", 2, 10),
        annotate(2, "second"),
        ("free", 2, 10),
        ("alloc", 3, 10),
        ("alloc", 4, 10, {"user_metadata": "alone"}),
    ) == ["own\nweights", "first\nsecond", None, "alone"]


def test_one_annotation_is_the_text_itself_and_the_same_twice_stays_twice() -> None:
    assert texts(
        ("alloc", 1, 10), ("alloc", 2, 10), annotate(1, "x"), annotate(2, "x"), annotate(2, "x")
    ) == ["x", "x\nx"]


def test_annotations_of_what_was_there_before_the_window() -> None:
    block = {"address": 9, "requested": 5}
    assert texts(
        annotate(9, "kept"), annotate(7, "freed"), ("free", 7, 3), annotate(7, "of nothing"),
        blocks=[block],
    ) == ["freed", "kept"]  # fmt: skip


def test_an_address_s_lives_have_their_own_annotations() -> None:
    assert texts(
        annotate(1, "oldest"),
        ("free", 1, 10),
        annotate(1, "nobody's"),
        ("alloc", 1, 20),
        annotate(1, "younger"),
        ("alloc", 1, 30),  # the free was lost
        annotate(1, "youngest"),
    ) == ["oldest", "younger", "youngest"]


def test_a_block_that_no_event_tells_of_has_what_came_after_the_free() -> None:
    assert texts(
        annotate(1, "gone"),
        ("free", 1, 10),
        annotate(1, "here"),
        ("alloc", 1, 10),
        annotate(1, "between"),
        ("free", 1, 10),
        annotate(1, "still here"),
        blocks=[{"address": 1, "requested": 4}],
    ) == ["gone", "here\nstill here", "between"]


def test_devices_do_not_mix_and_empty_annotations_say_nothing() -> None:
    assert texts(
        ("alloc", 1, 10, {"device": 0}),
        ("alloc", 1, 10, {"device": 1}),
        annotate(1, "second device", device=1),
        annotate(1, None, device=0),
        annotate(5, "nothing lives here", device=0),
        devices=2,
    ) == [None, "second device"]


def test_joined_texts_have_an_end() -> None:
    (text,) = texts(("alloc", 1, 10), *[annotate(1, "x" * 60_000) for _ in range(3)])
    assert text is not None
    assert len(text) == 65_537
    assert text.endswith("x…")


MOVES = st.lists(
    st.tuples(st.sampled_from(["alloc", "free", "annotate"]), st.integers(1, 3)), max_size=30
)


@given(MOVES)
def test_as_in_a_loop_over_the_events(moves: list[tuple[str, int]]) -> None:
    events: list[Event] = []
    said: dict[int, list[str]] = defaultdict(list)
    alive: dict[int, int] = {}
    lives = 0
    for number, (what, address) in enumerate(moves):
        if what == "alloc" and address not in alive:
            alive[address], lives = lives, lives + 1
            own = f"own {number}" if number % 2 else None
            said[alive[address]] += [own] if own else []
            events.append(("alloc", address, 10, {"user_metadata": own}))
        elif what == "free" and address in alive:
            del alive[address]
            events.append(("free", address, 10))
        elif what == "annotate":
            if address in alive:
                said[alive[address]].append(f"note {number}")
            events.append(annotate(address, f"note {number}"))
    assert texts(*events) == ["\n".join(said[life]) or None for life in range(lives)]
