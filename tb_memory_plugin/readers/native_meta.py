"""What ``meta`` of a recording may hold, so that a file from anywhere cannot surprise analysis."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tb_memory_plugin.readers.checked import INT64_MAX

_NEEDED = ("format", "basis", "devices")


def _text(value: Any) -> bool:
    return type(value) is str


def _whole(value: Any) -> bool:
    return type(value) is int and abs(value) <= INT64_MAX


def _unless_none(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


def _list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: type(value) is list and all(map(check, value))


def _device(value: Any) -> bool:
    return (
        type(value) is dict
        and _text(value.get("key"))
        and _text(value.get("name"))
        and _unless_none(_whole)(value.get("capacity"))
    )


def _pool(value: Any) -> bool:
    return type(value) is list and len(value) == 2 and all(map(_whole, value))


def _missing(value: Any) -> bool:
    return type(value) is dict and all(_text(value.get(key)) for key in ("what", "why", "remedy"))


#: What is asked of the values of ``meta`` that analysis and views go by; others are only shown.
_CHECKS: dict[str, Callable[[Any], bool]] = {
    "format": _text,
    "basis": _text,
    "time_origin_ns": _unless_none(_whole),
    "clock": _unless_none(_text),
    "host": _unless_none(_text),
    "rank": _unless_none(_whole),
    "pid": _unless_none(_whole),
    "pools": _list_of(_pool),
    "allocator_settings": _unless_none(lambda value: type(value) is dict),
    "versions": lambda value: type(value) is dict,
    "missing": _list_of(_missing),
    "problems": _list_of(_text),
    "has_history": lambda value: type(value) is bool,
}


def meta_fault(meta: Mapping[str, Any]) -> str | None:
    """What is wrong with ``meta``, as the fault of a SourceError; None if nothing is."""
    missing = [key for key in _NEEDED if key not in meta]
    if missing:
        return f"says nothing about its {missing[0]}"
    devices = meta["devices"]
    if type(devices) is not list or not all(map(_device, devices)):
        return "does not describe its devices"
    if len({device["key"] for device in devices}) < len(devices):
        return "describes a device twice"
    for key, check in _CHECKS.items():
        if key in meta and not check(meta[key]):
            return f"says something about its {key} that cannot be"
    try:
        json.dumps(dict(meta), allow_nan=False)
    except (TypeError, ValueError):  # not a number, or infinite
        return "says something that is no number where numbers are"
    return None
