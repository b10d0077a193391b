"""What a GPU's memory snapshot of a run would look like, from a recording made on the CPU.

The births and deaths of the run's tensors, which are real, with their real stacks, steps and
annotations, go through the simulated allocator (``allocator/``) of a device of a given capacity.
The result is a file as ``torch.cuda.memory._dump_snapshot()`` writes it. No GPU is involved: what
the allocator decides is simulated, and what CUDA kernels would allocate beside the tensors is not
there.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trace_shaped
from allocator import (
    Block,
    CachingAllocator,
    History,
    OutOfMemory,
    PoolId,
    Settings,
    SimulatedDriver,
    snapshot,
)

import tb_memory_plugin
from tb_memory_plugin.api import LoadedRecording

Frames = list[dict[str, Any]]


@dataclass(frozen=True)
class Program:
    """How the program that a snapshot is of uses its device.

    What is allocated within annotations called ``graphed`` is of a CUDA graph that is captured
    again every time: it comes from a private pool. What is within those called ``copied`` is
    filled on a stream of its own, and used on the default stream from then on, so that once freed
    it waits for that.
    """

    settings: Settings = field(default_factory=Settings)
    graphed: str | None = None
    copied: str | None = None


#: What is written for a run, by the name of the file.
PROGRAMS = {
    "simulated_gpu": Program(),
    "simulated_gpu_expandable": Program(Settings(expandable_segments=True)),
    "simulated_gpu_graphed": Program(graphed="check", copied="data"),
}

#: The one that there is a trace of too.
TRACED = "simulated_gpu"

POOL: PoolId = (0, 1)
COPIES = 0x55D0_4C7A_2E10


@dataclass(frozen=True)
class Change:
    """A tensor's memory comes or goes."""

    row: int  # of the recording's allocations
    birth: bool
    bytes: int
    time_ns: int
    frames: Frames | None


def write_all(recording: Path, folder: Path, *, capacity: int) -> dict[str, bool]:
    """:func:`write` of each of ``PROGRAMS``, into ``folder``; what it says, by file name.

    Beside that of ``TRACED`` stands the trace that a profiler would have exported of it.
    """
    paths = {folder / f"{name}.pickle": program for name, program in PROGRAMS.items()}
    return {
        path.name: write(
            recording,
            path,
            capacity=capacity,
            program=program,
            trace=path.with_suffix(".pt.trace.json") if path.stem == TRACED else None,
        )
        for path, program in paths.items()
    }


def write(
    recording: Path,
    path: Path,
    *,
    capacity: int,
    program: Program | None = None,
    trace: Path | None = None,
) -> bool:
    """Write the snapshot of ``recording`` on a device of ``capacity`` bytes to ``path``.

    And what the profiler would have exported of it, by another clock, to ``trace``. Like a program
    that dumps a snapshot when it runs out of memory, it ends there; True if it did.
    """
    loaded, program = tb_memory_plugin.load(recording), program or Program()
    graphed, copied = (_within(loaded, name) for name in (program.graphed, program.copied))
    before, changes = _before(loaded), list(_changes(loaded))
    now = changes[0].time_ns
    history = History(clock=lambda: now // 1_000)
    allocator = CachingAllocator(SimulatedDriver(capacity), program.settings, history)
    memory = trace_shaped.Memory(allocator)
    blocks: dict[int, Block] = {}
    failed = False
    try:
        for row, size in before.items():
            blocks[row] = allocator.malloc(size)
        memory.look(now)
        # Recording begins when the model is there, as it does in the run.
        history.entries.clear()
        memory.begin()
        for change in changes:
            now = change.time_ns
            _capture(allocator, graphed(now // 1_000))
            if change.birth:
                stream = COPIES if copied(now // 1_000) else 0
                block = allocator.malloc(change.bytes, stream, change.frames)
                allocator.record_stream(block, 0)
                blocks[change.row] = block
            else:
                allocator.free(blocks.pop(change.row), change.frames)
            memory.look(now)
    except OutOfMemory:
        failed = True
    made = snapshot([allocator], _annotations(loaded, now // 1_000))
    path.write_bytes(pickle.dumps(made, protocol=4))
    if trace is not None:
        trace_shaped.write(loaded, memory, trace, capacity=capacity)
    return failed


def _capture(allocator: CachingAllocator, wanted: bool) -> None:
    """Begin or end what goes to the private pool, if it is not so already."""
    if wanted and not allocator.pools.capturing:
        allocator.begin_pool(POOL)
    elif not wanted and allocator.pools.capturing:
        allocator.end_pool(POOL)


def _within(loaded: LoadedRecording, name: str | None) -> Callable[[int], bool]:
    """Whether a time, in µs, is within an annotation called ``name``."""
    origin = loaded.recording.meta["time_origin_ns"]
    spans = [
        ((origin + span["begin"]) // 1_000, (origin + span["end"]) // 1_000)
        for span in loaded.table("spans").to_pylist()
        if (span["kind"], span["name"]) == ("annotation", name) and span["end"] is not None
    ]
    return lambda time_us: any(begin <= time_us <= end for begin, end in spans)


def _before(loaded: LoadedRecording) -> dict[int, int]:
    """Bytes of what was there before the recording began, by row."""
    rows = loaded.table("allocations").select(["birth", "size"]).to_pylist()
    return {n: row["size"] for n, row in enumerate(rows) if row["birth"] is None and row["size"]}


def _changes(loaded: LoadedRecording) -> Iterator[Change]:
    """All that happened, in order."""
    stacks, origin = _stacks(loaded), loaded.recording.meta["time_origin_ns"]
    columns = ["size", "birth", "death", "birth_time", "death_time", "birth_stack", "death_stack"]
    found = []
    for number, row in enumerate(loaded.table("allocations").select(columns).to_pylist()):
        for end in ("birth", "death"):
            if row["size"] and row[end] is not None:
                time = origin + row[f"{end}_time"]
                frames = stacks.get(row[f"{end}_stack"])
                change = Change(number, end == "birth", row["size"], time, frames)
                found.append((row[end], change))
    yield from (change for _, change in sorted(found, key=lambda pair: pair[0]))


def _stacks(loaded: LoadedRecording) -> dict[int | None, Frames]:
    """Stacks by row, innermost frame first."""
    frames = [
        {"name": row["function"], "filename": row["file"], "line": row["line"]}
        for row in loaded.table("frames").to_pylist()
    ]
    rows = loaded.table("stacks").column("frames").to_pylist()
    return {number: [frames[frame] for frame in stack] for number, stack in enumerate(rows)}


def _annotations(loaded: LoadedRecording, last_us: int) -> list[dict[str, Any]]:
    """Steps and annotations up to ``last_us``; what goes on then has no end."""
    origin = loaded.recording.meta["time_origin_ns"]
    found = []
    for span in loaded.table("spans").to_pylist():
        if span["kind"] not in ("step", "annotation"):
            continue
        name = f"ProfilerStep#{span['step']}" if span["kind"] == "step" else span["name"]
        for stage, time in (("START", span["begin"]), ("END", span["end"])):
            if time is not None and (origin + time) // 1_000 <= last_us:
                entry = {"stage": stage, "name": name, "device": 0}
                found.append({**entry, "time_us": (origin + time) // 1_000})
    return sorted(found, key=lambda entry: entry["time_us"])
