"""What a user types to narrow a list down, made into a mask over allocations.

Words, all of which must match: ``attention`` in a stack frame, op, name or module,
``size>10MiB``, ``category:gradient``, ``step:3``, ``op:conv`` (``op=aten::conv2d``: nothing but
that), ``address:0x7f00`` or only ``0x7f00``; ``-`` before a word turns it around, quotes hold words
together, ``/…/`` is a regular expression.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tb_memory_plugin.analysis.alive import bytes_of
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.matching import (
    equal_column,
    matching,
    matching_column,
    matching_stacks,
)
from tb_memory_plugin.analysis.memo import memo
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Category
from tb_memory_plugin.units import parse_bytes

_TERM = re.compile(
    r"""(?P<minus>-?)
        (?:(?P<field>[a-z]+)(?P<compare>>=|<=|>|<|=|:(?!:)))?
        (?P<value>"[^"]*"|/(?:[^/\\]|\\.)+/(?=\s|$)|\S*)""",
    re.VERBOSE,
)
#: What a comparison does, in the words of a :class:`Term`.
COMPARE: dict[str, Callable[[IntArray, int], IntArray]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "=": operator.eq,
    ":": operator.eq,
}
_ADDRESS = re.compile(r"0x[0-9a-f]{1,16}", re.IGNORECASE)
_TEXTS = ("op", "name", "module", "region", "dtype", "shape", "annotation")
_FIELDS = ("size", "step", "category", *_TEXTS, "stack", "pool", "stream", "address")
_COMPARED = ("size", "step", "event")
#: Words of a filter: each is looked for in all there is.
_MOST_TERMS = 100


@dataclass(frozen=True)
class Term:
    """One word of a filter; ``field`` is empty for a free word."""

    negated: bool
    field: str
    compare: str
    value: str


def parse(text: str, also: tuple[str, ...] = ()) -> list[Term]:
    """The words of a filter. Raises QueryError for one that has no meaning.

    ``also`` names fields beside those of allocations.
    """
    terms = []
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        found = _TERM.match(text, place)
        if found is None or found.end() == place:
            raise QueryError(f"The filter cannot be read from {text[place:]!r} on.")
        place = found.end()
        terms.append(_term(found, (*_FIELDS, *also)))
        if len(terms) > _MOST_TERMS:
            raise QueryError(f"A filter may have {_MOST_TERMS} words; this one has more.")
    return terms


def mask(recording: Recording, device: Device, text: str) -> IntArray | None:
    """Which of a device's allocations pass the filter ``text``; None where all do.

    Remembered: moving about asks for the same text again and again. Raises QueryError.
    """
    terms = parse(text)
    if not terms:
        return None
    return memo(
        recording, ("passing", device.index, text), lambda: _passing(recording, device, terms)
    )


def _passing(recording: Recording, device: Device, terms: list[Term]) -> IntArray:
    rows = recording.rows("allocations", device)
    passing = np.ones(rows.stop - rows.start, dtype=bool)
    for term in terms:
        passing &= matches(recording, device, term) != term.negated
    passing.flags.writeable = False
    return passing


def _term(found: re.Match[str], fields: tuple[str, ...]) -> Term:
    field, compare = found["field"] or "", found["compare"] or ""
    value = found["value"]
    if value.startswith('"') and value.endswith('"') and len(value) > 1:
        value = value[1:-1]
    elif value.startswith('"'):
        raise QueryError(f"The filter {found[0]!r} opens a quote and does not close it.")
    if field and field not in fields:
        raise QueryError(
            f"{field!r} is nothing to filter by; use one of {', '.join(fields)}, or put it in "
            "quotes to look for the words."
        )
    if not value:
        raise QueryError(f"The filter {found[0]!r} does not say what to look for.")
    if compare not in ("", ":", "=") and field not in _COMPARED:
        raise QueryError(f"{field} cannot be compared with {compare}; write {field}:{value}.")
    return Term(bool(found["minus"]), field, compare, value)


def matches(recording: Recording, device: Device, term: Term) -> IntArray:
    """Which of a device's allocations one word matches, turned around or not. Raises QueryError."""
    if not term.field:
        found = matching(recording, device, term.value)
        if _ADDRESS.fullmatch(term.value):
            found |= _by_address(recording, device, term)
        return found
    if term.field in _TEXTS and term.compare == "=":
        return equal_column(recording, device, term.field, term.value)
    if term.field in _TEXTS:
        return matching_column(recording, device, term.field, term.value)
    if term.field == "stack":
        return matching_stacks(recording, device, term.value)
    return _NUMBERS[term.field](recording, device, term)


def _by_size(recording: Recording, device: Device, term: Term) -> IntArray:
    try:
        wanted = parse_bytes(term.value)
    except ValueError as error:
        raise QueryError(f"{error}.") from None
    return COMPARE[term.compare](bytes_of(recording, device), wanted)


def _by_step(recording: Recording, device: Device, term: Term) -> IntArray:
    steps = recording.values("allocations", "step", device)
    if term.value == "none":
        return steps < 0
    return COMPARE[term.compare](steps, whole(term)) & (steps >= 0)


def _by_category(recording: Recording, device: Device, term: Term) -> IntArray:
    wanted = re.sub(r"[-_\s]+", " ", term.value.strip().lower())
    codes = recording.values("allocations", "category", device)
    for category in Category:
        if wanted == category.label or (wanted, category) == ("weight", Category.PARAMETER):
            matches: IntArray = codes == int(category)
            return matches | (codes < 0) if category is Category.UNKNOWN else matches
    known = ", ".join(category.label for category in Category)
    raise QueryError(f"{term.value!r} is not a category; they are {known}.")


def _by_pool(recording: Recording, device: Device, term: Term) -> IntArray:
    found: IntArray = pool_hits(recording, term)[recording.values("allocations", "pool", device)]
    return found


def pool_hits(recording: Recording, term: Term) -> IntArray:
    """For every code of a pool, and for none at the end, whether it is meant. Raises QueryError."""
    pools = [tuple(pool) for pool in recording.meta["pools"]]
    if term.value in ("default", "private"):
        chosen = [(pool == (0, 0)) == (term.value == "default") for pool in pools]
    else:
        chosen = [f"{pool[0]},{pool[1]}" == term.value.replace(" ", "") for pool in pools]
        if not any(chosen):
            known = ", ".join(f"{first},{second}" for first, second in pools)
            raise QueryError(
                f"There is no pool {term.value!r}; use default, private or one of {known}."
            )
    return np.array([*chosen, False])


def _by_stream(recording: Recording, device: Device, term: Term) -> IntArray:
    rows = recording.rows("allocations", device)
    known = arrays.valid(recording.table("allocations"), "stream")[rows]
    wanted = 0 if term.value == "default" else whole(term)
    found: IntArray = recording.values("allocations", "stream", device) == np.uint64(wanted)
    streams: IntArray = found & known
    return streams


def _by_address(recording: Recording, device: Device, term: Term) -> IntArray:
    """Allocations that hold the address."""
    wanted = np.uint64(whole(term))
    address = recording.values("allocations", "address", device)
    size = recording.values("allocations", "size", device)
    extent = np.maximum(np.maximum(size, bytes_of(recording, device)), 1).astype(np.uint64)
    inside: IntArray = (wanted - address < extent) & (address <= wanted)
    return inside


def whole(term: Term) -> int:
    """The number that a word asks for. Raises QueryError."""
    try:
        number = int(term.value, 0)
    except ValueError:
        number = -1
    if not 0 <= number < 1 << 64:
        raise QueryError(f"{term.field} takes a whole number, not {term.value!r}.")
    return number


_NUMBERS: dict[str, Callable[[Recording, Device, Term], IntArray]] = {
    "size": _by_size,
    "step": _by_step,
    "category": _by_category,
    "pool": _by_pool,
    "stream": _by_stream,
    "address": _by_address,
}
