"""The rules of speedscope's file format, as its published schema and its importer have them.

https://www.speedscope.app/file-format-schema.json is made from ``src/lib/file-format-spec.ts`` of
speedscope; what types cannot say is in the comments there and in ``file-format.ts`` beside it. Only
profiles that are sampled are read.
"""

from __future__ import annotations

import json
from typing import Any

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}

_NUMBER = (int, float)
#: Members by name: their type, and whether one must be there.
_FILE = {
    "$schema": (str, True),
    "shared": (dict, True),
    "profiles": (list, True),
    "name": (str, False),
    "activeProfileIndex": (_NUMBER, False),
    "exporter": (str, False),
}
_FRAME = {
    "name": (str, True),
    "file": (str, False),
    "line": (_NUMBER, False),
    "col": (_NUMBER, False),
}
_SAMPLED = {
    "type": (str, True),
    "name": (str, True),
    "unit": (str, True),
    "startValue": (_NUMBER, True),
    "endValue": (_NUMBER, True),
    "samples": (list, True),
    "weights": (list, True),
}


class Broken(Exception):
    """A file does not keep to a rule."""


def checked(text: str) -> dict[str, Any]:
    """A file that keeps to all rules, read. Raises Broken with the rule that it breaks."""
    document = json.loads(text, parse_constant=_no_number)
    _members("the file", document, _FILE)
    if document["$schema"] != SCHEMA:
        raise Broken("$schema names another format")
    frames = document["shared"].get("frames")
    if not isinstance(frames, list):
        raise Broken("shared has no list of frames")
    for frame in frames:
        _members("a frame", frame, _FRAME)
    if not document["profiles"]:
        raise Broken("there is no profile")
    if not 0 <= document.get("activeProfileIndex", 0) < len(document["profiles"]):
        raise Broken("the active profile is none of those there are")
    for profile in document["profiles"]:
        _sampled(profile, len(frames))
    return dict(document)


def _sampled(profile: Any, frames: int) -> None:
    _members("a profile", profile, _SAMPLED)
    if profile["type"] != "sampled":
        raise Broken(f"a profile of type {profile['type']!r} is not read here")
    if profile["unit"] not in UNITS:
        raise Broken(f"there is no unit {profile['unit']!r}")
    if profile["endValue"] < profile["startValue"]:
        raise Broken("endValue is less than startValue")
    if len(profile["samples"]) != len(profile["weights"]):
        raise Broken("there are not as many weights as samples")
    for sample in profile["samples"]:
        if not isinstance(sample, list) or not all(_is_index(each, frames) for each in sample):
            raise Broken("a sample is not a list of places among the frames")
    if not all(_is(weight, _NUMBER) for weight in profile["weights"]):
        raise Broken("a weight is no number")


def _members(what: str, found: Any, known: dict[str, tuple[Any, bool]]) -> None:
    if not isinstance(found, dict):
        raise Broken(f"{what} is no object")
    for name, (kind, is_needed) in known.items():
        if name not in found and is_needed:
            raise Broken(f"{what} has no {name}")
        if name in found and not _is(found[name], kind):
            raise Broken(f"{name} of {what} is of the wrong type")
    if found.keys() - known.keys():
        raise Broken(f"{what} has members that the format does not know")


def _is(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _is_index(value: Any, count: int) -> bool:
    return _is(value, int) and 0 <= value < count


def _no_number(name: str) -> None:
    raise Broken(f"{name} is not JSON")
