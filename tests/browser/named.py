"""What the group of an allocation of a real snapshot is called, as its file says it."""

from __future__ import annotations

import math
import re
from pathlib import PureWindowsPath
from typing import Any

from tests.browser.filed import File, Filed

#: What is known of no value.
BEFORE = "before the window"
#: Ends of the classes of ages and lifetimes, by time in ns and by events.
TIMES = {
    10**3: "1 µs",
    10**4: "10 µs",
    10**5: "100 µs",
    10**6: "1 ms",
    10**7: "10 ms",
    10**8: "100 ms",
    10**9: "1 s",
    10**10: "10 s",
}
EVENTS = {10**n: f"{10**n:,} events".replace(",", " ") for n in range(1, 7)}


def group_of(file: File, life: Filed, by: str, at: int) -> Any:
    """The name of the group of a life, by stack and by size what is common to it.

    ``at`` is the cursor. By pool only of what is alive at the peak.
    """
    if by == "stream":
        return f"stream {life.stream:#x}" if life.stream else "default stream"
    if by == "size":
        return life.bytes
    if by == "age":
        return _age(file, life, at)
    told = {"lifetime": _lifetime, "annotation": _annotation, "pool": _pool, "stack": _stack}
    return told[by](file, life)


def _stack(file: File, life: Filed) -> Any:
    """Without one all are a group, whether they are older than the window or not."""
    if life.stack:
        return life.stack
    young = any(each.birth >= 0 for each in file.lives if not each.stack)
    return "no stack recorded" if young else BEFORE


def _is_timed(file: File) -> bool:
    return "time_us" in file.trace[0]


def _class(file: File, begin: int, end: int) -> str:
    """How long it is from event to event, in ns where there are times."""
    if _is_timed(file):
        length = 1000 * int(file.trace[end]["time_us"] - file.trace[begin]["time_us"])
        return next(f"under {name}" for limit, name in TIMES.items() if length < limit)
    return next(f"under {name}" for limit, name in EVENTS.items() if end - begin < limit)


def _age(file: File, life: Filed, at: int) -> str:
    if life.birth < 0:
        return BEFORE
    return "born later" if life.birth > at else _class(file, life.birth, at)


def _lifetime(file: File, life: Filed) -> str:
    if life.death == math.inf:
        return "not freed"
    return BEFORE if life.birth < 0 else _class(file, life.birth, int(life.death))


def _annotation(file: File, life: Filed) -> str:
    if life.birth < 0:
        return BEFORE
    time, running = file.trace[life.birth]["time_us"], []
    for each in file.structure["external_annotations"]:
        if each["device"] == file.ordinal and each["time_us"] <= time:
            if each["stage"] == "START":
                running.append(each["name"])
            else:
                running.remove(each["name"])
    return running[-1] if running else "outside any annotation"


def _pool(file: File, life: Filed) -> str:
    (held,) = (r for r in file.at_peak if r.address <= life.address < r.end)
    pool = file.pool_of(held)
    if pool is None:
        return BEFORE if life.birth < 0 else "pool not known"
    return "private pool {},{}".format(*pool) if pool != (0, 0) else "default pool"


def is_called(stack: tuple[tuple[str, str, int], ...], name: str) -> bool:
    """Whether all frames that the name of a group tells are in a stack.

    ``aten::mm ← forward · model.py:88``, an op and a place, with a number where there are several.
    """
    places = {
        "",
        *(f"{PureWindowsPath(path).name}:{line}".removesuffix(":0") for _, path, line in stack),
    }
    parts = [part.partition(" · ") for part in re.split(" [←→] ", re.sub(r"^\(\d+\) ", "", name))]
    return all(
        place in places and any(said.rstrip("…").split("::")[-1] in each for each, _, _ in stack)
        for said, _, place in parts
    )


def is_size(size: int, name: str) -> bool:
    """Whether a size is called so: in figures, or to the byte where another reads the same."""
    return name in (in_figures(size), f"{size:,} B".replace(",", " "))


def in_figures(size: int) -> str:
    """Bytes in three figures, as groups by size are called."""
    power = (size.bit_length() - 1) // 10
    value = size / 1024**power
    digits = 0 if power == 0 or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {('B', 'KiB', 'MiB', 'GiB')[power]}"
