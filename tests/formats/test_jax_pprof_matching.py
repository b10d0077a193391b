"""Which files are taken for JAX device memory profiles."""

from __future__ import annotations

import gzip

import pytest

from tb_memory_plugin.readers import jax_pprof
from tb_memory_plugin.readers.registry import READERS, reader_of
from tests.conftest import SHARED_DATA
from tests.fixtures import pprof
from tests.formats.pprof_reading import (
    real,
)


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("memory.prof", b"", "jax_pprof"),
        ("device_memory_7.pprof.gz", b"", "jax_pprof"),
        ("cpu.prof", b"", None),
        ("anything", pprof.small().bytes(), "jax_pprof"),
        ("anything.pb.gz", gzip.compress(pprof.small().bytes(), mtime=0), "jax_pprof"),
        ("nothing.prof", pprof.Writer().bytes(), "jax_pprof"),
        ("cut.prof", pprof.small().bytes()[:60], "jax_pprof"),
        ("damaged.prof", b"\x1f\x8bxxxxxxxxxxxxx", "jax_pprof"),
        ("damaged.gz", b"\x1f\x8bxxxxxxxxxxxxx", None),
        # What Python's own profiler writes, and what Go's does: neither has labels of text.
        ("python.prof", b"{(\xda\x01~r\x00\x00\x00\x00", None),
        ("memory.prof", b"{(\xda\x01~r\x00\x00\x00\x00", None),
    ],
)
def test_what_is_recognised(name: str, data: bytes, expected: str | None) -> None:
    found = reader_of(name, data[: 1 << 16])

    assert (None if found is None else found.FORMAT) == expected


def test_profiles_of_other_things_are_not_ours() -> None:
    time = pprof.Writer(types=(("samples", "count"), ("cpu", "nanoseconds")))
    time.sample([1, 10_000_000], [time.location(("main", "main.go", 3))])

    assert reader_of("cpu.prof", time.bytes()) is None


@real
def test_no_other_real_file_is_claimed() -> None:
    others = [path for path in SHARED_DATA.rglob("*") if path.is_file() and path.suffix != ".prof"]
    assert len(others) > 20
    for path in others:
        with path.open("rb") as file:
            head = file.read(1 << 16)
        assert not jax_pprof.matches(path.name, head), path.name
    assert jax_pprof in READERS
