"""Several processes that record into one run at once: no event file has a second beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tb_memory_plugin.recorder import claim
from tb_memory_plugin.recorder.engine import StepUsage
from tb_memory_plugin.recorder.place import host
from tb_memory_plugin.recorder.scalars import Scalars

pytest.importorskip("tensorboard")

REPOSITORY = Path(__file__).parents[2]

#: A job that says when it has written its first points, and goes on until its input ends.
JOB = """
import sys
from tb_memory_plugin.recorder import MemoryWriter, engine

class Counting:
    suffix, counts = "", True
    def __init__(self): self.found = []
    @classmethod
    def create(cls, session): return [cls()]
    def start(self): return True
    def step(self, step):
        self.found.append(engine.StepUsage(step.step, "cpu", 5, 4))
        return True
    def annotate(self, name): return None
    def collect(self): return None
    def usage(self):
        found, self.found = self.found, []
        return found
    def out_of_memory(self, text, values): pass
    pause = resume = stop = forget = lambda self: None

engine.ENGINES["counting"] = ("__main__", "Counting")
with MemoryWriter(sys.argv[1], engines=("counting",)) as memory:
    memory.step()
    print("ready", flush=True)
    sys.stdin.read()
    memory.step()
"""

RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")


@contextmanager
def job(logdir: Path, rank: str | None) -> Iterator[subprocess.Popen[str]]:
    """A process that records into ``logdir`` until this context is left."""
    environment = {name: value for name, value in os.environ.items() if name not in RANKS}
    environment |= {"PYTHONPATH": str(REPOSITORY)} | ({"RANK": rank} if rank else {})
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", JOB, str(logdir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        yield process
        process.communicate("", timeout=300)
        assert process.returncode == 0
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=60)


def folders(run: Path) -> list[str]:
    """The folders of the event files below ``run``, each as often as it has some."""
    return sorted(str(path.parent.relative_to(run)) for path in run.rglob("*tfevents*"))


@pytest.mark.parametrize("ranks", [(None, None), ("0", "1"), (None, "0", "1", "1")])
def test_processes_at_once_have_event_files_of_their_own(
    tmp_path: Path, ranks: tuple[str | None, ...]
) -> None:
    with ExitStack() as running:
        jobs = [running.enter_context(job(tmp_path, rank)) for rank in ranks]
        for each in jobs:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        found = folders(tmp_path)
        assert len(found) == len(set(found)) == len(ranks)
        assert "memory" in found
        assert ("memory/r1" in found) == ("1" in ranks)
    assert folders(tmp_path) == found
    assert all(not path.name.startswith(".") for path in tmp_path.rglob("*"))


def test_one_after_another_go_on_in_the_same_place(tmp_path: Path) -> None:
    """The one that was killed before does not hold it."""
    with pytest.raises(AssertionError), job(tmp_path, None) as first:
        assert first.stdout is not None
        first.stdout.readline()
        first.kill()
    with job(tmp_path, None):
        pass
    assert folders(tmp_path) == ["memory", "memory"]


def test_two_writers_of_one_process_have_folders_of_their_own(tmp_path: Path) -> None:
    """Also when one of them has ended and another begins."""
    first, second, third = (Scalars(tmp_path, None, 0) for _ in range(3))
    usage = [StepUsage(0, "cpu", 5, 4)]
    first.write(usage)
    second.write(usage)
    below = f"memory/{host()}.{os.getpid()}"
    assert folders(tmp_path) == ["memory", below]
    first.close()
    third.write(usage)
    assert folders(tmp_path) == ["memory", "memory", below]
    second.close()
    third.close()


def test_without_locks_every_process_has_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claim, "_locked", lambda _: False)
    for _ in range(2):
        scalars = Scalars(tmp_path, None, 3)
        scalars.write([StepUsage(0, "cpu", 5, 4)])
        scalars.close()
    own = f"memory/r3/{host()}.{os.getpid()}"
    assert folders(tmp_path) == [own, f"{own}.2"]
