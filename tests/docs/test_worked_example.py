"""The reader in CONTRIBUTING.md, compiled and run as a newcomer would have it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import registry
from tests.conftest import REPOSITORY

GUIDE = (REPOSITORY / "CONTRIBUTING.md").read_text()


def example(name: str) -> str:
    """The text of the example that the guide calls ``name``."""
    found = re.search(rf"<!-- example: {re.escape(name)} -->\n```\w+\n(.*?)```\n", GUIDE, re.DOTALL)
    assert found, f"CONTRIBUTING.md has no example {name}"
    return found[1]


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The example as a module, in the registry."""
    file = tmp_path / "alloclog.py"
    file.write_text(example("alloclog.py"))
    spec = importlib.util.spec_from_file_location("tb_memory_plugin.readers.alloclog", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(registry, "READERS", (*registry.READERS, module))
    return module


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The log of the example, as a file."""
    path = tmp_path / "pool.alloclog.csv"
    path.write_text(example("pool.alloclog.csv"))
    return path


def test_the_example_is_found_by_the_registry_and_reads_its_log(
    reader: ModuleType, log: Path
) -> None:
    head = log.read_bytes()[:64]
    found = registry.reader_of(log.name, head)
    assert found is reader
    assert found.probe(log) == {"bytes": log.stat().st_size}
    phases: list[tuple[float, str]] = []
    recording = found.read(log, lambda part, phase: phases.append((part, phase)))
    assert phases[-1] == (1.0, "reading")
    device = facts(derive(recording))["devices"]["0"]
    assert device["events"] == 4
    assert (device["allocs"], device["frees"]) == (3, 1)
    assert device["allocated_start"] == 0
    assert device["allocated_peak"] == 4096 + 2048
    assert device["allocated_peak_event"] == 3
    assert device["allocated_end"] == 4096 + 2048
    assert device["distinct_stacks"] == 3


@pytest.mark.parametrize("line", ["1,alloc,0x1,many,f a.py:1", "1,move,0x1,8,", "1,alloc"])
def test_the_example_says_which_line_is_wrong(reader: ModuleType, log: Path, line: str) -> None:
    log.write_text(log.read_text() + line + "\n")
    with pytest.raises(SourceError, match=r"pool\.alloclog\.csv: line 6 is not"):
        reader.read(log)


def test_the_example_leaves_other_formats_to_other_readers(reader: ModuleType) -> None:
    assert not reader.matches("snapshot.pickle", b"\x80\x04")
