"""The arguments of the commands about what the program did."""

from __future__ import annotations

import argparse
from typing import Any

from tb_memory_plugin.cli import options

_SPANS = (
    "Print memory by span: how often operators, modules, annotations or steps ran, and the bytes "
    "that were allocated and freed in them (all that happened inside, and by themselves)."
)
_STEPS = "Print what memory did in every step: before, at its highest, after, allocated and freed."
_TRACE = (
    "Write the spans of a window as a trace that Perfetto and chrome://tracing open, with counters "
    "of memory beside them."
)


def add(commands: Any) -> None:
    """Add ``spans``, ``steps`` and ``trace``."""
    spans = commands.add_parser("spans", help="memory by span", description=_SPANS)
    _source(spans, device=True)
    spans.add_argument(
        "--kind",
        metavar="KIND",
        default="op",
        help="op (the default), module, annotation, step, python, runtime, kernel, copy or "
        "hlo_module",
    )
    _window(spans)
    options.find(spans)
    spans.add_argument(
        "--sort",
        metavar="COLUMN",
        default="-allocated",
        help="name, calls, time, births, frees, allocated, freed, net, self_allocated, self_freed, "
        "self_net or peak; --sort=-COLUMN falling; default: -allocated",
    )
    options.limit(spans, 40)
    options.json_or_csv(spans)

    steps = commands.add_parser("steps", help="memory of every step", description=_STEPS)
    _source(steps, device=True)
    options.json(steps)

    trace = commands.add_parser("trace", help="a trace for Perfetto", description=_TRACE)
    _source(trace, device=False)
    _window(trace)
    trace.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        type=options.name,
        help="where to write; packed where the name ends in .gz",
    )


def _source(command: argparse.ArgumentParser, *, device: bool) -> None:
    command.add_argument("path", metavar="PATH", help="a trace or a recording")
    if device:
        command.add_argument("--device", metavar="KEY", help="which device (default: the highest)")


def _window(command: argparse.ArgumentParser) -> None:
    for edge, usual in (("begin", "the recording's begin"), ("end", "its end")):
        command.add_argument(
            f"--{edge}",
            metavar="NS",
            type=options.nanoseconds,
            help=f"nanoseconds since the recording's origin (default: {usual})",
        )
