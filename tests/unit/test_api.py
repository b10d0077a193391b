"""``tb_memory_plugin.load`` and what it gives."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import tb_memory_plugin
from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.api import LoadedRecording
from tb_memory_plugin.errors import QueryError, SourceError
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.fixtures.training import training


def loaded() -> LoadedRecording:
    return LoadedRecording(training())


def test_a_snapshot_comes_with_tables_and_facts(tmp_path: Path) -> None:
    path = write_pickle(snapshot(events=300), tmp_path / "snapshot.pickle")
    for given in (path, str(path)):
        found = tb_memory_plugin.load(given)
        assert found.format == "torch_snapshot"
        assert found.table("events").num_rows == 300
        assert found.devices["0"].events == 300
    with pytest.raises(SourceError):
        tb_memory_plugin.load(tmp_path / "nowhere.pickle")


def test_facts_are_items_and_attributes() -> None:
    found = loaded()
    expected = facts(training())
    device = found.devices["0"]
    assert found.facts == expected
    assert found.annotations == expected["annotations"]
    assert dict(device) == {"key": "0", "name": "cuda:0", **expected["devices"]["0"]}
    for name, value in device.items():
        assert getattr(device, name) == value
        assert name in dir(device)
    with pytest.raises(AttributeError, match="no fact 'mood'"):
        _ = device.mood


def test_tables_by_name() -> None:
    found = loaded()
    assert isinstance(found.table("allocations"), pa.Table)
    assert {"events", "allocations", "usage", "segment_lives"} <= set(found.tables)
    with pytest.raises(QueryError, match="no table 'moods'; there are allocations"):
        found.table("moods")


def test_a_breakdown_is_what_the_command_line_prints() -> None:
    found = loaded().breakdown("category", at="event:5")
    assert found["total_bytes"] == 2512
    assert found["groups"][0] == {
        "key": "parameter",
        "label": "parameter",
        "bytes": 1000,
        "count": 1,
        "sums": 0,
        "largest": 1000,
        "oldest_event": None,
        "oldest_time": None,
        "oldest_step": None,
    }
    assert loaded().breakdown(device="1")["total_bytes"] == 5


def test_pandas_keeps_integers_whole() -> None:
    import pandas

    frame = loaded().to_pandas("allocations")
    assert isinstance(frame, pandas.DataFrame)
    assert frame["death"].dtype == pandas.Int64Dtype()
    assert frame["address"].iloc[0] == 0x1000
    assert frame["death"].isna().sum() == 5


def test_the_package_offers_what_it_says() -> None:
    assert set(tb_memory_plugin.__all__) <= set(dir(tb_memory_plugin))
    with pytest.raises(AttributeError, match="no attribute 'moods'"):
        _ = tb_memory_plugin.moods  # type: ignore[attr-defined]
