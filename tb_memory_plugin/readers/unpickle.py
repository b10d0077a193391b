"""A pickle stream to plain containers, numbers and text; nothing else can come out of it.

The C unpickler does the work, with every way to a Python object closed: globals, persistent ids
and the extension registry. A pickle of plain data has none of these, so no memory snapshot is
refused (all public ones load this way).
"""

from __future__ import annotations

import copyreg
import pickle
from io import BufferedReader
from typing import Any, NoReturn

from tb_memory_plugin.readers.checked import Malformed, shown

OLDEST, NEWEST = 2, 5
_FRAME = b"\x95"  # the first opcode of protocols 4 and 5


class Refused(Malformed):
    """The pickle asks for something that could run code."""


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        wanted = f"{module[:60]}.{name[:60]}"
        raise Refused(f"asks for the Python object {wanted!r}, which could run code")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise Refused(f"refers to an object outside the file ({shown(pid)})")


def protocol(head: bytes) -> int | None:
    """The pickle protocol that ``head`` announces, None if it announces none."""
    return head[1] if len(head) > 1 and head[0] == 0x80 else None


class _Framed:
    """A file without ``peek``: the unpickler then reads frames whole instead of copying ahead."""

    def __init__(self, file: BufferedReader) -> None:
        self.read = file.read
        self.readline = file.readline


def load(file: BufferedReader) -> Any:
    """The one object pickled in ``file``. Raises Malformed (Refused), OSError, MemoryError."""
    # A registered extension code that was used before is served from here, past find_class.
    copyreg.clear_extension_cache()
    try:
        source: Any = _Framed(file) if file.peek(3)[2:3] == _FRAME else file
        return _PlainUnpickler(source).load()
    except (Malformed, OSError, MemoryError):
        raise
    except RecursionError:
        raise Malformed("is nested too deeply") from None
    except EOFError:
        raise Malformed("ends in the middle: it was cut off or is still being written") from None
    except pickle.UnpicklingError as error:
        if "truncated" in str(error) or "exhausted" in str(error):
            raise Malformed(
                "ends in the middle: it was cut off or is still being written"
            ) from None
        raise Malformed(f"is damaged or is not a pickle ({error})") from None
    # What the C unpickler raises on damaged input depends on the opcode it meets.
    except Exception as error:  # noqa: BLE001
        raise Malformed(f"is damaged ({type(error).__name__} while unpickling)") from None
