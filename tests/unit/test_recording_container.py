"""Buffers come back from a container as they were, however they were written."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pytest

from tb_memory_plugin.errors import ContainerError
from tb_memory_plugin.recording import container


def test_buffers_may_write_themselves(tmp_path: Path) -> None:
    def write(file: BinaryIO) -> None:
        file.write(b"in two ")
        file.write(b"parts")

    path = tmp_path / "recording"
    container.write(path, {"a": 1}, {"one": b"plain", "two": write, "three": memoryview(b"last")})
    document, buffers = container.open_mapped(path)
    assert document == {"a": 1}
    found = {name: bytes(data) for name, data in buffers.items()}
    assert found == {"one": b"plain", "two": b"in two parts", "three": b"last"}


def test_a_buffer_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    def fail(file: BinaryIO) -> None:
        file.write(b"half")
        raise OSError("no room")

    path = tmp_path / "recording"
    container.write(path, {}, {"one": b"old"})
    with pytest.raises(OSError, match="no room"):
        container.write(path, {}, {"one": fail})
    assert bytes(container.open_mapped(path)[1]["one"]) == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_bytes_are_checked_only_where_asked(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    container.write(path, {}, {"one": b"plain", "two": lambda file: file.write(b"not checked")})
    data = path.read_bytes()
    path.write_bytes(data.replace(b"not", b"now").replace(b"plain", b"plane"))
    assert bytes(container.open_mapped(path)[1]["one"]) == b"plane"
    with pytest.raises(ContainerError, match="its table one is damaged"):
        container.open_mapped(path, check=True)
    path.write_bytes(data.replace(b"not", b"now"))
    assert bytes(container.open_mapped(path, check=True)[1]["two"]) == b"now checked"
