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


def find(command: argparse.ArgumentParser) -> None:
    """Let a command list only what is called so."""
    command.add_argument(
        "--find", metavar="TEXT", default="", help="only those with this word or /expression/"
    )


def offset(command: argparse.ArgumentParser) -> None:
    """Let a command begin further down its list."""
    command.add_argument(
        "--offset", metavar="N", type=count, default=0, help="leave out the first N"
    )


def limit(command: argparse.ArgumentParser, most: int) -> None:
    """Let a command list so many rows, ``most`` if it is not said."""
    command.add_argument(
        "--limit", metavar="N", type=count, default=most, help=f"how many (default: {most})"
    )


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
