"""Which file is read by what, told by its name and first bytes."""

from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import torch_snapshot
from tb_memory_plugin.readers.registry import READERS, reader_of
from tests.fixtures.snapshots import snapshot, write_json, write_pickle

SNAPSHOT = snapshot(events=60)
PICKLED = pickle.dumps(SNAPSHOT)
JSON = json.dumps(SNAPSHOT).encode()


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("snapshot.pickle", b"", "torch_snapshot"),
        ("SNAPSHOT.PKL", b"whatever", "torch_snapshot"),
        ("rank0.pickle.gz", b"", "torch_snapshot"),
        ("dump", PICKLED[:4096], "torch_snapshot"),
        ("dump.bin", gzip.compress(PICKLED, mtime=0)[:4096], "torch_snapshot"),
        ("memory.json", JSON[:4096], "torch_snapshot"),
        ("memory.json.gz", gzip.compress(JSON, mtime=0)[:4096], "torch_snapshot"),
        ("list.json", json.dumps(SNAPSHOT["segments"]).encode()[:4096], "torch_snapshot"),
        ("run.tbmem", b"", "native"),
        ("weights.bin", pickle.dumps({"state_dict": 1}), None),
        ("trace.json", b'{"schemaVersion": 1, "traceEvents": [', "kineto_trace"),
        ("timeline.json", b"[[1, 2], [[0, 1]]]", None),
        ("events.out.tfevents.1", b"\x18\0\0\0", None),
        ("damaged.gz", b"\x1f\x8bxxxx", None),
        ("levels.json", b"[[1795961962209401, 1795961962209401], [[0", "memory_timeline"),
        ("vm.xplane.pb", b"", "xplane"),
        ("empty", b"", None),
    ],
)
def test_reader_of(name: str, head: bytes, expected: str | None) -> None:
    reader = reader_of(name, head)

    assert (None if reader is None else reader.FORMAT) == expected


def test_formats_have_names_of_their_own() -> None:
    assert len({reader.FORMAT for reader in READERS}) == len(READERS)


def test_probing_tells_how_a_file_is_written(tmp_path: Path) -> None:
    pickled = write_pickle(SNAPSHOT, tmp_path / "a.pickle", 5)
    packed = write_pickle(SNAPSHOT, tmp_path / "a.pickle.gz", 2)
    text = write_json(SNAPSHOT, tmp_path / "a.json")

    assert torch_snapshot.probe(pickled) == {
        "encoding": "pickle",
        "protocol": 5,
        "compressed": False,
        "bytes": pickled.stat().st_size,
    }
    assert torch_snapshot.probe(packed)["protocol"] == 2
    assert torch_snapshot.probe(packed)["compressed"] is True
    assert torch_snapshot.probe(text)["encoding"] == "json"


@pytest.mark.parametrize("data", [b"", b"hello", b"\x80\x06N.", PICKLED[:-1]])
def test_probing_refuses_what_reading_would(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "bad.pickle"
    path.write_bytes(data)

    with pytest.raises(SourceError):
        torch_snapshot.probe(path)


def test_readers_load_neither_torch_nor_tensorboard() -> None:
    code = (
        "import sys, tb_memory_plugin.readers.registry\n"
        "print([name for name in ('torch', 'tensorboard') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )

    assert done.stdout.strip() == "[]"
