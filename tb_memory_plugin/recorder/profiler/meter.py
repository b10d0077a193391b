"""Bytes held by one device, watched for the highest within a step."""

from __future__ import annotations

from dataclasses import dataclass

from tb_memory_plugin.recorder.engine import StepUsage


@dataclass
class Meter:
    """Counts up from zero, or follows the allocator's own counts once they are given."""

    allocated: int = 0
    reserved: int | None = None
    _peak: int = 0
    _reserved_peak: int | None = None
    _counts: bool = False

    def moved(self, size: int) -> None:
        """An allocation (or, negative, a free) where nobody else counts."""
        if not self._counts:
            self.allocated += size
            self._peak = max(self._peak, self.allocated)

    def raised(self, size: int) -> None:
        """Memory that was there all the time is found only now."""
        if not self._counts:
            self.allocated += size
            self._peak += size

    def counted(self, allocated: int, reserved: int) -> None:
        """The allocator's counts after an event."""
        if not self._counts:
            self._counts, self._peak = True, allocated
        self.allocated, self.reserved = allocated, reserved
        self._peak = max(self._peak, allocated)
        self._reserved_peak = max(self._reserved_peak or 0, reserved)

    def close(self, step: int, device: str) -> StepUsage:
        """The figures of a step that ends here; the next begins."""
        usage = StepUsage(
            step, device, self._peak, self.allocated, self._reserved_peak, self.reserved
        )
        self._peak, self._reserved_peak = self.allocated, self.reserved
        return usage
