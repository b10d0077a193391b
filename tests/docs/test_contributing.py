"""The reader of CONTRIBUTING.md compiles, is found by the registry, and gives right facts."""

from __future__ import annotations

import re
import types
from pathlib import Path

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import registry
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.once

LOG = """time_ns,action,address,bytes
1000,alloc,0x100,4096
2000,alloc,0x200,50
3000,free,0x100,4096
"""


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """The module that the page shows, registered as it says."""
    text = (REPOSITORY / "CONTRIBUTING.md").read_text()
    found = re.search(
        r"<!-- begin example -->\n```python\n(.*?)```\n<!-- end example -->", text, re.S
    )
    assert found
    module = types.ModuleType("csv_log")
    exec(compile(found[1], "CONTRIBUTING.md", "exec"), module.__dict__)
    monkeypatch.setattr(registry, "READERS", (*registry.READERS, module))
    return module


def test_a_file_becomes_facts(example: types.ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(LOG)

    reader = registry.reader_of(path.name, path.read_bytes()[:100])
    assert reader is example
    device = facts(derive(reader.read(path)))["devices"]["0"]
    assert (device["events"], device["allocs"], device["frees"]) == (3, 2, 1)
    assert (device["allocated_peak"], device["allocated_peak_event"]) == (4146, 1)
    assert device["allocated_end"] == 50


def test_a_broken_file_is_one_sentence(example: types.ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(LOG + "4000,alloc,nowhere,1\n")

    with pytest.raises(SourceError, match=r"log\.csv: has a line that makes no sense"):
        example.read(path)
