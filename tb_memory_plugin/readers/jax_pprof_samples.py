"""Samples of a JAX device memory profile, checked: groups of live buffers of one size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tb_memory_plugin.readers.checked import Malformed
from tb_memory_plugin.readers.jax_pprof_stacks import LocationStacks, Strings

#: Each becomes a row. Real profiles have some thousands.
MOST_BUFFERS = 1 << 22

#: What a profile counts and adds up: type and unit of each, as JAX writes them.
_COUNT, _BYTES = ("allocations", "count"), ("space", "bytes")
BUFFER, EXECUTABLE = "buffer", "executable"


@dataclass(frozen=True)
class Sample:
    """Buffers that are alive, made at one place.

    JAX gives every size a sample of its own, so that ``bytes`` is ``count`` times that size.
    """

    kind: str  # "buffer", "executable"; empty if not said
    device: str  # as the file names it; empty if not said
    count: int
    bytes: int  # not negative
    sized: bool  # False: the file says that the size is not known
    stack: int  # row of stacks, -1 for none


def samples(profile: Any, strings: Strings, stacks: LocationStacks) -> Iterator[Sample]:
    """The samples of ``profile`` that have something alive. Raises Malformed."""
    kinds = [
        (strings.at(one.type, "a sample type"), strings.at(one.unit, "a sample type's unit"))
        for one in profile.sample_type
    ]
    if _COUNT not in kinds or _BYTES not in kinds:
        held = " and ".join(" in ".join(kind)[:60] for kind in kinds[:4]) or "nothing"
        raise Malformed(f"it is a profile of {held}, where JAX writes allocations and space")
    count_at, bytes_at = kinds.index(_COUNT), kinds.index(_BYTES)
    total = 0
    for place, sample in enumerate(profile.sample):
        if len(sample.value) != len(kinds):
            raise Malformed(
                f"sample {place} has {len(sample.value)} values for {len(kinds)} sample types"
            )
        told = _labels(sample, place, strings)
        found = _checked(sample.value[count_at], sample.value[bytes_at], told, place)
        total += found[0]
        if total > MOST_BUFFERS:
            raise Malformed(f"it counts more than {MOST_BUFFERS:,} live buffers")
        stack = stacks.stack(sample.location_id)
        if found[0]:
            yield Sample(told.get("kind", ""), told.get("device", ""), *found, stack)


def _labels(sample: Any, place: int, strings: Strings) -> dict[str, str]:
    """Labels of text; where one is given again, the first holds."""
    found: dict[str, str] = {}
    for label in sample.label:
        key = strings.at(label.key, f"a label of sample {place}")
        found.setdefault(key, strings.at(label.str, f"a label of sample {place}"))
    return found


def _checked(count: int, held: int, told: dict[str, str], place: int) -> tuple[int, int, bool]:
    """Count, bytes, and whether these are known."""
    if count < 0:
        raise Malformed(
            f"sample {place} counts {count} buffers (it is the difference of two profiles)"
        )
    if held < 0:
        # What a TPU's runtime answers when asked for the size of compiled code.
        if told.get("kind") == EXECUTABLE:
            return count, 0, False
        raise Malformed(f"sample {place} holds {held} bytes")
    if held and not count:
        raise Malformed(f"sample {place} holds {held} bytes in no buffers")
    return count, held, True
