"""Where recordings go, what they are called, and that they are whole or not there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tb_memory_plugin.recorder import MemoryWriter, place
from tb_memory_plugin.recorder.refresh import SHARE, Refresh
from tb_memory_plugin.recording.recording import open_recording
from tests.recorder.conftest import Said
from tests.recorder.loops import read, record

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")

REPOSITORY = Path(__file__).parents[2]


def step(memory: MemoryWriter) -> None:
    torch.zeros(10)
    memory.step()


def test_the_name_says_host_rank_and_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "3")
    recorded = record(tmp_path / "run", step)
    assert recorded.path.parent == tmp_path / "run" / "plugins" / "memory"
    assert recorded.path.name == f"{place.host()}.r3.{os.getpid()}.tbmem"
    meta = recorded.recording.meta
    assert (meta["rank"], meta["pid"], meta["host"]) == (3, os.getpid(), place.host())
    assert meta["source"] == recorded.path.name
    assert meta["live"] is False


@pytest.mark.parametrize(
    ("variable", "value", "rank"),
    [("RANK", "2", 2), ("SLURM_PROCID", "5", 5), ("RANK", "none", None), ("OTHER", "1", None)],
)
def test_ranks(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, rank: int | None
) -> None:
    for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, value)
    assert place.rank() == rank


def test_the_process_group_knows_better_than_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch.distributed

    monkeypatch.setenv("RANK", "7")
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 4)
    assert place.rank() == 4


def test_a_second_writer_takes_another_name(tmp_path: Path) -> None:
    first = record(tmp_path, step)
    second = record(tmp_path, step)
    named = record(tmp_path, step, name="warm up/2")
    names = [recorded.path.name for recorded in (first, second, named)]
    base = f"{place.host()}.r0.{os.getpid()}"
    assert names == [f"{base}.tbmem", f"{base}.2.tbmem", f"{base}.warm-up-2.tbmem"]


def test_dump_writes_what_is_held_so_far(tmp_path: Path) -> None:
    with MemoryWriter(tmp_path, scalars=False) as memory:
        kept = [torch.zeros(101)]
        dumped = memory.dump("half way")
        kept.append(torch.zeros(103))
    assert dumped is not None
    assert dumped.name.endswith(".half-way.tbmem")
    sizes = {row["size"] for row in read(dumped).lives}
    assert 404 in sizes
    assert 412 not in sizes
    whole = {row["size"] for row in read(memory.files[-1]).lives}
    assert {404, 412} <= whole
    assert len(kept) == 2


def test_a_live_run_can_be_read(tmp_path: Path) -> None:
    with MemoryWriter(tmp_path, scalars=False, refresh_seconds=0.0) as memory:
        kept = torch.zeros(101)
        memory.step()
        first = read(memory.files[0])
        assert [row["size"] for row in first.lives] == [404]
        assert first.recording.meta["live"] is True
        del kept
    assert read(memory.files[0]).recording.meta["live"] is False


@pytest.mark.once
def test_no_writer_leaves_half_a_file_behind(tmp_path: Path) -> None:
    """Killed at any moment, what is there under a recording's name is a whole recording."""
    program = """
import os, random, signal, sys, time
from pathlib import Path
import torch
from tb_memory_plugin.recorder import MemoryWriter
from tb_memory_plugin.recording import recording  # what every child needs

for number in range(12):
    logdir = Path(sys.argv[1], str(number))
    child = os.fork()
    if child == 0:
        with MemoryWriter(logdir, scalars=False) as memory:
            kept = [torch.zeros(n) for n in range(1, 2000)]
            while True:
                memory.dump("again")
    while not list(logdir.rglob("*.tbmem")):
        time.sleep(0.001)
    time.sleep(random.Random(number).uniform(0.0, 0.1))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""
    subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        check=True,
        timeout=300,
    )
    files = list(tmp_path.rglob("*.tbmem"))
    assert len(files) == 12
    for file in files:
        assert len(open_recording(file).table("events")) >= 1999


def test_a_folder_that_cannot_be_written_is_one_warning(tmp_path: Path, said: Said) -> None:
    blocked = tmp_path / "run"
    blocked.write_text("a file where the run's folder should be")
    with MemoryWriter(blocked, scalars=False) as memory:
        for _ in range(3):
            step(memory)
    assert memory.files == []
    assert len(said()) == 1


def test_a_remote_folder_is_one_warning(said: Said) -> None:
    with MemoryWriter("gs://bucket/run") as memory:
        step(memory)
    (message,) = said()
    assert "not a local folder" in message


def test_writing_takes_a_bounded_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that takes longer and longer is written more and more rarely."""
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    refresh = Refresh(seconds=1.0)
    written = spent = 0.0
    for _ in range(100_000):
        now += 0.1
        if refresh.due():
            began = now
            took = 0.001 * (now - 1000.0)  # grows with the recording
            now += took
            refresh.wrote(began)
            written += 1
            spent += took
    assert spent <= (now - 1000.0) / SHARE + 1.0
    assert 1 < written < 1000
