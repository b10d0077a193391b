"""Words and their codes, for columns of text that grow row by row."""

from __future__ import annotations

from typing import Any


class Vocabulary:
    """Words, or anything that can be a key, and their codes, in order of appearance."""

    def __init__(self) -> None:
        self.codes: dict[Any, int] = {}

    def code(self, word: Any) -> int:
        """The code of ``word``; -1 for None."""
        return -1 if word is None else self.codes.setdefault(word, len(self.codes))

    @property
    def words(self) -> list[Any]:
        """The words, by code."""
        return list(self.codes)
