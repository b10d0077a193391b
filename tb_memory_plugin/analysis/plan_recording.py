"""The recording of all plans of a recording, whose devices are the memory spaces of modules."""

from __future__ import annotations

from tb_memory_plugin.analysis.plan_devices import PREFIX, SHARED
from tb_memory_plugin.analysis.plan_reading import all_plans
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.recording import Recording

#: What the key of a device begins with that is a plan.
KEY = "plan:"


def plan_recording(recording: Recording) -> Recording:
    """The plans of ``recording`` as a recording: the same one as long as that is open."""
    return recording.beside("plans", lambda: _recording(recording))


def _recording(recording: Recording) -> Recording:
    devices = [
        {"key": f"{KEY}{plan.row}", "name": f"{plan.module_name} · {plan.space_name}"}
        for plan in all_plans(recording)
    ]
    meta = {
        "format": recording.meta["format"],
        "basis": "size",
        "is_plan": True,
        "devices": devices,
        "source": recording.meta["source"],
        "host": recording.meta["host"],
    }
    own = {
        name.removeprefix(PREFIX): table
        for name, table in recording.tables.items()
        if name.startswith(PREFIX)
    }
    shared = {name: recording.table(name) for name in SHARED}
    return builder.recording(meta, {**shared, **own})
