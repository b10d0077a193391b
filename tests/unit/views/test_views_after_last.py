"""What is alive after the last event stays as it is, as long as the program is known to go on."""

from __future__ import annotations

import pyarrow as pa

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views.tile.window import tile
from tb_memory_plugin.views.usage import window
from tests.fixtures.histories import history
from tests.unit.views.tiles import drawn


def _recording() -> Recording:
    """Two are born and one is freed until 2000 ns, in a span that goes on until 10 000."""
    events = [("alloc", 512, 8), ("alloc", 1024, 64), ("free", 1024, 64)]
    span = {"track": "thread", "kind": "op", "name": "a", "begin": 0, "end": 10_000, "depth": 0}
    return derive(history(events, spans=[span]))


def test_the_curve_holds_its_last_value() -> None:
    recording = _recording()
    (device,) = recording.devices
    question = {"axis": "time", "begin": 0, "end": 10_000, "width": 20, "by": "stack"}
    rows = pa.ipc.open_stream(window(recording, device, **question)).read_all().to_pylist()
    assert rows[-1]["end"] >= 10_000
    after = {row["allocated"] for row in rows if row["begin"] > 2_000}
    assert after == {8}
    assert max(row["allocated"] for row in rows) == 72
    # Beyond what is known of the program there is nothing.
    question |= {"begin": 11_000, "end": 20_000}
    assert pa.ipc.open_stream(window(recording, device, **question)).read_all().num_rows == 0


def test_the_picture_shows_what_stays_alive() -> None:
    recording = _recording()
    (device,) = recording.devices
    columns = drawn(tile(recording, device, axis="time", level=8, index=0, by="stack"))
    assert len(columns) == -(-10_000 // 256)
    assert [(column.total, column.count) for column in columns[2_000 // 256 + 1 :]] == [(8, 1)] * (
        len(columns) - 2_000 // 256 - 1
    )
    assert {row for column in columns[10:] for row in column.rows} == {(0, 0, 8)}
