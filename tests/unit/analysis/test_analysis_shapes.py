"""Guesses at shapes, beside the same in plain Python, one size at a time."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis import shapes
from tb_memory_plugin.analysis.alive import bytes_of
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.shapes import Multiple, Shape
from tb_memory_plugin.recording.recording import Recording
from tests.fixtures.histories import Event, history
from tests.properties import examples
from tests.unit.analysis.worlds import World, worlds

HIDDEN, INNER, VOCABULARY = 2560, 6912, 32_000


def made(sizes: list[int], devices: int = 1) -> Recording:
    """Every size for two events, at one moment none but that; the devices take turns."""
    events: list[Event] = []
    for at, size in enumerate(sizes):
        extra = {"device": at % devices}
        events += [("alloc", 1 << 40, size, extra), ("free", 1 << 40, size, extra)]
    return derive(history(events, devices=devices))


def transformer() -> Recording:
    """Weights in half precision, as many as there are layers; one embedding."""
    sizes = [HIDDEN * HIDDEN] * 8 + [HIDDEN * INNER] * 6 + [HIDDEN] * 9 + [HIDDEN * VOCABULARY]
    return made([2 * size for size in sizes])


def slow_recurring(recording: Recording) -> dict[int, int]:
    counts = Counter(
        size
        for device in recording.devices
        for size in bytes_of(recording, device).tolist()
        if size > 0
    )
    return {size: count for size, count in sorted(counts.items()) if count > 1}


def slow_multiples(sizes: dict[int, int], size: int) -> list[Multiple]:
    found = [
        Multiple(size // each, each, count)
        for each, count in sizes.items()
        if each < size and size % each == 0 and size // each <= shapes.MOST_TIMES
    ]
    return sorted(found, key=lambda multiple: multiple.times)[: shapes.ANSWERS]


def plausible(number: int) -> bool:
    return shapes.SMALLEST <= number <= shapes.LARGEST


def slow_dimensions(sizes: dict[int, int], width: int) -> list[int]:
    heaviest = sorted((-size * count, size) for size, count in sizes.items() if size % width == 0)
    elements = [size // width for _, size in heaviest[: shapes.MOST_SIZES]]
    found = {
        part
        for one, other in itertools.product(elements, repeat=2)
        for part in (math.gcd(one, other), one // math.gcd(one, other))
    }
    found |= {math.isqrt(one) for one in elements if math.isqrt(one) ** 2 == one}

    def weight(number: int) -> int:
        return sum(one % number == 0 for one in elements) * number.bit_length()

    ordered = sorted(filter(plausible, found), key=lambda number: (-weight(number), -number))
    return ordered[: shapes.MOST_DIMENSIONS]


def slow_shapes(sizes: dict[int, int], size: int, common: dict[int, list[int]]) -> list[Shape]:
    parts = {each: n for each, n in sizes.items() if each < size and size % each == 0}
    for widths in shapes.WIDTHS:
        found = set()
        for width in widths:
            alone = [each // width for each in parts if each % width == 0]
            often = sorted(filter(plausible, alone), key=lambda n: (-parts[n * width], n))
            known = {1, *common[width], *often[: shapes.MOST_DIMENSIONS]}
            known = {each for each in known if size % (each * width) == 0}
            for one, other in itertools.product(sorted(known), repeat=2):
                both = one * other * width
                if one > other or other == 1 or size % both or size // both > shapes.LARGEST:
                    continue
                counts = [parts.get(each * width, 0) for each in (one, other) if each > 1]
                if not any(counts) and both not in parts:
                    continue
                recur = sum(count > 0 for count in counts)
                dimensions = [each for each in (size // both, one, other) if each > 1]
                rank = (-recur, size // both, -sum(counts), one, other)
                found.add((rank, widths.index(width), Shape(tuple(dimensions), width)))
        if found:
            ordered = sorted(found, key=lambda each: each[:2])
            return [shape for _, _, shape in ordered[: shapes.ANSWERS]]
    return []


def check(recording: Recording, sizes: list[int]) -> None:
    slow = slow_recurring(recording)
    found = shapes.recurring(recording)
    assert dict(zip(found.sizes.tolist(), found.counts.tolist(), strict=True)) == slow
    common = {width: slow_dimensions(slow, width) for width in (1, 2, 4)}
    for width, known in common.items():
        assert shapes.dimensions(recording, width).tolist() == known
    for size in sizes:
        assert shapes.multiples(recording, size) == slow_multiples(slow, size)
        guesses = shapes.shapes(recording, size)
        assert guesses == slow_shapes(slow, size, common)
        for guess in guesses:
            assert math.prod(guess.dimensions) * guess.width == size
            # Whole times a size that recurs: of the last dimension, of the one before, or of both.
            *_, one, other = (1, *guess.dimensions)
            held = {each * guess.width for each in (one, other, one * other)}
            assert any(each in slow and size % each == 0 for each in held - {size})


@examples(40)
@given(worlds(), st.lists(st.integers(0, 1 << 40), max_size=3))
def test_guesses_of_any_history_are_those_of_a_plain_count(world: World, sizes: list[int]) -> None:
    recording = derive(world.recording)
    own = [size for device in recording.devices for size in bytes_of(recording, device).tolist()]
    check(recording, own[:4] + sizes)


@examples(40)
@given(st.data())
def test_guesses_among_sizes_with_much_in_common_are_those_of_a_plain_count(
    data: st.DataObject,
) -> None:
    factors = st.sampled_from([2, 4, 16, 32, 48, 64, 80, 128, 640, 4096])
    size = st.lists(factors, min_size=1, max_size=4).map(math.prod)
    few = data.draw(st.lists(size, min_size=1, max_size=6))
    sizes = data.draw(st.lists(st.sampled_from(few) | size, max_size=30))
    check(made(sizes, devices=data.draw(st.integers(1, 2))), data.draw(st.lists(size, max_size=5)))


def test_many_sizes_are_cut_where_they_should_be() -> None:
    random = np.random.default_rng(7)
    sizes = (64 * random.integers(1, 400, 600)).tolist()
    check(made(sizes), [*sizes[:10], 64 * 400 * 27, 1 << 20])


def test_sizes_that_recur_anywhere_count_not_only_at_the_peak() -> None:
    recording = transformer()
    peak = HIDDEN * VOCABULARY * 2  # nothing else is alive beside the embedding
    assert recording.values("usage", "allocated").max() == peak
    found = shapes.recurring(recording)
    assert found.sizes.tolist() == [2 * HIDDEN, 2 * HIDDEN * HIDDEN, 2 * HIDDEN * INNER]
    assert found.counts.tolist() == [9, 8, 6]


@pytest.mark.parametrize(
    "dimensions", [(HIDDEN, INNER), (HIDDEN, HIDDEN), (8, HIDDEN, INNER), (3, HIDDEN, HIDDEN)]
)
def test_the_likeliest_shape_has_the_dimensions_of_the_model(dimensions: tuple[int, ...]) -> None:
    size = 2 * math.prod(dimensions)
    assert Shape(dimensions, 2) in shapes.shapes(transformer(), size)


def test_a_table_of_words_is_many_times_one_of_them() -> None:
    found = shapes.shapes(transformer(), 2 * VOCABULARY * HIDDEN)
    assert all(HIDDEN in shape.dimensions or HIDDEN // 2 in shape.dimensions for shape in found)


def test_what_fits_nothing_is_not_made_up() -> None:
    recording = transformer()
    for size in (-1, 0, 1, 1009):
        assert [*shapes.shapes(recording, size), *shapes.multiples(recording, size)] == []
    once = made([4096, 8192, 12288])
    assert [*shapes.shapes(once, 8192), *shapes.multiples(once, 8192)] == []
    assert shapes.shapes(derive(history()), 8192) == []
