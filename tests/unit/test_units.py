"""Bytes and times in words."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tb_memory_plugin.units import format_bytes, format_duration, parse_bytes


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (1536, "1.50 KiB"),
        (10 * 1024, "10.0 KiB"),
        (100 * 1024, "100 KiB"),
        (1024**2 - 1, "1.00 MiB"),
        (1024**2, "1.00 MiB"),
        (12_426_629_128, "11.6 GiB"),
        (-1536, "-1.50 KiB"),
        (2**63 - 1, "8.00 EiB"),
        (2**80, "1048576 EiB"),
    ],
)
def test_bytes_in_words(count: int, words: str) -> None:
    assert format_bytes(count) == words


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("512", 512),
        ("512B", 512),
        ("10MiB", 10 << 20),
        ("10 mb", 10 << 20),
        ("1.5GiB", 3 << 29),
        ("2k", 2048),
        ("0.1KiB", 102),
    ],
)
def test_words_to_bytes(words: str, count: int) -> None:
    assert parse_bytes(words) == count


@pytest.mark.parametrize("words", ["", "big", "10 parsec", "-5", "1.", "0x10", "1e3"])
def test_other_words_are_no_size(words: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        parse_bytes(words)


@given(st.integers(0, 2**63))
@example(1_111)
def test_words_are_near_what_they_stand_for(count: int) -> None:
    """Within half of the third digit, and a byte since bytes are whole."""
    back = parse_bytes(format_bytes(count))
    assert (abs(back - count) - 1) * 199 <= count


@pytest.mark.parametrize(
    ("nanoseconds", "words"),
    [
        (0, "0 ns"),
        (870, "870 ns"),
        (3_000, "3.00 µs"),
        (32_400_000, "32.4 ms"),
        (410_000_000, "410 ms"),
        (57_614_216_000, "57.6 s"),
        (-1_500, "-1.50 µs"),
    ],
)
def test_durations_in_words(nanoseconds: int, words: str) -> None:
    assert format_duration(nanoseconds) == words
