"""Step figures on the Scalars dashboard, and the user's own points beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.recorder import MemoryWriter
from tests.recorder.conftest import Said
from tests.recorder.loops import record

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
pytestmark = pytest.mark.usefixtures("every_step")

TAGS = {"memory/peak_allocated/cpu", "memory/end_allocated/cpu"}


def points(logdir: Path) -> dict[str, dict[str, list[tuple[int, float]]]]:
    """Scalars by run and tag, as TensorBoard's Scalars dashboard gets them."""
    from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
    from tensorboard.context import RequestContext

    multiplexer = plugin_event_multiplexer.EventMultiplexer(tensor_size_guidance={"scalars": 0})
    multiplexer.AddRunsFromDirectory(str(logdir))
    multiplexer.Reload()
    provider = data_provider.MultiplexerDataProvider(multiplexer, str(logdir))
    found = provider.read_scalars(
        RequestContext(), experiment_id="", plugin_name="scalars", downsample=10_000
    )
    return {
        run: {tag: [(datum.step, datum.value) for datum in data] for tag, data in tags.items()}
        for run, tags in found.items()
    }


def loop(memory: MemoryWriter, writer: Any, steps: int = 4) -> None:
    kept = []
    for step in range(steps):
        kept.append(torch.zeros(1000))
        writer.add_scalar("loss", step * 0.5, step)
        memory.step()


def test_without_a_writer_points_go_into_a_subrun(tmp_path: Path, said: Said) -> None:
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path / "run")) as writer:
        record(tmp_path / "run", lambda memory: loop(memory, writer), scalars=True)
    found = points(tmp_path)
    assert found["run"] == {"loss": [(step, step * 0.5) for step in range(4)]}
    assert set(found["run/memory"]) == TAGS
    assert found["run/memory"]["memory/end_allocated/cpu"] == [
        (step, 4000.0 * (step + 1)) for step in range(4)
    ]
    assert said() == []


def test_with_a_writer_points_share_its_event_file(tmp_path: Path) -> None:
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path / "run")) as writer:
        record(tmp_path / "run", lambda memory: loop(memory, writer), writer=writer, scalars=True)
    found = points(tmp_path)
    assert set(found) == {"run"}
    assert set(found["run"]) == {"loss", *TAGS}
    assert found["run"]["loss"] == [(step, step * 0.5) for step in range(4)]
    assert [step for step, _ in found["run"]["memory/peak_allocated/cpu"]] == [0, 1, 2, 3]
    assert len(list(tmp_path.rglob("*tfevents*"))) == 1


def test_points_are_of_the_kind_that_every_data_server_reads(tmp_path: Path) -> None:
    """The default data server drops doubles, so a point must be a simple value (float32)."""
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    record(tmp_path, lambda memory: (torch.zeros(9), memory.step()), scalars=True)
    (file,) = (tmp_path / "memory").glob("*tfevents*")
    values = [v for event in LegacyEventFileLoader(str(file)).Load() for v in event.summary.value]
    assert len(values) == 2
    assert all(value.WhichOneof("value") == "simple_value" for value in values)


def test_ranks_have_event_files_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Nothing:
        def add_scalar(self, *_: Any) -> None:
            """The user's points are not in question."""

    for rank in ("0", "1"):
        monkeypatch.setenv("RANK", rank)
        record(tmp_path / "run", lambda memory: loop(memory, Nothing()), scalars=True)
    found = points(tmp_path)
    assert set(found) == {"run/memory", "run/memory/r1"}
    for folder in (tmp_path / "run" / "memory", tmp_path / "run" / "memory" / "r1"):
        assert len(list(folder.glob("*tfevents*"))) == 1


def test_a_writer_that_fails_stops_scalars_only(tmp_path: Path, said: Said) -> None:
    class Broken:
        def add_scalar(self, tag: str, value: Any, step: int) -> None:
            raise OSError("the disk is full")

    class Nothing:
        def add_scalar(self, *_: Any) -> None:
            """The user's points are not in question."""

    recorded = record(
        tmp_path, lambda memory: loop(memory, Nothing()), writer=Broken(), scalars=True
    )
    (message,) = said()
    assert "writing scalars failed (OSError: the disk is full)" in message
    assert len([row for row in recorded.rows("spans") if row["kind"] == "step"]) == 4
    assert len([row for row in recorded.lives if row["size"] == 4000]) == 4
