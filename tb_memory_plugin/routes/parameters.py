"""The parameters of a request, made into checked values."""

from __future__ import annotations

import re
from typing import Any

_INTEGER = re.compile(r"-?[0-9]{1,19}")
_ID = re.compile(r"[0-9a-f]{1,64}")
_LONGEST = 4000


class BadRequest(ValueError):
    """A parameter that is missing or makes no sense; says which."""


class Parameters:
    """The parameters of one request; what cannot be used raises BadRequest."""

    def __init__(self, request: Any) -> None:
        self._values = request.args

    def has(self, name: str) -> bool:
        """Whether the parameter is there and not empty."""
        return bool(self._values.get(name))

    def text(self, name: str, default: str | None = None) -> str:
        """A parameter as it is; it must be there unless there is a ``default``."""
        value = self._values.get(name, "")
        if not value:
            if default is None:
                raise BadRequest(f"The parameter {name} is missing.")
            return default
        if len(value) > _LONGEST:
            raise BadRequest(f"The parameter {name} is longer than {_LONGEST} characters.")
        return str(value)

    def word(self, name: str) -> str:
        """An id or a version."""
        value = self.text(name)
        if not _ID.fullmatch(value):
            raise BadRequest(f"The parameter {name} is not an id.")
        return value

    def integer(self, name: str, least: int, most: int, default: int | None = None) -> int:
        """A number from ``least`` to ``most``."""
        text = self.text(name, "" if default is not None else None)
        if not text and default is not None:
            return default
        if not _INTEGER.fullmatch(text):
            raise BadRequest(f"The parameter {name} is {text[:40]!r}, not an integer.")
        value = int(text)
        if not least <= value <= most:
            raise BadRequest(f"The parameter {name} is {value}, not from {least} to {most}.")
        return value

    def bound(self, name: str) -> int | None:
        """One end of a window: an integer, None where it is not given."""
        return self.integer(name, -(1 << 62), 1 << 62) if self.has(name) else None
