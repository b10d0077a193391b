"""Colours of groups on white, for drawings to keep: those that the page has for them.

They are ``frontend/src/theme/palette.ts`` and ``sequential.ts``; a test holds both alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tb_memory_plugin.analysis.naming import BEFORE_KEY, REST_KEY, UNKNOWN_KEY

CATEGORIES = {
    "parameter": "#4477aa",
    "optimizer state": "#ccbb44",
    "gradient": "#66ccee",
    "activation": "#ee6677",
    "input": "#228833",
    "temporary": "#aa3377",
    "autograd detail": "#44aa99",
    "output": "#ffaabb",
    "unknown": "#a6a6a6",
}
#: Of groups that are not one thing.
QUIET = {BEFORE_KEY: "#c4c4c4", UNKNOWN_KEY: "#a6a6a6", REST_KEY: "#868686"}
STACKS = (
    *("#4477aa", "#ee8866", "#228833", "#ffaabb", "#6655bb", "#ccbb44", "#66ccee", "#882255"),
    *("#44aa99", "#ee6677", "#aabbdd", "#888822", "#bb88dd", "#996633", "#d5e8a0", "#226677"),
)
#: Of what has an order, from the least to the most.
STOPS = ("#b3e5ce", "#8fd5b6", "#61be98", "#35a67d", "#038c65", "#047050", "#04553c")


def colours(groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """The colour of each of ``groups`` as ``ranking.describe`` tells them.

    As long as there are colours no two without an order have the same.
    """
    taken: list[int] = []
    return [_fixed(group) or STACKS[_slot(group["key"], taken)] for group in groups]


def _fixed(group: Mapping[str, Any]) -> str | None:
    """The colour of what has one whatever else is shown."""
    quiet = QUIET.get(group["key"])
    if quiet is not None:
        return quiet
    if group.get("shade") is not None:
        return sequential(group["shade"])
    return CATEGORIES.get(group.get("category", ""))


def _slot(key: str, taken: list[int]) -> int:
    slot = fnv(key) % len(STACKS)
    if len({*taken}) < len(STACKS):
        while slot in taken:
            slot = (slot + 1) % len(STACKS)
    taken.append(slot)
    return slot


def fnv(text: str) -> int:
    """FNV-1a of the 16-bit units of ``text``."""
    value = 0x811C9DC5
    data = text.encode("utf-16-le", "surrogatepass")
    for low, high in zip(data[::2], data[1::2], strict=True):
        value = (value ^ (low | high << 8)) * 0x01000193 & 0xFFFFFFFF
    return value


def sequential(shade: float) -> str:
    """The colour of a place on the scale of what has an order, 0 to 1."""
    place = min(max(shade, 0), 1) * (len(STOPS) - 1)
    below = min(int(place), len(STOPS) - 2)
    pairs = zip(_channels(STOPS[below]), _channels(STOPS[below + 1]), strict=True)
    mixed = [int(one + (other - one) * (place - below) + 0.5) for one, other in pairs]
    return f"#{mixed[0]:02x}{mixed[1]:02x}{mixed[2]:02x}"


def _channels(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
