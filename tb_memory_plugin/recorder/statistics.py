"""An allocator's own statistics, and the peak of every step from them.

torch counts the highest since the last reset, so that the peak of a step is had by a reset at its
end only. What the program itself reads must not change by that: in its answers, the functions that
torch's Python reads statistics with put back what our resets took away, until the program resets
its peaks itself. They stay so for the life of the process, as the program may ask at its end.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

Nested = dict[str, Any]  # {"allocated_bytes": {"all": {"current": 1, "peak": 2, …}, …}, …}
_Peaks = dict[tuple[str, str], int]  # by metric and pool

_ALLOCATED, _RESERVED = ("allocated_bytes", "all"), ("reserved_bytes", "all")


@dataclass(frozen=True)
class Figures:
    """What one device held, in bytes; None where it is not known."""

    allocated: int
    reserved: int
    peak_allocated: int | None
    peak_reserved: int | None
    failures: int  # see StepPeaks.failures


class StepPeaks:
    """The figures of one writer's steps. With ``resets``, peaks are begun anew at every end."""

    def __init__(self, torch: Any, kind: str, *, resets: bool) -> None:
        self._statistics = _of(torch, kind)
        self.exact = resets and self._statistics.wrapped()
        self.since: dict[int, _Peaks] = {}  # by ordinal
        self._seen: dict[int, _Peaks] = {}
        if self.exact:
            self._statistics.writers.add(self)

    def begin(self, ordinal: int) -> Figures:
        """A step begins here: what was before is nobody's."""
        return self.end(ordinal)

    def failures(self, ordinals: Iterable[int]) -> int:
        """Allocations that failed since the process began, 0 where nobody counts."""
        return sum(int(self._statistics.read(each).get("num_ooms", 0)) for each in ordinals)

    def end(self, ordinal: int) -> Figures:
        """A step ends here, and the next begins.

        Without resets a peak is known where it is the highest so far.
        """
        if self.exact:
            stats = self._statistics.begin_anew(ordinal)
            peaks = self.since.pop(ordinal, {})
        else:
            stats = self._statistics.read(ordinal)
            before, now = self._seen.get(ordinal, {}), _peaks(stats)
            peaks = {key: peak for key, peak in now.items() if peak > before.get(key, 0)}
            self._seen[ordinal] = now
        return Figures(
            _current(stats, _ALLOCATED),
            _current(stats, _RESERVED),
            peaks.get(_ALLOCATED),
            peaks.get(_RESERVED),
            int(stats.get("num_ooms", 0)),
        )


def lifetime_peak(torch: Any, kind: str, ordinal: int, metric: str) -> int | None:
    """The highest that ``metric`` ("requested_bytes") has been in this process.

    As torch counts it: since the program's last reset, if that was before a writer counted along.
    """
    statistics = _of(torch, kind)
    peaks = _peaks(statistics.read(ordinal))
    key = (metric, "all")
    found = max(peaks.get(key, 0), statistics.lifetime.get(ordinal, {}).get(key, 0))
    return found or None


class _Statistics:
    """The statistics of one backend ("cuda", "xpu") in this process."""

    def __init__(self, torch: Any, kind: str) -> None:
        self._torch, self._kind = torch, kind
        self._module = getattr(torch, kind)
        self.writers: weakref.WeakSet[StepPeaks] = weakref.WeakSet()
        self.lifetime: dict[int, _Peaks] = {}
        self._taken: dict[int, _Peaks] = {}  # what the program must still be told
        self._ask: Callable[[int], Nested] | None = None
        self._reset: Callable[[int], Any] | None = None

    def read(self, ordinal: int) -> Nested:
        """What torch says now of the device."""
        ask = self._ask or self._module.memory_stats_as_nested_dict
        return dict(ask(ordinal))

    def wrapped(self) -> bool:
        """Have torch answer the program as if we reset nothing; False where that cannot be."""
        if self._reset is not None:
            return True
        names = (f"_{self._kind}_memoryStats", f"_{self._kind}_resetPeakMemoryStats")
        pairs = [names]
        if _accelerator(self._torch) == self._kind:
            pairs.append(("_accelerator_getDeviceStats", "_accelerator_resetPeakStats"))
        functions = self._torch._C
        if not all(hasattr(functions, name) for pair in pairs for name in pair):
            return False
        self._ask, self._reset = (getattr(functions, name) for name in names)
        for ask, reset in pairs:
            setattr(functions, ask, self._answering(getattr(functions, ask)))
            setattr(functions, reset, self._resetting(getattr(functions, reset)))
        return True

    def begin_anew(self, ordinal: int) -> Nested:
        """Reset the peaks for us, not for the program. What torch said before."""
        stats = self._note(ordinal)
        _raise(self._taken.setdefault(ordinal, {}), _peaks(stats))
        if self._reset is not None:
            self._reset(ordinal)
        return stats

    def _note(self, ordinal: int) -> Nested:
        """Peaks are about to be reset: all that have a use for them take them in."""
        stats = self.read(ordinal)
        peaks = _peaks(stats)
        _raise(self.lifetime.setdefault(ordinal, {}), peaks)
        for writer in list(self.writers):
            _raise(writer.since.setdefault(ordinal, {}), peaks)
        return stats

    def _answering(self, ask: Callable[[int], Nested]) -> Callable[[int], Nested]:
        def memory_stats(device: int) -> Nested:
            stats = ask(device)
            taken = self._taken.get(device, {})
            for key, peak in _peaks(stats).items() if taken else ():
                stats[key[0]][key[1]]["peak"] = max(peak, taken.get(key, 0))
            return stats

        return memory_stats

    def _resetting(self, reset: Callable[[int], Any]) -> Callable[[int], Any]:
        def reset_peak_memory_stats(device: int) -> Any:
            with suppress(Exception):  # it is the program that resets, and it shall
                self._note(device)
            self._taken.pop(device, None)
            return reset(device)

        return reset_peak_memory_stats


def _accelerator(torch: Any) -> str | None:
    """The kind that ``torch.accelerator`` stands for; None for none, or an older torch."""
    accelerator = getattr(torch, "accelerator", None)
    device = None if accelerator is None else accelerator.current_accelerator()
    return None if device is None else str(device.type)


def _peaks(stats: Nested) -> _Peaks:
    return {
        (metric, pool): int(figures["peak"])
        for metric, pools in stats.items()
        if isinstance(pools, dict)
        for pool, figures in pools.items()
        if isinstance(figures, dict) and "peak" in figures
    }


def _current(stats: Nested, key: tuple[str, str]) -> int:
    return int(stats.get(key[0], {}).get(key[1], {}).get("current", 0))


def _raise(peaks: _Peaks, seen: _Peaks) -> None:
    for key, peak in seen.items():
        peaks[key] = max(peaks.get(key, 0), peak)


# torch's functions are wrapped once, for all writers of the process.
_KNOWN: dict[str, _Statistics] = {}


def _of(torch: Any, kind: str) -> _Statistics:
    return _KNOWN.setdefault(kind, _Statistics(torch, kind))
