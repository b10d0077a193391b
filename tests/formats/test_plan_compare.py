"""Two plans side by side, row by row against a walk of both, nothing lost beyond the rows."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis import plan_reading as reading
from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.plan_recording import plan_recording
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.readers import hlo
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import Category
from tb_memory_plugin.views import plan_compare

SUMS = ("bytes", "count", "other_bytes", "other_count")
PEAKS = (219_693_504, 32_477_232)


@pytest.fixture(scope="module")
def plans(shared_data: Path) -> list[Recording]:
    xla = shared_data / "xla"
    names = ("jit_train_step", "jit_generate")
    return [derive(hlo.read(xla / f"{name}.hlo_proto.pb")) for name in names]


def sides(plans: list[Recording]) -> list[tuple[Recording, Device]]:
    planned = [plan_recording(each) for each in plans]
    return [(each, each.devices[0]) for each in planned]


def label(row: dict[str, Any], by: str) -> str:
    if by == "category":
        return Category(row["category"]).label
    if by == "shape":
        return " ".join(filter(None, (row["dtype"], row["shape"])))
    found: str | None = row[{"kind": "region"}.get(by, by)]
    return found or "not known"


def walked(recording: Recording, by: str) -> dict[str, tuple[int, int]]:
    """Bytes and buffers alive at the peak of the only plan, by label."""
    (plan,) = reading.all_plans(recording)
    event = plan.numbers["peak_event"]
    found: dict[str, list[int]] = defaultdict(list)
    for row in plan_recording(recording).table("allocations").to_pylist():
        born = row["birth"] is None or row["birth"] <= event
        if born and (row["death"] is None or row["death"] > event):
            found[label(row, by)].append(row["size"])
    return {name: (sum(sizes), len(sizes)) for name, sizes in found.items()}


@pytest.mark.parametrize("by", list(plan_compare.BY))
def test_every_row_is_what_a_walk_of_both_plans_finds(plans: list[Recording], by: str) -> None:
    first, second = sides(plans)
    found = plan_compare.compared(first, second, by)
    mine, others = (walked(each, by) for each in plans)
    told = {row["label"]: tuple(row[name] for name in SUMS) for row in found["rows"]}
    assert told == {
        name: (*mine.get(name, (0, 0)), *others.get(name, (0, 0))) for name in {*mine, *others}
    }
    assert (found["bytes"], found["other_bytes"]) == PEAKS
    assert (found["count"], found["other_count"]) == (
        sum(count for _, count in mine.values()),
        sum(count for _, count in others.values()),
    )
    assert found["left_out"] == dict.fromkeys(("labels", *SUMS), 0)
    apart = [abs(row["bytes"] - row["other_bytes"]) for row in found["rows"]]
    assert apart == sorted(apart, reverse=True)
    same = plan_compare.compared(first, first, by)
    assert all(row["bytes"] == row["other_bytes"] for row in same["rows"])


def test_what_is_beyond_the_rows_is_counted_to_the_byte(
    plans: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = sides(plans)
    whole = plan_compare.compared(first, second, "name")
    monkeypatch.setattr(plan_compare, "MOST", 7)
    cut = plan_compare.compared(first, second, "name")
    assert cut["rows"] == whole["rows"][:7]
    assert cut["left_out"]["labels"] == len(whole["rows"]) - 7 > 100
    for name in SUMS:
        assert cut[name] == whole[name]
        assert cut["left_out"][name] == whole[name] - sum(row[name] for row in cut["rows"])
        assert cut["left_out"][name] > 0


def test_what_cannot_be_compared_by_is_refused(plans: list[Recording]) -> None:
    with pytest.raises(QueryError, match="cannot be compared by 'x'"):
        plan_compare.compared(*sides(plans), "x")
