"""Exceptions that mean out of memory, and what they say."""

from __future__ import annotations

import re
import sys

_BYTES = re.compile(r"tried to allocate (\d+) bytes")
_PHRASES = ("can't allocate memory", "not enough memory", "out of memory")


def handled(writer: object) -> tuple[str, dict[str, int]] | None:
    """What the out-of-memory error says that the program is handling now, once a ``writer``."""
    error = sys.exc_info()[1]
    found = out_of_memory(error)
    if error is None or found is None:
        return None
    # Noted on the exception: it must not be kept alive, and another may get its address.
    seen = vars(error).setdefault("_tb_memory_seen", [])
    if id(writer) in seen:
        return None
    seen.append(id(writer))
    return found


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
