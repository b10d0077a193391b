"""What answering questions brings into TensorBoard's process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.readers import hlo
from tb_memory_plugin.recording.recording import save
from tests.conftest import REPOSITORY
from tests.fixtures.hlo import heap

#: Asks everything once and prints who wanted pandas, which Arrow imports at the slightest cause.
_PROGRAM = """
import sys

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            wanted.append(name)
            raise ImportError(name)

wanted = []
sys.meta_path.insert(0, Watch())

from tb_memory_plugin.analysis.grouping import GROUPINGS
from tb_memory_plugin.views import allocation, breakdown, csv, events, summary, tracks, usage
from tb_memory_plugin.views import flame, flame_files, lives, modules, operators, source_lines
from tests.fixtures.training import training

recording = training()
device = recording.devices[0]
for by in GROUPINGS:
    pattern = "model,/x/" if by == "pattern" else ""
    question = {"by": by, "pattern": pattern, "filter": "size>1 stream:0 /f/ category:unknown"}
    usage.window(recording, device, axis="time", width=100, by=by, pattern=pattern)
    breakdown.page(recording, device, **question, sort="label")
    breakdown.allocations(recording, device, **question, sort="label")
allocation.card(recording, "3")
tracks.window(recording, device, axis="time", width=100)
summary.summary(recording, version="1", run="r", name="n")
summary.brief(recording)
flame.page(recording, device, folded=True, filter=question["filter"], find="model -linear")
"".join(flame_files.speedscope(recording, device))
source_lines.page(recording, device, of="lifetime")
lives.page(recording, device, filter=question["filter"], sort="label")
"".join(lives.whole(recording, device, sort="-duration"))
operators.page(recording, device, find="/mm/")
events.page(recording, device, details=True)
modules.page(recording, device, find="/f/", at="peak")
"".join(csv.allocations(recording, device, by="op"))

from pathlib import Path
from tb_memory_plugin.analysis import plan_reading, plan_tree
from tb_memory_plugin.analysis.plan_recording import plan_recording
from tb_memory_plugin.recording.recording import open_recording
from tb_memory_plugin.views import buffers, plan_bars, plan_buffers, plan_compare
from tb_memory_plugin.views import plan_overview, plan_svg, plans
recording = open_recording(Path(sys.argv[1]))
planned = plan_recording(recording)
(plan,), (device,) = plan_reading.all_plans(recording), planned.devices
plan_overview.overview(recording, plan)
plan_bars.bars(recording, plan, 1, by="category")
plan_buffers.curve(recording, plan, 0, 6, 100)
plan_buffers.card(recording, 0)
plan_compare.compared((planned, device), (planned, device), "shape")
"".join(plan_svg.drawing(recording, plan))
plans.modules(recording)
buffers.alive(recording, plan, 1)
allocation.card(planned, "0")
print(wanted)
"""


def test_no_answer_imports_pandas(tmp_path: Path) -> None:
    # It takes tens of MiB and half a second, in the middle of a request.
    # A child process reads, in which nobody finds pandas.
    source, read = tmp_path / "jit_f.hlo_proto.pb", tmp_path / "read.tbmem"
    source.write_bytes(heap([8, 16, 32], "+1 +2 3=1 -1 -2 -3").bytes())
    save(derive(hlo.read(source)), read)
    command = [sys.executable, "-c", _PROGRAM, str(read)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
