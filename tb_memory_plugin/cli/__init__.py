"""``tb-memory``: what the page can say, as text for people or JSON for programs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

from tb_memory_plugin.cli import streams, text
from tb_memory_plugin.cli.arguments import parser

_FAILED = 1
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status: 0, 1 for an error (said on stderr), 2 for usage."""
    streams.prepare()
    # What goes wrong is said in one sentence; the log is for servers.
    logging.getLogger("tb_memory_plugin").addHandler(logging.NullHandler())
    chosen = parser().parse_args(arguments)
    # Only now what costs time to import: --help must be quick.
    from tb_memory_plugin.cli import (
        allocation,
        allocations,
        buffers,
        events,
        export,
        flame,
        index,
        info,
        lines,
        module_runs,
        modules,
        operators,
        pair,
        peak,
        place,
        segments,
        trace,
    )
    from tb_memory_plugin.errors import MemoryPluginError

    commands = {
        "info": info.run,
        "peak": peak.run,
        "allocation": allocation.run,
        "allocations": allocations.run,
        "operators": operators.run,
        "modules": modules.run,
        "buffers": buffers.run,
        "module-runs": module_runs.run,
        "events": events.run,
        "segments": segments.run,
        "flame": flame.run,
        "lines": lines.run,
        "export": export.run,
        "spans": trace.spans,
        "steps": trace.every_step,
        "trace": trace.trace,
        "pair": pair.run,
        "index": index.run,
        "import": place.run,
    }
    try:
        status = commands[chosen.command](chosen)
        sys.stdout.flush()  # here, where a reader that has gone is understood
        return status
    except MemoryPluginError as error:
        text.warn(f"tb-memory: {error}")
        return _FAILED
    except BrokenPipeError:
        streams.give_up_output()  # whoever reads has seen enough
        return 0
    except OSError as error:
        streams.give_up_output()
        reason = error.strerror or type(error).__name__
        where = f"{error.filename}: " if error.filename else "the answer could not be written: "
        text.warn(f"tb-memory: {where}{reason}; check permissions and space on the disk.")
        return _FAILED
    except KeyboardInterrupt:
        return _INTERRUPTED
