"""Snapshots of a few lines, for tests that need one thing in them, and short ways to look."""

from __future__ import annotations

from typing import Any

from tb_memory_plugin.readers.torch_structure import from_structure
from tb_memory_plugin.recording.recording import Recording

Structure = dict[str, Any]


def event(action: Any, addr: Any = 0x1000, size: Any = 512, **more: Any) -> Structure:
    """One entry of a trace."""
    return {"action": action, "addr": addr, "size": size, "stream": 0, **more}


def segment(address: int = 0x1000, size: int = 2048, device: Any = 0, **more: Any) -> Structure:
    """A segment with no blocks."""
    return {
        "device": device,
        "address": address,
        "total_size": size,
        "stream": 0,
        "segment_type": "small",
        "blocks": [],
        **more,
    }


def block(address: int = 0x1000, size: int = 512, **more: Any) -> Structure:
    """A block in use."""
    made = {"address": address, "size": size, "requested_size": size, "state": "active_allocated"}
    return {**made, "frames": [], **more}


def frame(name: str, filename: str = "train.py", line: Any = 1, **more: Any) -> Structure:
    """One frame of a stack."""
    return {"name": name, "filename": filename, "line": line, **more}


def whole(*events: Structure, segments: Any = (), **more: Any) -> Structure:
    """A snapshot of one device."""
    return {"segments": list(segments), "device_traces": [list(events)], **more}


def recorded(structure: Any) -> Recording:
    """What the reader makes of a structure."""
    return from_structure(structure, "made.pickle")


def rows(recording: Recording, table: str) -> list[Structure]:
    """The rows of a table as dictionaries."""
    found: list[Structure] = recording.table(table).to_pylist()
    return found


def column(recording: Recording, table: str, name: str) -> list[Any]:
    """A column of a table as Python values."""
    found: list[Any] = recording.table(table).column(name).to_pylist()
    return found


def stack(recording: Recording, row: int | None) -> list[tuple[str, str, int]] | None:
    """The frames of a stack by its row."""
    if row is None:
        return None
    frames = rows(recording, "frames")
    ids = recording.table("stacks").column("frames")[row].as_py()
    return [(frames[i]["function"], frames[i]["file"], frames[i]["line"]) for i in ids]
