"""The errors this package raises on purpose, each one sentence for the person reading it."""

from __future__ import annotations

import re

#: Characters that no line of text has: files may have them where a fault quotes from these.
_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]")


class MemoryPluginError(Exception):
    """Base of every error raised on purpose; ``str()`` is fit to show to a user."""


class SourceError(MemoryPluginError):
    """A source that cannot be read: which file, what is wrong with it, what to do.

    Attributes:
        file: the file's name as the user knows it (never needed to find the file).
        fault: what is wrong, without a full stop.
        remedy: what the user can do, without a full stop.
    """

    def __init__(self, file: str, fault: str, remedy: str) -> None:
        super().__init__(_CONTROL.sub(_escaped, f"{file}: {fault}; {remedy}."))
        self.file = file
        self.fault = fault
        self.remedy = remedy

    def __reduce__(self) -> tuple[type[SourceError], tuple[str, str, str]]:
        return (SourceError, (self.file, self.fault, self.remedy))


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


class ContainerError(MemoryPluginError):
    """A recording's own file that is damaged or of a version this package does not know."""


class QueryError(MemoryPluginError):
    """A question that a recording cannot answer; says what would be valid."""
