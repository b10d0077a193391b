"""The HLO modules of a profile, which its plane ``/host:metadata`` holds whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tb_memory_plugin.readers.checked import UINT64_MAX, Malformed
from tb_memory_plugin.readers.hlo import parsed
from tb_memory_plugin.readers.hlo_module import Modules
from tb_memory_plugin.readers.xplane_wire import Plane
from tb_memory_plugin.readers.xplane_wire import parsed as entry_in
from tb_memory_plugin.readers.xplane_words import word

_MOST_TOLD = 20
_NUMBERED = re.compile(rb"\((\d{1,20})\)\Z")


def modules(
    planes: Sequence[Plane], data: bytearray, devices: Sequence[str]
) -> tuple[Modules, list[str]]:
    """The modules of ``planes``, and a sentence for each that cannot be read.

    ``devices`` are the names of the device planes: they tell what modules are compiled for.
    """
    found, problems = Modules(), []
    kinds = {name.partition(":")[0].lower() for name in devices}
    platform = next((kind for kind in ("tpu", "gpu") if kind in kinds), "cpu")
    view = memoryview(data)
    try:
        for plane in planes:
            for begin, end in plane.modules:
                try:
                    entry = _entry(view[begin:end])
                except Malformed as error:
                    problems.append(f"An HLO module is left out: {error}.")
                    continue
                for stat in entry.stats:
                    if not stat.bytes_value:
                        continue
                    try:
                        found.add(parsed(stat.bytes_value), platform, _program(entry.name))
                    except Malformed as error:
                        problems.append(f"The HLO module {word(entry.name)} is left out: {error}.")
    finally:
        view.release()
    if len(problems) > _MOST_TOLD:
        rest = len(problems) - _MOST_TOLD
        problems[_MOST_TOLD:] = [f"{rest} more HLO modules are left out for the like."]
    return found, problems


def _program(name: bytes) -> int | None:
    """The number in ``jit_f(12)``, of 64 bits."""
    found = _NUMBERED.search(name)
    return int(found[1]) if found and int(found[1]) <= UINT64_MAX else None


def _entry(data: memoryview) -> Any:
    return entry_in("ModuleEntry", bytes(data), "it is cut off").value
