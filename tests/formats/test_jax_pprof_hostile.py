"""Damaged and hostile profiles: a recording that holds together or one sentence, nothing else."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import jax_pprof, jax_pprof_samples, jax_pprof_stacks
from tests.fixtures import pprof
from tests.formats.mutating import cut, damaged, sentence, tried
from tests.formats.pprof_reading import REAL, each_real, real

_LABEL = {"kind": "buffer", "device": "cpu:0"}


def refused(path: Path, data: bytes, **settings: int) -> str:
    """The sentence that ``data`` is refused with."""
    path.write_bytes(data)
    with pytest.raises(SourceError) as caught:
        derive(jax_pprof.read(path, **settings))
    return sentence(caught.value, "memory.prof")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.prof"


def strange(change: Callable[[pprof.Writer], object]) -> bytes:
    made = pprof.small()
    change(made)
    return made.bytes()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda made: made.sample([-1, -8], **_LABEL), "difference of two profiles"),
        (lambda made: made.sample([1, -8], **_LABEL), "sample 4 holds -8 bytes"),
        (lambda made: made.sample([0, 8], **_LABEL), "8 bytes in no buffers"),
        (lambda made: made.sample([1], **_LABEL), "has 1 values for 2 sample types"),
        (lambda made: made.sample([1, 2, 3], **_LABEL), "has 3 values for 2 sample types"),
        (lambda made: made.sample([1, 8], [77], **_LABEL), "refers to location 77"),
        (lambda made: made.sample([1 << 40, 1 << 50], **_LABEL), "more than 4,194,304 live"),
        (lambda made: made.sample([1, 1 << 62], **_LABEL), "EiB on cpu:0"),
        (lambda made: made.locations.append(made.locations[0]), "two locations 1"),
        (lambda made: made.functions.append(made.functions[0]), "two functions 1"),
        (
            lambda made: made.samples.append(pprof.part(3, pprof.number(1, 9999))),
            "has 0 values for 2",
        ),
        (
            lambda made: made.samples.append(
                pprof.packed(2, [1, 8]) + pprof.part(3, pprof.number(1, 9999))
            ),
            "is text 9999 of",
        ),
        (
            lambda made: made.samples.append(
                pprof.packed(2, [1, 8]) + pprof.part(3, pprof.number(1, -5))
            ),
            "is text -5 of",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    path: Path, change: Callable[[pprof.Writer], object], fault: str
) -> None:
    assert fault in refused(path, strange(change))


def test_a_function_that_is_not_there(path: Path) -> None:
    made = pprof.Writer()
    made.locations.append(pprof.number(1, 1) + pprof.part(4, pprof.number(1, 3)))
    made.sample([1, 8], [1], **_LABEL)

    assert "refers to function 3" in refused(path, made.bytes())


def test_a_name_that_is_not_there(path: Path) -> None:
    made = pprof.Writer()
    made.location(("f", "f.py", 1))
    made.functions[0] += pprof.number(2, 1 << 40)
    made.sample([1, 8], [1], **_LABEL)

    assert "the name of function 1 is text 1099511627776" in refused(path, made.bytes())


def test_a_profile_of_time(path: Path) -> None:
    made = pprof.Writer(types=(("samples", "count"), ("cpu", "nanoseconds")))
    made.sample([1, 8], **_LABEL)

    assert "a profile of samples in count and cpu in nanoseconds" in refused(path, made.bytes())


def test_nothing_is_alive(path: Path) -> None:
    assert "holds no live buffers" in refused(path, pprof.Writer().bytes())


def test_another_protobuf(path: Path) -> None:
    assert "is not a valid device memory profile" in refused(path, pprof.part(1, b"\x12\x03abc"))
    assert "it is no protobuf" in refused(path, b"\x00" * 40)


def test_a_gzip_bomb(path: Path) -> None:
    bomb = gzip.compress(b"\0" * (8 << 20), mtime=0)

    assert "unpacks to more than 1 MiB" in refused(path, bomb, limit=1 << 20)


def test_a_file_that_is_too_large(path: Path) -> None:
    assert "is larger than 1 MiB" in refused(path, b"\0" * (2 << 20), limit=1 << 20)


def test_stacks_that_multiply(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One location of many lines, referred to again and again."""
    monkeypatch.setattr(jax_pprof_stacks, "MOST_FRAMES", 10_000)
    made = pprof.Writer()
    place = made.location(*[("f", "f.py", line) for line in range(100)])
    for times in range(1, 60):
        made.sample([1, 8], [place] * times, **_LABEL)

    assert "more than 10,000 frames" in refused(path, made.bytes())


def test_many_buffers_in_all(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax_pprof_samples, "MOST_BUFFERS", 10)
    made = pprof.Writer()
    for _ in range(3):
        made.sample([4, 8], **_LABEL)

    assert "more than 10 live buffers" in refused(path, made.bytes())


def test_nested_groups_do_not_overrun_the_stack(path: Path) -> None:
    """Groups, which the format does not use, one in the other: an unknown field."""
    deep = b"\x7b" * 100_000 + b"\x7c" * 100_000

    refused(path, pprof.small().bytes() + deep)


def test_every_truncation_is_refused_or_holds_together(path: Path) -> None:
    whole = pprof.small().bytes()

    # Without its last texts it is a shorter profile of which nothing is missing but names that
    # nobody refers to; all names here are referred to.
    assert tried(jax_pprof.read, path, cut(whole, len(whole))) == (0, len(whole))
    packed = gzip.compress(whole, mtime=0)
    assert tried(jax_pprof.read, path, cut(packed, len(packed))) == (0, len(packed))


@real
@each_real
def test_truncated_real_profiles_are_refused(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    short = tmp_path / "memory.prof"
    files = cut(data, len(data) if len(data) < 4_000 else len(data) // 37)
    read, refused = tried(jax_pprof.read, short, files)
    assert read == 0 and refused > 200


@pytest.mark.parametrize("seed", range(4))
def test_mutations(path: Path, seed: int) -> None:
    luck = random.Random(seed)
    whole = pprof.small().bytes()
    if REAL:
        whole = gzip.decompress(REAL[-2 if seed % 2 else 0].read_bytes()) if seed else whole
    files = [damaged(whole, luck) for _ in range(150)]
    read, refused = tried(jax_pprof.read, path, files)
    assert read > 10 and refused > 10, (read, refused)
    for data in files:
        jax_pprof.matches("memory.prof", data)
