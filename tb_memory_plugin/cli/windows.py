"""The window that commands which list something take, as arguments."""

from __future__ import annotations

import argparse
from typing import Any


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the source, the device and a window of an axis."""
    command.add_argument("path", metavar="PATH", help="a snapshot or a recording")
    command.add_argument("--device", metavar="KEY", help="which device (default: the highest peak)")
    command.add_argument(
        "--axis", choices=("event", "time"), default="event", help="what the window is counted in"
    )
    command.add_argument(
        "--begin", metavar="N", type=int, help="first of the window (default: of the recording)"
    )
    command.add_argument(
        "--end", metavar="N", type=int, help="one past the last of the window (default: the end)"
    )


def question(arguments: argparse.Namespace) -> dict[str, Any]:
    """The window as the views take it."""
    return {name: getattr(arguments, name) for name in ("axis", "begin", "end")}
