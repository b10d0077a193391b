"""What ``tb-memory flame`` and ``tb-memory lines`` weigh stacks by, as arguments."""

from __future__ import annotations

import argparse
from typing import Any

#: The keys of ``analysis.flame.OF``, here once more: ``--help`` must not wait for numpy.
OF = ("alive", "highest", "lifetime", "allocations", "kept", "passing")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the source and the options that both commands take."""
    command.add_argument("path", metavar="PATH", help="a snapshot or a recording")
    command.add_argument("--device", metavar="KEY", help="which device (default: the highest peak)")
    command.add_argument(
        "--of",
        choices=OF,
        default="alive",
        help="bytes alive at a moment (default), or in a window: alive at its highest moment, "
        "bytes × lifetime, number of allocations, bytes kept at its end, born and freed in it; "
        "highest and kept are memray's temporal flame graphs, without and with --leaks",
    )
    command.add_argument(
        "--at",
        metavar="MOMENT",
        default="peak",
        help="for alive: peak, event:N (-1: before the first), time:NS or step:N; default: peak",
    )
    command.add_argument(
        "--axis", choices=("event", "time"), default="event", help="what the window is counted in"
    )
    command.add_argument(
        "--begin", metavar="N", type=int, help="first of the window (default: of the recording)"
    )
    command.add_argument(
        "--end", metavar="N", type=int, help="one past the last of the window (default: the end)"
    )
    command.add_argument(
        "--filter", metavar="TEXT", default="", help="only these, e.g. 'attention size>10MiB'"
    )


def question(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options as the views take them."""
    names = ("of", "at", "axis", "begin", "end", "filter")
    return {name: getattr(arguments, name) for name in names}
