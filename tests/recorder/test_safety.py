"""Nothing the recorder does, or that is done to it, reaches the training loop."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.recorder import MemoryWriter
from tb_memory_plugin.recorder.profiler.engine import ProfilerEngine
from tests.recorder.conftest import Said
from tests.recorder.loops import read, record

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")

REPOSITORY = Path(__file__).parents[2]


def python(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """``program`` run by a new Python with this repository's package."""
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        check=False,
    )


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit])
def test_exceptions_of_the_loop_pass_unchanged(
    tmp_path: Path, said: Said, kind: type[BaseException]
) -> None:
    thrown = kind("mine")
    memory = MemoryWriter(tmp_path, scalars=False)
    kept = None
    with pytest.raises(kind) as caught, memory, memory.annotate("doomed"):
        kept = torch.zeros(1003)
        raise thrown
    assert caught.value is thrown
    assert caught.value.__context__ is None
    assert not torch.autograd._profiler_enabled()
    assert gc.isenabled()
    recorded = read(memory.files[0])
    (row,) = [row for row in recorded.lives if row["size"] == 4012]
    assert row["annotation"] == "doomed"
    assert said() == []
    assert kept is not None


def test_an_engine_that_breaks_is_one_warning_and_keeps_what_it_has(
    tmp_path: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tb_memory_plugin.recorder.profiler.engine.CHUNK_SECONDS", 0.0)
    take, calls = ProfilerEngine._take, []

    def breaks(self: ProfilerEngine, *arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise RuntimeError("a new version of torch")
        take(self, *arguments)

    monkeypatch.setattr(ProfilerEngine, "_take", breaks)
    with MemoryWriter(tmp_path, scalars=False) as memory:
        kept = []
        for _ in range(6):
            kept.append(torch.zeros(1003))
            memory.step()
    (message,) = said()
    assert "recording a step failed (RuntimeError: a new version of torch)" in message
    assert not torch.autograd._profiler_enabled()
    assert gc.isenabled()
    assert len([row for row in read(memory.files[0]).lives if row["size"] == 4012]) == 2


def test_warnings_turned_into_errors_do_not_reach_the_loop(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        memory = MemoryWriter(tmp_path)
        memory.step()
        memory.track(None)
        assert memory.dump("x") is None


def test_use_outside_of_the_context_does_nothing(tmp_path: Path, said: Said) -> None:
    memory = MemoryWriter(tmp_path)
    memory.step()
    with memory.annotate("nothing"):
        pass
    memory.track(torch.nn.Linear(2, 2))
    assert memory.dump("nothing") is None
    memory.close()
    (message,) = said()
    assert "step() was called outside of its with block" in message
    assert list(tmp_path.iterdir()) == []


def test_after_closing_it_does_nothing(tmp_path: Path, said: Said) -> None:
    with MemoryWriter(tmp_path, scalars=False) as memory:
        kept = torch.zeros(1003)
        memory.close()
        before = memory.files[0].read_bytes()
        memory.step()
        memory.close()
    assert memory.files[0].read_bytes() == before
    assert len(said()) == 1
    assert kept is not None


def test_a_writer_is_entered_once(tmp_path: Path, said: Said) -> None:
    with MemoryWriter(tmp_path, scalars=False) as memory, memory:
        kept = torch.zeros(1003)
    assert "entered once only" in said()[0]
    assert any(row["size"] == 4012 for row in read(memory.files[0]).lives)
    assert kept is not None


def test_a_writer_within_a_writer_says_so(tmp_path: Path, said: Said) -> None:
    with MemoryWriter(tmp_path / "outer", scalars=False) as outer:
        with MemoryWriter(tmp_path / "inner", scalars=False) as inner:
            kept = torch.zeros(1003)
            inner.step()
        outer.step()
    (message,) = said()
    assert "another torch profiler is running" in message
    assert inner.files == []
    assert any(row["size"] == 4012 for row in read(outer.files[0]).lives)
    assert kept is not None


def test_a_profiler_that_runs_already_is_left_alone(tmp_path: Path, said: Said) -> None:
    with torch.profiler.profile() as theirs, MemoryWriter(tmp_path, scalars=False) as memory:
        torch.ones(7) + 1
        memory.step()
    assert any(event.name == "aten::add" for event in theirs.events())
    (message,) = said()
    assert "another torch profiler is running" in message


@pytest.mark.parametrize("still_on", [False, True])
def test_a_profiler_that_comes_later_gets_its_events(
    tmp_path: Path, said: Said, monkeypatch: pytest.MonkeyPatch, still_on: bool
) -> None:
    monkeypatch.setattr("tb_memory_plugin.recorder.profiler.engine.CHUNK_SECONDS", 0.0)
    theirs = torch.profiler.profile()
    with MemoryWriter(tmp_path, scalars=False) as memory:
        kept = torch.zeros(1003)
        memory.step()
        theirs.__enter__()
        torch.ones(7) + 1
        if not still_on:
            theirs.__exit__(None, None, None)
        memory.step()
        memory.step()
    if still_on:
        torch.ones(7) * 2
        theirs.__exit__(None, None, None)
    names = {event.name for event in theirs.events()}
    assert "aten::add" in names
    assert ("aten::mul" in names) == still_on
    (message,) = said()
    assert "another torch profiler was started" in message
    recorded = read(memory.files[0])
    (row,) = [row for row in recorded.lives if row["size"] == 4012]
    assert row["death"] is None
    assert any("another torch" in entry["why"] for entry in recorded.recording.meta["missing"])
    assert kept is not None


def test_a_limit_ends_the_recording(
    tmp_path: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tb_memory_plugin.recorder.profiler.engine.CHUNK_SECONDS", 0.0)
    with MemoryWriter(tmp_path, scalars=False, max_events=50) as memory:
        for _ in range(20):
            for _ in range(5):
                torch.zeros(1003)
            memory.step()
    assert not torch.autograd._profiler_enabled()
    (message,) = said()
    assert "limit of 50 events" in message
    recorded = read(memory.files[0])
    assert len(recorded.rows("events")) == 50
    assert any("max_events" in entry["why"] for entry in recorded.recording.meta["missing"])


@pytest.mark.usefixtures("every_step")
def test_a_recording_that_has_ended_is_written_then(tmp_path: Path) -> None:
    """The job may be killed long after."""
    with MemoryWriter(tmp_path, scalars=False, max_events=50, refresh_seconds=1e9) as memory:
        for _ in range(20):
            for _ in range(5):
                torch.zeros(1003)
            memory.step()
        assert len(read(memory.files[0]).rows("events")) == 50


@pytest.mark.usefixtures("every_step")
def test_operators_without_allocations_end_it_too(tmp_path: Path, said: Said) -> None:
    with MemoryWriter(tmp_path, scalars=False, max_events=10) as memory:
        kept = torch.zeros(1003)
        for _ in range(20):
            for _ in range(5):
                kept.neg_()
            memory.step()
    assert not torch.autograd._profiler_enabled()
    (message,) = said()
    assert "holds 4 × 10 operators (max_events)" in message
    spans = [row["kind"] for row in read(memory.files[0]).rows("spans")]
    assert 40 <= spans.count("op") < 50


@pytest.mark.parametrize("number", [-1, 1 << 63, 2.5, "seven"])
def test_what_is_no_number_of_a_step_is_counted_on(number: Any, tmp_path: Path, said: Said) -> None:
    with MemoryWriter(tmp_path, scalars=False) as memory:
        kept = [torch.zeros(10)]
        memory.step(3_000_000_000)  # samples or tokens, which some programs count
        kept.append(torch.zeros(10))
        memory.step(number)
    spans = read(memory.files[0]).rows("spans")
    steps = [span["step"] for span in spans if span["kind"] == "step"]
    assert steps == [3_000_000_000, 3_000_000_001]
    (warning,) = said()
    assert "step() takes a whole number from 0 on" in warning
    del kept


def test_steps_from_another_thread_are_counted(tmp_path: Path, said: Said) -> None:
    with MemoryWriter(tmp_path, scalars=False) as memory:
        kept = torch.zeros(1003)
        thread = threading.Thread(target=memory.step)
        thread.start()
        thread.join()
    recorded = read(memory.files[0])
    assert [row["step"] for row in recorded.rows("spans") if row["kind"] == "step"] == [0]
    assert any(row["size"] == 4012 for row in recorded.lives)
    assert said() == []
    assert kept is not None


def test_copies_do_nothing(tmp_path: Path, said: Said) -> None:
    with MemoryWriter(tmp_path, scalars=False) as memory:
        for twin in (pickle.loads(pickle.dumps(memory)), copy.deepcopy(memory)):
            with twin, twin.annotate("nothing"):
                twin.step()
                twin.track(torch.nn.Linear(2, 2))
                assert twin.dump("nothing") is None
        kept = torch.zeros(1003)
    assert any(row["size"] == 4012 for row in read(memory.files[0]).lives)
    assert len(memory.files) == 1
    assert said() == []
    assert kept is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_records_nothing(tmp_path: Path) -> None:
    program = """
import os, sys, torch
from tb_memory_plugin.recorder import MemoryWriter
with MemoryWriter(sys.argv[1], scalars=False) as memory:
    kept = torch.zeros(1003)
    child = os.fork()
    if child == 0:
        assert not torch.autograd._profiler_enabled()
        assert sys.getprofile() is None
        mine = torch.zeros(2003)
        memory.step()
        memory.dump("child")
        memory.close()
        os._exit(3 if memory.files else 0)
    assert os.waitpid(child, 0)[1] == 0
    memory.step()
print(*memory.files, sep="\\n")
"""
    done = python(program, tmp_path)
    assert done.returncode == 0, done.stderr
    (file,) = done.stdout.split()
    assert [str(path) for path in tmp_path.rglob("*.tbmem")] == [file]
    sizes = {row["size"] for row in read(Path(file)).lives}
    assert 4012 in sizes
    assert 8012 not in sizes


def test_workers_of_a_data_loader_are_left_alone(tmp_path: Path) -> None:
    program = """
import sys, torch
from torch.utils.data import DataLoader, Dataset
from tb_memory_plugin.recorder import MemoryWriter

class Numbers(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, place):
        assert not torch.autograd._profiler_enabled()
        return torch.full((1003,), float(place))

with MemoryWriter(sys.argv[1], scalars=False) as memory:
    total = 0.0
    for batch in DataLoader(Numbers(), batch_size=2, num_workers=2):
        total += batch.sum().item()
        memory.step()
assert total == 28 * 1003, total
print(*memory.files, sep="\\n")
"""
    done = python(program, tmp_path)
    assert done.returncode == 0, done.stderr
    (file,) = done.stdout.split()
    assert [str(path) for path in tmp_path.rglob("*.tbmem")] == [file]
    assert "RecorderWarning" not in done.stderr


def test_without_torch_it_says_so_and_lets_the_loop_run(tmp_path: Path) -> None:
    program = """
import sys
sys.modules["torch"] = None
from tb_memory_plugin import MemoryWriter
with MemoryWriter(sys.argv[1]) as memory:
    with memory.annotate("work"):
        memory.step()
print("done")
"""
    done = python(program, tmp_path)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert done.stderr.count("RecorderWarning") == 1
    assert "torch cannot be imported" in done.stderr
    assert list(tmp_path.rglob("*")) == []


def test_importing_it_imports_neither_torch_nor_tensorboard_nor_readers() -> None:
    program = """
import sys
from tb_memory_plugin import MemoryWriter
MemoryWriter("run")
heavy = ("torch", "tensorboard", "tensorflow", "tb_memory_plugin.readers")
print([name for name in heavy if name in sys.modules])
"""
    done = python(program)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_writing_imports_nothing_into_the_job_that_it_did_not_have(tmp_path: Path) -> None:
    """Arrow imports pandas, where it is installed, to make an array of some of NumPy's."""
    program = """
import sys, torch
from tb_memory_plugin.recorder import MemoryWriter
with MemoryWriter(sys.argv[1], scalars=False) as memory:
    kept = torch.zeros(1003)
    memory.step()
    memory.dump("again")
heavy = ("pandas", "tensorboard", "tensorflow", "tb_memory_plugin.readers")
print([name for name in heavy if name in sys.modules])
"""
    done = python(program, tmp_path)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_it_is_quiet_on_the_terminal(tmp_path: Path) -> None:
    """Torch's profiler logs two lines at every start and end, unless it is told not to."""
    program = """
import sys, torch
from tb_memory_plugin.recorder import MemoryWriter
with MemoryWriter(sys.argv[1], scalars=False) as memory:
    kept = torch.zeros(1003)
    memory.step()
"""
    done = python(program, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_unknown_engine_is_named(tmp_path: Path, said: Said) -> None:
    recorded = record(tmp_path, lambda _: torch.zeros(1003), engines=("profiler", "crystal ball"))
    (message,) = said()
    assert "no engine 'crystal ball'; there are allocator, profiler" in message
    assert any(row["size"] == 4012 for row in recorded.lives)
