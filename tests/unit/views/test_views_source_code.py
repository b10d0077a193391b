"""Code around a line that a recording names: shown where it may be, refused in a sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views.source_code import code
from tests.fixtures.histories import history


def naming(*files: str, **meta: object) -> Recording:
    """A recording with a frame in each of ``files``."""
    stacks = [[("f", file, 3)] for file in files]
    events = [("alloc", 0x1000 * n, 8, {"stack": n}) for n in range(len(files))]
    return derive(history(events, stacks=stacks, **meta))


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """A file of 40 lines."""
    path = tmp_path / "model.py"
    path.write_text("".join(f"line = {n}\n" for n in range(1, 41)), encoding="utf-8")
    return path


def test_the_lines_around_one(module: Path) -> None:
    recording = naming(str(module))
    answer = code(recording, file=str(module), line=20, around=2)
    assert answer == {
        "file": str(module),
        "line": 20,
        "first": 18,
        "lines": [f"line = {n}" for n in range(18, 23)],
        "changed": None,
    }
    assert code(recording, file=str(module), line=1, around=1)["lines"] == ["line = 1", "line = 2"]
    assert code(recording, file=str(module), line=40, around=1)["first"] == 39
    assert len(code(recording, file=str(module), line=20, around=10**6)["lines"]) == 40


def test_a_file_that_was_written_to_since_says_so(module: Path) -> None:
    os.utime(module, ns=(5_000, 5_000))
    for origin, changed in ((6_000, False), (4_000, True)):
        recording = naming(str(module), clock="unix", time_origin_ns=origin)
        assert code(recording, file=str(module), line=1)["changed"] is changed


def test_only_files_that_the_recording_names_are_read(module: Path) -> None:
    other = module.with_name("other.py")
    other.write_text("secret = 1\n")
    with pytest.raises(QueryError, match="No frame of this recording names that file"):
        code(naming(str(module)), file=str(other), line=1)
    with pytest.raises(QueryError, match="No frame of this recording names that file"):
        code(naming(str(module)), file=f"{module.parent}/./model.py", line=1)


def refusal(path: Path | str, line: int = 1) -> str:
    with pytest.raises(QueryError) as caught:
        code(naming(str(path)), file=str(path), line=line)
    return str(caught.value)


def test_what_cannot_be_shown_is_refused_in_a_sentence(module: Path) -> None:
    folder = module.parent
    assert "has 40 lines here, and no line 41" in refusal(module, 41)
    assert "no such file" in refusal(folder / "gone.py").lower()
    assert "not a whole path" in refusal("model.py")
    (folder / "key.pem").write_text("key")
    assert "not a file of code by its name" in refusal(folder / "key.pem")
    (folder / "link.py").symlink_to(folder / "key.pem")
    assert "not a file of code by its name" in refusal(folder / "link.py")
    (folder / "round.py").symlink_to(folder / "round.py")
    assert "cannot be read" in refusal(folder / "round.py")
    (folder / "folder.py").mkdir()
    assert "is not a file" in refusal(folder / "folder.py") or "directory" in refusal(
        folder / "folder.py"
    )
    os.mkfifo(folder / "pipe.py")
    assert "is not a file" in refusal(folder / "pipe.py")
    (folder / "binary.py").write_bytes(b"a\0b")
    (folder / "latin.py").write_bytes(b"caf\xe9")
    assert "is not text" in refusal(folder / "binary.py")
    assert "is not text" in refusal(folder / "latin.py")
    with (folder / "huge.py").open("wb") as file:
        file.truncate(9 << 20)
    assert "is larger than 8 MiB" in refusal(folder / "huge.py")
    assert refusal("/nul\0.py").endswith(".")


def test_a_link_to_code_is_followed(module: Path) -> None:
    link = module.with_name("alias.py")
    link.symlink_to(module)
    assert code(naming(str(link)), file=str(link), line=1)["lines"][0] == "line = 1"


def test_long_lines_are_cut(module: Path) -> None:
    module.write_text("x" * 10_000)
    assert code(naming(str(module)), file=str(module), line=1)["lines"] == ["x" * 400]


def test_lines_are_counted_as_compilers_count_them(module: Path) -> None:
    module.write_bytes("a = 1\r\n\x0c\nb = '\u2028'\rc = 3\n".encode())
    answer = code(naming(str(module)), file=str(module), line=4, around=9)
    assert answer["lines"] == ["a = 1", "\x0c", "b = '\u2028'", "c = 3"]
    assert "has 4 lines here" in refusal(module, 5)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors cannot be counted")
def test_what_is_refused_is_closed(module: Path) -> None:
    folder = module.with_name("folder.py")
    folder.mkdir()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        refusal(folder)
    assert len(os.listdir("/proc/self/fd")) == before
