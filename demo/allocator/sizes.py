"""What the bytes of a request become: a block's size, its pool's kind, a segment's size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MIB = 1 << 20
UNIT = 512  # every block is a multiple of this
SMALL_LIMIT = MIB  # the largest request that goes into a small pool
SMALL_SEGMENT = 2 * MIB
LARGE_SEGMENT = 20 * MIB
WHOLE_LIMIT = 10 * MIB  # from here on a request gets a segment of its own size
WHOLE_UNIT = 2 * MIB
INTERVALS = 16  # powers of two from 1 MiB to 32 GiB that can have divisions of their own


@dataclass(frozen=True)
class Settings:
    """What ``PYTORCH_CUDA_ALLOC_CONF`` can say.

    Attributes:
        max_split_size: blocks of at least so many bytes are never split; None: no limit.
        max_non_split_rounding: how much larger than asked for such a block may be.
        expandable_segments: map pages into ranges that grow, instead of whole segments.
        roundup_power2_divisions: how many sizes there are from one power of two to the next, for
            each of 16 powers from 1 MiB on; 0 and 1 for multiples of 512 bytes.
    """

    max_split_size: int | None = None
    max_non_split_rounding: int = LARGE_SEGMENT
    expandable_segments: bool = False
    roundup_power2_divisions: Sequence[int] = (0,) * INTERVALS

    def __post_init__(self) -> None:
        if self.max_split_size is not None and self.max_split_size <= LARGE_SEGMENT:
            raise ValueError("max_split_size has to be over 20 MiB")
        divisions = self.roundup_power2_divisions
        if len(divisions) != INTERVALS or any(d & (d - 1) for d in divisions):
            raise ValueError(f"divisions are {INTERVALS} powers of two, or zeros")

    def as_recorded(self) -> dict[str, Any]:
        """``allocator_settings`` of a snapshot."""
        words = []
        if self.expandable_segments:
            words.append("expandable_segments:True")
        if self.max_split_size is not None:
            words.append(f"max_split_size_mb:{self.max_split_size // MIB}")
        return {
            "PYTORCH_CUDA_ALLOC_CONF": ",".join(words),
            "max_split_size": -1 if self.max_split_size is None else self.max_split_size,
            "garbage_collection_threshold": 0.0,
            "expandable_segments": self.expandable_segments,
            "pinned_num_register_threads": 1,
            "release_lock_on_cudamalloc": False,
            "pinned_use_cuda_host_register": False,
            "graph_capture_record_stream_reuse": False,
            "roundup_power2_divisions": {
                str(1 << power): count for power, count in enumerate(self.roundup_power2_divisions)
            },
        }


def block_size(requested: int, settings: Settings) -> int:
    """Bytes a request is rounded up to."""
    if requested < UNIT:
        return UNIT
    interval = min(max(requested.bit_length() - 21, 0), INTERVALS - 1)
    divisions = settings.roundup_power2_divisions[interval]
    if divisions > 1 and requested > UNIT * divisions:
        return _division(requested, divisions)
    return -(-requested // UNIT) * UNIT


def _division(requested: int, divisions: int) -> int:
    """The next of ``divisions`` even steps between two powers of two."""
    below = 1 << (requested.bit_length() - 1)
    if below == requested:
        return requested
    step = below // divisions
    return -(-requested // step) * step if step else 2 * below


def is_small(size: int) -> bool:
    """Whether a block of ``size`` bytes belongs into a small pool."""
    return size <= SMALL_LIMIT


def segment_size(size: int) -> int:
    """Bytes to ask the driver for, so that a block of ``size`` fits."""
    if size <= SMALL_LIMIT:
        return SMALL_SEGMENT
    if size < WHOLE_LIMIT:
        return LARGE_SEGMENT
    return -(-size // WHOLE_UNIT) * WHOLE_UNIT


def page_size(small: bool) -> int:
    """Bytes that an expandable segment is mapped in."""
    return SMALL_SEGMENT if small else LARGE_SEGMENT
