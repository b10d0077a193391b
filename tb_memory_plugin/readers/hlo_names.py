"""What names of files of HLO modules say: of what XLA dumps, and of what XProf unpacks.

XLA calls what it dumps ``module_0001.jit_f.<stage>.hlo.pb``, with a time before it where it is told
so. The stage that it hands its buffer assignment to is ``cpu_after_optimizations`` of CPUs,
``sm_8.0_gpu_after_optimizations`` and the like of GPUs, and
``after_optimizations_after_buffer_assignment`` of TPUs; a plain ``after_optimizations`` or
``after_codegen`` of the same module may hold the program alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_PLATFORM = r"(?:cpu_|sm_[\d.]+[a-z]?_gpu_|gfx\w+_gpu_|tpu_)"
#: Stages whose files may hold a plan, the likeliest first.
_STAGES = (
    rf"{_PLATFORM}after_optimizations|after_optimizations_after_buffer_assignment"
    "|after_buffer_assignment",
    "after_codegen",
    "after_optimizations",
)
_DUMPED = re.compile(
    rf"(?P<which>(?:.+\.)?module_(?P<number>\d+)(?:\.(?P<name>.+?))?)"
    rf"\.(?:{'|'.join(f'(?P<stage{rank}>{words})' for rank, words in enumerate(_STAGES))})"
    r"(?:\.hlo)?\.pb(?:\.gz)?",
    re.IGNORECASE,
)
_UNPACKED = re.compile(
    r"(?P<which>(?:module_(?P<number>\d+)\.)?(?P<name>.+?)(?:\((?P<program>\d+)\))?)"
    r"\.hlo_proto\.pb(?:\.gz)?",
    re.IGNORECASE,
)
# Of any other file whose stage is one of these.
_OTHER = re.compile(
    r"(after_optimizations|after_buffer_assignment|after_codegen)(\.hlo)?\.pb(\.gz)?$", re.I
)
_ON = re.compile(r"[._](cpu|gpu|tpu)_after_optimizations", re.I)

#: A file with the plan comes before one that may have it, and that before one without.
_ORDER: dict[bool | None, int] = {True: 0, None: 1, False: 2}


@dataclass(frozen=True)
class ModuleName:
    """What a file's name says of the module in it.

    ``which`` is the same for all files of a module, of which the one of the lowest ``rank`` is
    likeliest to hold its plan. ``number`` is the dump's, or the program's of a profile.
    """

    which: str
    name: str
    number: str
    rank: int = 0


def module_name(name: str) -> ModuleName | None:
    """What ``name`` says; None where it is no file of a dump, nor one that XProf unpacked."""
    found = _DUMPED.fullmatch(name)
    if found is not None:
        rank = next(rank for rank in range(len(_STAGES)) if found[f"stage{rank}"])
        return ModuleName(found["which"], found["name"] or "", found["number"], rank)
    found = _UNPACKED.fullmatch(name)
    number = found and (found["number"] or found["program"])
    return ModuleName(found["which"], found["name"], number) if found and number else None


def superseded(names: Iterable[str], planned: Callable[[str], bool | None]) -> set[str]:
    """Those of ``names``, all of one folder, of whose module another file likelier has the plan.

    ``planned`` tells whether a file has it, None where that is not known; only those are asked
    about of which there are several of one module.
    """
    modules: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        module = module_name(name)
        if module is not None:
            modules.setdefault(module.which, []).append((module.rank, name))
    found: set[str] = set()
    for stages in modules.values():
        if len(stages) > 1:
            best = min((_ORDER[planned(name)], rank, name) for rank, name in stages)
            found.update(name for _, name in stages if name != best[-1])
    return found


def may_hold_plan(name: str) -> bool:
    """Whether a file may hold a module with a plan, by its name."""
    return _UNPACKED.fullmatch(name) is not None or _OTHER.search(name) is not None


def platform_of(name: str) -> str | None:
    """What a dumped file is for, by its name: ``module_0001.jit_f.sm_8.0_gpu_after_…``."""
    found = _ON.search(name)
    return found and found[1].lower()
