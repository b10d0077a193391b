"""``tb-memory buffers``: the buffers of a compiler's plan that are alive at a moment of it."""

from __future__ import annotations

import argparse

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.cli import planned, text
from tb_memory_plugin.units import format_bytes
from tb_memory_plugin.views import buffers, plan_overview


def run(arguments: argparse.Namespace) -> int:
    """Print the buffers, the largest first. Raises MemoryPluginError."""
    recording, plan = planned.chosen(arguments.path, arguments.module, arguments.space)
    event = reading.moment(plan, arguments.at)
    answer = buffers.alive(recording, plan, event)
    if arguments.json:
        text.say_json(answer)
        return 0
    found = sorted(answer["buffers"], key=lambda each: -each["bytes"])
    when = "before the first event" if event < 0 else f"after event {text.grouped(event)}"
    text.say(
        f"{text.styled(plan.module_name, 'bold')} {plan.space_name}, {when} of "
        f"{text.grouped(plan.numbers['events'])}: {text.exact_bytes(answer['total_bytes'])} in "
        f"{text.counted(len(found), 'buffer')}"
    )
    own = int(recording.values("plan_modules", "compiler_peak")[plan.module])
    if own != plan.numbers["peak"]:
        why = " ".join(plan_overview.differs(recording, plan))
        line = f"  the compiler's own peak of the module is {format_bytes(own)}: {why}"
        text.say(text.styled(line, "quiet"))
    for problem in reading.problems(recording, plan.module):
        text.say(text.styled(f"  ! {problem}", "yellow"))
    rows = [
        [
            format_bytes(each["bytes"]),
            format_bytes(each["bytes"] - each["unpadded_bytes"]),
            "start" if each["birth"] is None else text.grouped(each["birth"]),
            "end" if each["death"] is None else text.grouped(each["death"]),
            each["kind"] or "",
            text.cut(each["shape"] or ""),
            text.cut(each["instruction"] or ""),
            text.cut(each["framework_op"] or ""),
        ]
        for each in found[: arguments.limit]
    ]
    head = ["size", "padding", "birth", "death", "kind", "shape", "buffer", "framework op"]
    for line in text.table(head, rows, right=range(4)):
        text.say(line)
    if len(found) > arguments.limit:
        text.say(f"{text.grouped(len(found) - arguments.limit)} more (--limit)")
    return 0
