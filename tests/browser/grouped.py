"""The slow truth of groupings of the training loop: the name of each life's group, one by one."""

from __future__ import annotations

from tests.browser.loop import ACTIVATION, SPIKE, STATE, WEIGHT, Loop

#: What else groups are called, by what events say.
NAMES = {
    "stack": {0: "forward · model.py:88", 1: "backward · autograd.py:3"},
    "stream": {0: "default stream", 7: "stream 0x7"},
    "pool": {0: "default pool", 1: "private pool 0,1"},
    "size": {WEIGHT: "6.00 MiB", STATE: "12.0 MiB", ACTIVATION: "21.0 MiB", SPIKE: "700 MiB"},
}
UNITS = {"µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


def labels(made: Loop, by: str, at: int) -> dict[int, str]:
    """What the group of the life that begins in an event is called; ``at`` is the cursor."""
    events = made.recording.table("events").to_pylist()
    known = {each["event"]: each for each in made.recording.table("labels").to_pylist()}

    def name(event: int) -> str:
        if by in ("op", "module"):
            return known[event][by] or f"no {by} known"
        if by == "step":
            steps = [step for step, (begin, end) in enumerate(made.steps) if begin <= event < end]
            return f"step {steps[0]}" if steps else "outside any step"
        if by == "age":
            return age(events[at]["time"] - events[event]["time"])
        return NAMES[by][events[event][by] or 0]

    return {event: name(event) for event in known}


def age(since: int) -> str:
    """The class of an age in nanoseconds."""
    if since < 0:
        return "born later"
    limit = next(limit for limit in (10**n for n in range(3, 12)) if since < limit)
    unit = next(unit for unit in ("s", "ms", "µs") if limit >= UNITS[unit])
    return f"under {limit // UNITS[unit]} {unit}"
