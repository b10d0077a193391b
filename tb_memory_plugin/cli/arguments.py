"""The arguments of every command. Imports nothing that takes time: ``--help`` must be quick."""

from __future__ import annotations

import argparse

from tb_memory_plugin import __version__
from tb_memory_plugin.cli import options, trace_arguments, weighing, windows


def parser() -> argparse.ArgumentParser:
    """The arguments that ``tb-memory`` takes."""
    whole = argparse.ArgumentParser(
        prog="tb-memory",
        description="Look into memory recordings: PyTorch snapshots and what MemoryWriter wrote.",
    )
    whole.add_argument("--version", action="version", version=f"tb-memory {__version__}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")

    info = commands.add_parser("info", help="what a source holds", description=_INFO)
    info.add_argument("path", metavar="PATH", help="a recording, or a folder with a session in it")
    options.json(info)

    peak = commands.add_parser("peak", help="what memory is made of at a moment", description=_PEAK)
    peak.add_argument("path", metavar="PATH", help="a recording, or a folder with a session in it")
    peak.add_argument("--device", metavar="KEY", help="which device (default: the highest peak)")
    peak.add_argument(
        "--at",
        metavar="MOMENT",
        default="peak",
        help="peak, event:N (-1: before the first), time:NS (ns since the recording's origin) or "
        "step:N (the highest moment in that step); default: peak",
    )
    peak.add_argument(
        "--by",
        metavar="GROUPING",
        choices=_GROUPINGS,
        help=f"one of {', '.join(_GROUPINGS)}; default: what the page starts with",
    )
    peak.add_argument(
        "--pattern", metavar="TEXT", default="", help="for --by pattern: words or /expressions/"
    )
    peak.add_argument(
        "--filter", metavar="TEXT", default="", help="only these, e.g. 'attention size>10MiB'"
    )
    peak.add_argument(
        "--limit", metavar="N", type=options.count, default=20, help="groups in text (default: 20)"
    )
    options.json_or_csv(peak)

    allocation = commands.add_parser(
        "allocation", help="all that is known of one allocation", description=_ALLOCATION
    )
    allocation.add_argument("path", metavar="PATH", help="a snapshot or a recording")
    allocation.add_argument(
        "id", metavar="ID", help="its row of the table allocations, as events and segments name it"
    )
    options.json(allocation)

    allocations = commands.add_parser(
        "allocations", help="every life in a window", description=_ALLOCATIONS
    )
    windows.add_arguments(allocations)
    allocations.add_argument(
        "--at",
        metavar="MOMENT",
        help="only those alive then, whatever the window: peak, event:N, time:NS or step:N",
    )
    allocations.add_argument(
        "--filter", metavar="TEXT", default="", help="only these, e.g. 'attention size>10MiB'"
    )
    allocations.add_argument("--minimum", metavar="SIZE", help="of at least so many bytes: 10MiB")
    allocations.add_argument("--maximum", metavar="SIZE", help="of at most so many bytes")
    allocations.add_argument(
        "--sort",
        metavar="COLUMN",
        default="-bytes",
        help="label, bytes, size, requested, birth, death, duration, category, step, op, name, "
        "module, region, dtype, shape or annotation; --sort=-COLUMN falling; default: -bytes",
    )
    options.offset(allocations)
    options.limit(allocations, 100)
    options.json_or_csv(allocations)

    operators = commands.add_parser(
        "operators", help="what operators did to memory", description=_OPERATORS
    )
    windows.add_arguments(operators)
    options.find(operators)
    operators.add_argument(
        "--sort",
        metavar="COLUMN",
        default="-self_increase",
        help="label, calls, count, self_count, bytes, self_bytes, increase, self_increase or peak; "
        "--sort=-COLUMN falling; default: -self_increase",
    )
    options.limit(operators, 40)
    options.json_or_csv(operators)

    modules = commands.add_parser(
        "modules", help="HLO modules and their plans for memory", description=_MODULES
    )
    modules.add_argument(
        "path", metavar="PATH", help="an XPlane, an HLO module or a folder of them"
    )
    options.json(modules)

    buffers = commands.add_parser(
        "buffers", help="buffers of a compiler's plan at a moment", description=_BUFFERS
    )
    buffers.add_argument(
        "path", metavar="PATH", help="an XPlane, an HLO module or a folder of them"
    )
    buffers.add_argument(
        "--module", metavar="M", required=True, help="its name, name(program) or program id"
    )
    buffers.add_argument(
        "--space", metavar="S", type=options.count, help="memory space (default: the highest peak)"
    )
    buffers.add_argument(
        "--at",
        metavar="MOMENT",
        default="peak",
        help="peak, or the number of an event of its heap (-1: before the first); default: peak",
    )
    buffers.add_argument(
        "--limit", metavar="N", type=options.count, default=50, help="rows in text (default: 50)"
    )
    options.json(buffers)

    runs = commands.add_parser("module-runs", help="when HLO modules ran", description=_MODULE_RUNS)
    windows.add_arguments(runs)
    runs.add_argument(
        "--at",
        metavar="MOMENT",
        help="only those that run then, whatever the window: peak, event:N (until the next "
        "event), time:NS (any) or step:N (its peak)",
    )
    options.find(runs)
    runs.add_argument(
        "--sort",
        metavar="COLUMN",
        default="begin",
        help="program, name, on, begin, end, duration, before or peak; --sort=-COLUMN falling; "
        "default: begin",
    )
    options.offset(runs)
    options.limit(runs, 100)
    options.json_or_csv(runs)

    events = commands.add_parser("events", help="the history, event by event", description=_EVENTS)
    events.add_argument("path", metavar="PATH", help="a snapshot or a recording")
    events.add_argument("--device", metavar="KEY", help="which device (default: the highest peak)")
    events.add_argument(
        "--filter", metavar="TEXT", default="", help="only these, e.g. 'action:alloc size>10MiB'"
    )
    events.add_argument(
        "--offset",
        metavar="N",
        type=options.count,
        default=0,
        help="leave out the first N that pass",
    )
    options.limit(events, 100)
    options.json_or_csv(events)

    segments = commands.add_parser(
        "segments", help="the allocator's state at a moment", description=_SEGMENTS
    )
    segments.add_argument("path", metavar="PATH", help="a snapshot or a recording")
    segments.add_argument("--device", metavar="KEY", help="which device (default: highest peak)")
    segments.add_argument(
        "--at",
        metavar="MOMENT",
        default="peak",
        help="peak, event:N (-1: before the first), time:NS or step:N; default: peak",
    )
    segments.add_argument(
        "--limit",
        metavar="N",
        type=options.count,
        default=40,
        help="segments in text (default: 40)",
    )
    options.json_or_csv(segments)

    flame = commands.add_parser("flame", help="stacks for a flame graph", description=_FLAME)
    weighing.add_arguments(flame)
    flame.add_argument(
        "--format",
        choices=("folded", "speedscope", "json"),
        default="folded",
        help="folded stacks, a file for speedscope, or what the page gets; default: folded",
    )
    flame.add_argument("--inverted", action="store_true", help="innermost frames first")
    flame.add_argument(
        "--fold-libraries", action="store_true", help="make runs of library frames one"
    )
    flame.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=options.name,
        help="write it there (default: print it)",
    )

    lines = commands.add_parser("lines", help="memory by line of code", description=_LINES)
    weighing.add_arguments(lines)
    lines.add_argument(
        "--limit", metavar="N", type=options.count, default=40, help="how many lines (default: 40)"
    )
    options.json(lines)

    trace_arguments.add(commands)

    export = commands.add_parser("export", help="all tables as Parquet", description=_EXPORT)
    export.add_argument("path", metavar="PATH", help="a snapshot or a recording")
    export.add_argument(
        "-o", "--output", metavar="FOLDER", type=options.name, required=True, help="where to"
    )
    export.add_argument("--force", action="store_true", help="replace what an export left there")
    options.json(export)

    pair = commands.add_parser(
        "pair", help="a snapshot and a trace of one process, as one", description=_PAIR
    )
    pair.add_argument("snapshot", metavar="SNAPSHOT", help="whose allocations count")
    pair.add_argument("trace", metavar="TRACE", help="of a profiler: what the program did")
    pair.add_argument(
        "--shift",
        metavar="NS",
        type=options.nanoseconds,
        help="move the trace by so many ns; puts them together even if nothing matches",
    )
    pair.add_argument(
        "--out", metavar="FILE.tbmem", type=options.name, help="write both as one recording"
    )
    pair.add_argument("--force", action="store_true", help="replace that file")
    options.json(pair)

    index = commands.add_parser("index", help="read sources into the cache", description=_INDEX)
    index.add_argument(
        "paths", metavar="PATH", nargs="+", help="a file, or a folder with runs in it"
    )
    options.json(index)

    place = commands.add_parser("import", help="place a recording in a run", description=_IMPORT)
    place.add_argument("path", metavar="PATH", help="a snapshot or a recording")
    place.add_argument(
        "--logdir", metavar="RUN", type=options.name, required=True, help="the run's folder"
    )
    place.add_argument("--name", metavar="NAME", help="name in the run (default: the file's)")
    place.add_argument("--force", action="store_true", help="replace a recording of that name")
    options.json(place)
    return whole


_GROUPINGS = (
    "category",
    "stack",
    "op",
    "module",
    "region",
    "dtype_shape",
    "step",
    "annotation",
    "pool",
    "stream",
    "size",
    "rounding",
    "lifetime",
    "age",
    "pattern",
)
_INFO = (
    "Print what a source holds, device by device: exact numbers, and what is odd about it. Of a "
    "folder with a session in it, the peak of every host or rank."
)
_PEAK = (
    "Print what the memory of a device is made of at a moment, by group, exactly. Of a folder with "
    "a session in it, how much that is on every host or rank, and its largest group."
)
_ALLOCATION = "Print the sizes, life, step, category and stacks of one allocation."
_ALLOCATIONS = (
    "Print every allocation that lived in a window, whenever it was made: sizes, moments, how long "
    "it lived."
)
_OPERATORS = (
    "Print what operators did to memory in a window: calls, allocations, bytes, what they added "
    "less what they took away (themselves, and with what ran inside them), and the most of theirs "
    "that was alive at once."
)
_MODULES = (
    "HLO modules in XPlanes and in what XLA dumps, with the memory that the compiler planned for "
    "each: peaks, arguments, outputs and temporaries by memory space."
)
_BUFFERS = (
    "Every buffer that holds memory at a moment of program order, as the compiler planned it."
)
_MODULE_RUNS = (
    "Print when HLO modules ran on a device, and how much memory was in use at their beginning and "
    "at most while they ran."
)
_EVENTS = "Print a part of a device's history: any slice, of all events or of those that match."
_SEGMENTS = (
    "Print the segments of a device after any event, exactly: blocks, rounding, what is pending "
    "and what is free, by pool and stream."
)
_FLAME = (
    "Print the stacks that allocations were born with and what they weigh, exactly: one line a "
    "stack, outermost frame first, for flamegraph.pl and others, or a file for speedscope."
)
_LINES = "Print where memory was made, by line of code, the user's own lines first."
_EXPORT = (
    "Write every table of a recording as a Parquet file, and what it says of itself as meta.json, "
    "for DuckDB, pandas, polars and whatever else reads Parquet."
)
_PAIR = (
    "Say whether a snapshot of an allocator and a trace of a profiler are of one process, by the "
    "addresses, sizes and order of what they allocate, and how their clocks differ; write them as "
    "one recording, which every other command takes."
)
_INDEX = "Read sources into the cache, so that TensorBoard opens them at once."
_IMPORT = (
    "Write a source as a recording into a run: RUN/plugins/memory/NAME.tbmem, compressed, where "
    "TensorBoard finds it. The source itself stays as it is."
)
