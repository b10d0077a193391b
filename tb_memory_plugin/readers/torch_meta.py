"""What a PyTorch snapshot leaves out, and what is odd about it, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tb_memory_plugin.readers.checked import plain

#: A history that was never switched on keeps one entry, the last.
ENTRIES_WITHOUT_HISTORY = 1


@dataclass(frozen=True)
class Facts:
    """What the sentences are made from."""

    sizes: Mapping[str, int]  # entries of each device's trace, by device key
    timed: bool
    stacked: bool
    stepped: bool
    unknown_actions: Counter[str]
    unknown_states: Counter[str]
    unknown_stages: Counter[str]
    strange_frames: Sequence[str]  # what is wrong with each, in words
    strange_times: Mapping[str, int]  # time stamps left out of each device's trace
    strange_annotations: int
    years_apart: int | None  # the time stamps, where that is too many
    overflowed: Any
    settings: Any


def meta(facts: Facts) -> dict[str, Any]:
    """``has_history``, ``allocator_settings``, ``missing`` and ``problems`` of a recording."""
    history = any(size > ENTRIES_WITHOUT_HISTORY for size in facts.sizes.values())
    settings = plain(facts.settings) if type(facts.settings) is dict else None
    return {
        "has_history": history,
        "allocator_settings": settings,
        "missing": _missing(facts, history),
        "problems": [
            *_unknown(facts.unknown_actions, "entries of an action", "are shown as unknown"),
            *_unknown(facts.unknown_states, "blocks in a state", "are counted by its first word"),
            *_unknown(facts.unknown_stages, "annotations with a stage", "are left out"),
            *_strange(facts),
            *_overflow(facts, settings or {}),
        ],
    }


def _missing(facts: Facts, history: bool) -> list[dict[str, str]]:
    if not history:
        return [
            {
                "what": "history",
                "why": "The snapshot holds the memory's state at one moment and no history: "
                "recording was not switched on, or was switched off before the dump",
                "remedy": "Call torch.cuda.memory._record_memory_history() before the model is "
                "built, run a few steps, then torch.cuda.memory._dump_snapshot('snapshot.pickle')",
            }
        ]
    found = []
    if not facts.timed:
        found.append(
            {
                "what": "time",
                "why": "The events carry no time stamps, which torch writes since version 2.2",
                "remedy": "Record with torch 2.2 or later for a time axis",
            }
        )
    if not facts.stacked:
        found.append(
            {
                "what": "stacks",
                "why": "No event carries a call stack: the history was recorded without context",
                "remedy": "Call torch.cuda.memory._record_memory_history(context='all', "
                "stacks='python')",
            }
        )
    if not facts.stepped:
        found.append(
            {
                "what": "steps",
                "why": "No training step is marked in the window",
                "remedy": "Wrap the loop in MemoryWriter and call step(), or mark each step with "
                "torch.profiler.record_function('ProfilerStep#N') (torch 2.5 or later)",
            }
        )
    return found


def _unknown(counts: Counter[str], what: str, then: str) -> list[str]:
    if not counts:
        return []
    words = ", ".join(repr(word) for word, _ in counts.most_common(5))
    more = f" and {len(counts) - 5} others" if len(counts) > 5 else ""
    return [f"{counts.total()} {what} this version does not know ({words}{more}) {then}."]


def _strange(facts: Facts) -> list[str]:
    """What was left out because its value cannot be."""
    found = [
        f"Of device {key}, {count} of {facts.sizes[key]} time stamps were left out (negative, "
        "after the year 2116, or no integers): its events have no time axis."
        for key, count in facts.strange_times.items()
        if count
    ]
    if facts.strange_annotations:
        found.append(
            f"{_counted(facts.strange_annotations, 'annotation')} without a valid time stamp "
            "left out."
        )
    if facts.years_apart is not None:
        found.append(
            f"The time stamps are {facts.years_apart} years apart, so that some must be wrong: all "
            "are left out, steps and annotations too, and events are shown in their order."
        )
    if facts.strange_frames:
        found.append(
            "A name, file or line of the wrong type was left out of "
            f"{_counted(len(facts.strange_frames), 'frame')} (such as {facts.strange_frames[0]})."
        )
    return found


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _overflow(facts: Facts, settings: Mapping[str, Any]) -> list[str]:
    """The flag stands at the top or in the settings, for all devices or one a device."""
    flag = (
        facts.overflowed if facts.overflowed is not None else settings.get("trace_alloc_overflowed")
    )
    if isinstance(flag, (list, tuple)):
        full = [str(device) for device, value in enumerate(flag[:1024]) if value]
        where = f"device {', '.join(full)}" if full else ""
    else:
        where = "every device" if flag else ""
    if not where:
        return []
    sentence = (
        f"The history of {where} was full and its oldest events were dropped: the window begins "
        "later than the recording (raise max_entries of _record_memory_history to keep more)."
    )
    return [sentence]
