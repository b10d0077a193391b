"""What answering questions brings into TensorBoard's process."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import REPOSITORY

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
print(wanted)
"""


def test_no_answer_imports_pandas() -> None:
    # It takes tens of MiB and half a second, in the middle of a request.
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
