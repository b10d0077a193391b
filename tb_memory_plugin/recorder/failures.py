"""Exceptions that mean out of memory, and what they say."""

from __future__ import annotations

import re

_BYTES = re.compile(r"tried to allocate (\d+) bytes")
_PHRASES = ("can't allocate memory", "not enough memory", "out of memory")


def out_of_memory(error: BaseException | None) -> tuple[str, dict[str, int]] | None:
    """What an out-of-memory error says and the integers in it; None for any other error.

    ``torch.OutOfMemoryError`` (by name, as torch may be absent), the RuntimeErrors of the CPU
    allocator and of older versions, and Python's own MemoryError.
    """
    if error is None:
        return None
    text = (str(error).splitlines() or [""])[0][:500]
    kinds = {kind.__name__ for kind in type(error).__mro__}
    known = kinds & {"OutOfMemoryError", "MemoryError"}
    if not known and not ("RuntimeError" in kinds and any(p in text for p in _PHRASES)):
        return None
    found = _BYTES.search(text)
    return text or type(error).__name__, {"requested": int(found[1])} if found else {}
