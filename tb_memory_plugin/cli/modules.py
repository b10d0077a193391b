"""``tb-memory modules``: HLO modules, and the memory that the compiler planned for each."""

from __future__ import annotations

import argparse

from tb_memory_plugin.cli import planned, text
from tb_memory_plugin.units import format_bytes
from tb_memory_plugin.views import plans


def run(arguments: argparse.Namespace) -> int:
    """Print the modules, those of the highest peak first. Raises MemoryPluginError."""
    among = planned.recordings(arguments.path).values()
    found = [module for recording in among for module in plans.modules(recording)]
    if arguments.json:
        text.say_json(found)
        return 0
    text.say(text.styled(text.counted(len(found), "HLO module"), "bold"))
    if not found:
        text.say(text.styled(f"  {_NONE}", "quiet"))
    rows = [
        [
            *(format_bytes(space[key]) for key in _BYTES),
            space["name"],
            text.grouped(space["events"]),
            str(module["program_id"]),
            text.cut(module["module"]),
        ]
        for module in sorted(found, key=_highest, reverse=True)
        for space in sorted(module["spaces"].values(), key=lambda each: -each["peak_bytes"])
    ]
    head = [*_HEAD, "space", "events", "program", "module"]
    for line in text.table(head, rows, right=range(6)) if rows else ():
        text.say(line)
    for module in found:
        if not module["spaces"]:
            text.say(text.styled(f"  {module['module']} holds no plan for memory", "quiet"))
        for problem in module["problems"]:
            text.say(text.styled(f"  ! {module['module']}: {problem}", "yellow"))
    return 0


def _highest(module: dict[str, dict[str, dict[str, int]]]) -> int:
    return max((space["peak_bytes"] for space in module["spaces"].values()), default=0)


_BYTES = ("peak_bytes", "total_bytes", "parameter_bytes", "output_bytes", "temporary_bytes")
_NONE = "they are in XPlanes that have /host:metadata, in *.hlo_proto.pb and in what XLA dumps"
_HEAD = ("peak", "total", "arguments", "outputs", "temporary")
