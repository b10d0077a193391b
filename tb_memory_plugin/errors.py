"""The errors this package raises on purpose, each one sentence for the person reading it."""

from __future__ import annotations


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
        super().__init__(f"{file}: {fault}; {remedy}.")
        self.file = file
        self.fault = fault
        self.remedy = remedy

    def __reduce__(self) -> tuple[type[SourceError], tuple[str, str, str]]:
        return (SourceError, (self.file, self.fault, self.remedy))


class ContainerError(MemoryPluginError):
    """A recording's own file that is damaged or of a version this package does not know."""


class QueryError(MemoryPluginError):
    """A question that a recording cannot answer; says what would be valid."""
