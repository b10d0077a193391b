"""What the first picture of a recording needs, worked out before it is asked for."""

from __future__ import annotations

from tb_memory_plugin.analysis.instants import event_times
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import bands, grid, usage
from tb_memory_plugin.views.tile.lives import lives

#: Groups that the page gives a colour of their own.
TOP = 16


def prepare(recording: Recording, device: Device, by: str) -> None:
    """Work out, and remember, what tiles and the curve grouped ``by`` need in any window."""
    axis = grid.axis(
        recording, device, "event" if event_times(recording, device) is None else "time"
    )
    lives(recording, device, by=by, top=TOP)
    usage.highest(recording, device, grid.bins(axis, None, None, 1))
    bands.bands(recording, device, by, "", TOP)
