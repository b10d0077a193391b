"""Frames and stacks, made into numbers that depend on nothing but what they say."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording

_HASH = re.compile(r"[0-9a-f]{1,16}")
_PRIME = 0x100000001B3  # odd, so that powers of it never vanish modulo 2⁶⁴


def stack_contents(recording: Recording) -> IntArray:
    """A 64-bit hash of the frames of every stack; the same in every recording."""
    return recording.values("stack_names", "content")


def stack_layout(recording: Recording) -> tuple[IntArray, IntArray]:
    """The frames of all stacks in a row, and where each stack begins (one more than stacks)."""
    return arrays.lists(recording.table("stacks"), "frames")


def place_of(hashes: IntArray, key: str) -> int:
    """Where the hash that ``key`` spells in hexadecimal digits is first, -1 where it is not."""
    if not _HASH.fullmatch(key):
        return -1
    found = np.flatnonzero(hashes == np.uint64(int(key, 16)))
    return int(found[0]) if len(found) else -1


def text_hashes(texts: Sequence[str]) -> IntArray:
    """A 64-bit hash of every text."""
    digests = b"".join(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for text in texts
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def frame_contents(recording: Recording) -> IntArray:
    """A 64-bit hash of function, file and line of every frame; the same in every recording."""
    frames = recording.table("frames")
    functions = _coded_hashes(frames, "function")
    files = _coded_hashes(frames, "file")
    lines = arrays.values(frames, "line").astype(np.int64).astype(np.uint64)
    content = (functions * np.uint64(_PRIME) + files) * np.uint64(_PRIME) + lines
    return mixed(content)


def _coded_hashes(frames: pa.Table, column: str) -> IntArray:
    words = np.append(text_hashes([word or "" for word in arrays.words(frames, column)]), [0])
    return words.astype(np.uint64)[arrays.values(frames, column)]


def contents_of_stacks(recording: Recording) -> IntArray:
    """:func:`stack_contents`, worked out."""
    frames, offsets = stack_layout(recording)
    contents = frame_contents(recording)
    lengths = np.diff(offsets)
    if not len(lengths):
        return np.zeros(0, dtype=np.uint64)
    place = np.arange(len(frames)) - np.repeat(offsets[:-1], lengths)
    powers = np.cumprod(np.full(int(lengths.max(initial=0)) + 1, _PRIME, dtype=np.uint64))
    terms = np.append(mixed(contents[frames] + powers[place]) * powers[place], np.uint64(0))
    sums = np.add.reduceat(terms, offsets[:-1])
    sums = np.where(lengths > 0, sums, np.uint64(0))
    return mixed(sums + lengths.astype(np.uint64))


def mixed(values: IntArray) -> IntArray:
    """The finaliser of splitmix64: every bit of the input moves every bit of the output."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: IntArray = values ^ (values >> np.uint64(31))
    return mixed
