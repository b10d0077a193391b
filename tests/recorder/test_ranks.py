"""Real jobs of two ranks: what they record and trace is put into sessions, job by job."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tb_memory_plugin.store.discovery import walk
from tb_memory_plugin.store.probing import Probes
from tb_memory_plugin.store.roots import Root
from tb_memory_plugin.store.sessions import sessions

pytest.importorskip("torch")

REPOSITORY = Path(__file__).parents[2]

JOB = """
import sys
from pathlib import Path
import torch
import torch.distributed as distributed
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler
from tb_memory_plugin import MemoryWriter

rank, folder, meeting = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
model = torch.nn.Linear(8, 8)

def step():
    model(torch.randn(16 * (rank + 1), 8)).sum().backward()
    distributed.barrier()

with MemoryWriter(folder / "recorded") as memory:
    for _ in range(3):
        step()
        memory.step()
with profile(
    activities=[ProfilerActivity.CPU],
    profile_memory=True,
    schedule=schedule(wait=1, warmup=1, active=1, repeat=2),
    on_trace_ready=tensorboard_trace_handler(str(folder / "traced"), use_gzip=True),
) as profiler:
    for _ in range(7):
        step()
        profiler.step()
distributed.destroy_process_group()
"""


def run(folder: Path, meeting: Path) -> None:
    """A job from its beginning to its end."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", JOB, str(rank), str(folder), str(meeting)],
            cwd=REPOSITORY,
            stderr=subprocess.PIPE,
        )
        for rank in range(2)
    ]
    for process in processes:
        _, complaints = process.communicate(timeout=600)
        assert process.returncode == 0, complaints.decode()[-2000:]


@pytest.mark.frameworks
def test_every_job_and_every_capture_is_a_session_of_its_ranks(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    for job in range(2):
        run(folder, tmp_path / f"meeting{job}")
    found = list(walk(Root(str(folder)), Probes(), lambda: None))
    places = sessions(found)
    by_run: dict[str, dict[str, list[tuple[str, int | None]]]] = {}
    for one in found:
        place = places[one.id]
        hosts = by_run.setdefault(one.run, {}).setdefault(place.session.label, [])
        hosts.append((place.host, place.rank))
    ranks = [("rank 0", 0), ("rank 1", 1)]
    assert {
        run: {label: sorted(hosts) for label, hosts in each.items()} for run, each in by_run.items()
    } == {
        "recorded": {f"*.tbmem · capture {job}": ranks for job in (1, 2)},
        "traced": {f"*.pt.trace.json.gz · capture {turn}": ranks for turn in (1, 2, 3, 4)},
    }
    # No capture has recordings of both jobs: each is over before the next begins.
    ends = {}
    for one in found:
        ends.setdefault(places[one.id].session, []).append((one.begin_ns, one.stat.modified_ns))
    for spans in ends.values():
        assert max(begin for begin, _ in spans) < min(end for _, end in spans)
