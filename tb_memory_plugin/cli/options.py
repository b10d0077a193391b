"""Arguments that several commands take."""

from __future__ import annotations

import argparse
import re


def json(command: argparse.ArgumentParser) -> None:
    """Let a command print JSON."""
    command.add_argument("--json", action="store_true", help="print JSON for programs")


def json_or_csv(command: argparse.ArgumentParser) -> None:
    """Let a command print JSON or CSV."""
    formats = command.add_mutually_exclusive_group()
    formats.add_argument("--json", action="store_true", help="print JSON for programs")
    formats.add_argument("--csv", action="store_true", help="print all of it as CSV")


def count(word: str) -> int:
    """A whole number from 0 on. Raises ArgumentTypeError."""
    if not word.isdecimal():
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number from 0 on")
    return int(word)


def nanoseconds(word: str) -> int:
    """Nanoseconds, of either sign. Raises ArgumentTypeError."""
    if not re.fullmatch(r"[+-]?\d{1,18}", word):
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number of ns of up to 18 digits")
    return int(word)


def name(word: str) -> str:
    """A name that is not empty. Raises ArgumentTypeError."""
    if not word.strip():
        raise argparse.ArgumentTypeError("the name is empty; say where to write")
    return word
