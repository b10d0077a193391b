"""The tracks of a recording: what there is to be looked at, and in which order."""

from __future__ import annotations

from typing import Any

from tb_memory_plugin.analysis.instants import event_times
from tb_memory_plugin.analysis.trace.around import says_threads
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views.trace.window import MOST_LANES

#: Tracks that an answer names; a program has rarely more threads.
MOST_TRACKS = 1000

NOTE_BY_TIME = (
    "Events do not say on which thread they happened: each is taken to be in the innermost span "
    "of that time, whatever its thread."
)
NOTE_UNTIMED = "Events have no time stamps, so nothing can be placed beside them."
NOTE_DEEP = f"Of tracks deeper than {MOST_LANES} spans the innermost are not drawn."


def layout(recording: Recording, device: Device) -> dict[str, Any]:
    """The answer of ``GET trace``: the tracks, those that allocate first, and what they reach over.

    ``begin`` … ``end`` (ns since the origin) holds all spans and all events of the device, None
    where there is nothing that has a time.
    """
    rows = recording.table("span_tracks").slice(0, MOST_TRACKS).to_pylist()
    begins, ends = ([row[name] for row in rows] for name in ("begin", "end"))
    times = event_times(recording, device)
    if times is not None:
        begins.append(int(times[0]))
        ends.append(int(times[-1]) + 1)
    notes = []
    if times is None and recording.rows("events", device).stop:
        notes.append(NOTE_UNTIMED)
    elif rows and not says_threads(recording):
        notes.append(NOTE_BY_TIME)
    if any(row["stop"] - row["first"] > MOST_LANES for row in rows):
        notes.append(NOTE_DEEP)
    return {
        "device": device.key,
        "begin": min(begins, default=None),
        "end": max(ends, default=None),
        "tracks": [_track(recording, place, row) for place, row in enumerate(rows)],
        "hidden": recording.table("span_tracks").num_rows - len(rows),
        "kinds": arrays.words(recording.table("spans"), "kind"),
        "links": recording.table("links").num_rows,
        "notes": notes,
    }


def _track(recording: Recording, place: int, row: dict[str, Any]) -> dict[str, Any]:
    of = row["device"]
    return {
        "id": str(place),
        **{name: row[name] for name in ("name", "kind", "spans", "events", "begin", "end")},
        "device": None if of is None else recording.devices[of].key,
        "lanes": row["stop"] - row["first"],
    }
