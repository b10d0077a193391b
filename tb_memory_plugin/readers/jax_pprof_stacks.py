"""Locations of a pprof profile to interned stacks, innermost frame first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tb_memory_plugin.readers.checked import Malformed, text
from tb_memory_plugin.recording.stacks import StackInterner

#: Frames of all different stacks together. Real profiles have some hundred thousand.
MOST_FRAMES = 1 << 25

_INT32_MAX = (1 << 31) - 1


class Strings:
    """The string table of a profile, looked up with care."""

    def __init__(self, table: Sequence[bytes]) -> None:
        self._table = list(table)
        self._known: dict[int, str] = {}

    def at(self, place: int, what: str) -> str:
        """The text at a place; what is not UTF-8 in it is spelled out. Raises Malformed."""
        found = self._known.get(place)
        if found is None:
            if not 0 <= place < len(self._table):
                raise Malformed(
                    f"{what} is text {place} of {len(self._table)}, which it does not hold"
                )
            found = text(self._table[place].decode("utf-8", "backslashreplace"))
            self._known[place] = found
        return found


class LocationStacks:
    """Stacks of location ids by content; ids are rows of the tables that ``interner`` makes."""

    def __init__(self, profile: Any, strings: Strings) -> None:
        """Raises Malformed where an id is given twice."""
        self.interner = StackInterner()
        self._strings = strings
        self._functions = _by_id(profile.function, "function")
        self._locations = _by_id(profile.location, "location")
        self._frames: dict[int, list[int]] = {}
        self._stacks: dict[tuple[int, ...], int] = {}
        self._count = 0

    def stack(self, locations: Sequence[int]) -> int:
        """The stack of a sample, -1 without locations. Raises Malformed."""
        if not locations:
            return -1
        key = tuple(locations)
        found = self._stacks.get(key)
        if found is None:
            parts = [self._frames_at(location) for location in key]
            self._count += sum(map(len, parts))
            if self._count > MOST_FRAMES:
                raise Malformed(f"its stacks have more than {MOST_FRAMES:,} frames")
            found = self.interner.stack(frame for part in parts for frame in part)
            self._stacks[key] = found
        return found

    def _frames_at(self, number: int) -> list[int]:
        """The frames of one location: several where functions were inlined there."""
        found = self._frames.get(number)
        if found is None:
            location = self._locations.get(number)
            if location is None:
                raise Malformed(f"a stack refers to location {number}, which it does not hold")
            found = [self._frame(line, location) for line in location.line]
            if not found:
                found = [self.interner.frame(f"{location.address:#x}", "", 0)]
            self._frames[number] = found
        return found

    def _frame(self, line: Any, location: Any) -> int:
        number = line.line if 0 <= line.line <= _INT32_MAX else 0
        if line.function_id == 0:
            return self.interner.frame(f"{location.address:#x}", "", number)
        function = self._functions.get(line.function_id)
        if function is None:
            raise Malformed(
                f"location {location.id} refers to function {line.function_id}, which it does not "
                "hold"
            )
        what = f"the name of function {function.id}"
        name = self._strings.at(function.name, what)
        name = name or self._strings.at(function.system_name, what)
        file = self._strings.at(function.filename, f"the file of function {function.id}")
        return self.interner.frame(name, file, number)


def _by_id(items: Any, what: str) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for item in items:
        if item.id in found:
            raise Malformed(f"it holds two {what}s {item.id}")
        found[item.id] = item
    return found
