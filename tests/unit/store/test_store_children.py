"""A child process reads a file, and whatever becomes of it is one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.recording.recording import open_recording
from tb_memory_plugin.store import child, children, starting
from tb_memory_plugin.store.children import Limits
from tests.conftest import REPOSITORY
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.unit.store.bad import crasher, write_all

KEY = "0" * 20
LIMITS = Limits(memory=2 << 30, seconds=120)
_KILLED_AS_IT_OPENS_A_PICKLE = """
import os, signal, sys

def hook(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".pickle"):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(hook)
"""


def read(path: Path, limits: Limits = LIMITS) -> list[tuple[float, str]]:
    """What was reported while ``path`` was read into the entry ``KEY``."""
    said: list[tuple[float, str]] = []
    entries = path.parent / "entries"
    children.read(path, KEY, entries, limits, lambda *report: said.append(report))
    return said


def refusal(path: Path, limits: Limits = LIMITS) -> str:
    with pytest.raises(SourceError) as refused:
        read(path, limits)
    sentence = str(refused.value)
    assert sentence.startswith(f"{path.name}: ") and sentence.endswith(".")
    assert "\n" not in sentence and "Traceback" not in sentence
    entries = path.parent / "entries"
    assert not list(entries.glob("0*")), "a failure leaves no entry"
    return sentence


def test_a_source_becomes_an_entry_with_progress(tmp_path: Path) -> None:
    path = write_pickle(snapshot(events=500), tmp_path / "x.pickle")
    said = read(path)
    fractions = [fraction for fraction, _ in said]
    assert fractions == sorted(fractions) and fractions[0] == 0.0 and fractions[-1] <= 1.0
    assert {"starting", "working out lives", "writing"} <= {phase for _, phase in said}
    recording = open_recording(tmp_path / "entries" / f"{KEY}.tbmem")
    assert recording.table("events").num_rows == 500
    assert recording.table("allocations").num_rows > 0
    about = json.loads((tmp_path / "entries" / f"{KEY}.json").read_bytes())
    assert about["brief"]["events"] == 500
    assert about["summary"]["devices"][0]["events"] == 500


def test_every_bad_file_is_one_sentence(tmp_path: Path) -> None:
    for name, words in write_all(tmp_path).items():
        assert words in refusal(tmp_path / name), name


def test_a_crash_leaves_no_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "crash.pickle"
    path.write_bytes(crasher())
    monkeypatch.chdir(tmp_path)
    assert "SIGSEGV" in refusal(path)
    assert not [found for found in tmp_path.rglob("*") if found.name.startswith("core")]


def test_a_child_that_is_killed_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_pickle(snapshot(events=100), tmp_path / "x.pickle")
    (tmp_path / "sitecustomize.py").write_text(_KILLED_AS_IT_OPENS_A_PICKLE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert "ended the process that read it (SIGKILL)" in refusal(path)


def test_the_memory_limit_is_one_sentence(tmp_path: Path) -> None:
    path = write_pickle(snapshot(events=60_000, shared_frames=False), tmp_path / "x.pickle")
    sentence = refusal(path, Limits(memory=40 << 20, seconds=120))
    assert "needs more than 40.0 MiB of memory" in sentence and "--memory_limit" in sentence


def test_too_little_memory_for_threads_is_enough_or_one_sentence(tmp_path: Path) -> None:
    path = write_pickle(snapshot(events=2_000), tmp_path / "x.pickle")
    for mebibytes in (2, 6, 10, 14, 18, 24):
        try:
            read(path, Limits(memory=mebibytes << 20, seconds=120))
        except SourceError as error:
            assert "--memory_limit" in str(error), mebibytes


def test_the_time_limit_is_one_sentence(tmp_path: Path) -> None:
    path = write_pickle(snapshot(events=100), tmp_path / "x.pickle")
    started = time.monotonic()
    sentence = refusal(path, Limits(memory=2 << 30, seconds=0.01))
    assert "was not read within 0.01 seconds" in sentence and "--memory_time_limit" in sentence
    assert time.monotonic() - started < 60


def test_modules_in_the_current_folder_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("json", "numpy", "pyarrow", "tb_memory_plugin"):
        (here / f"{name}.py").write_text("raise SystemExit('imported from the current folder')")
    path = write_pickle(snapshot(events=100), tmp_path / "x.pickle")
    monkeypatch.chdir(here)
    assert read(path)


def test_neither_torch_nor_tensorboard_nor_pandas_is_imported(tmp_path: Path) -> None:
    path = write_pickle(snapshot(events=100), tmp_path / "x.pickle")
    (tmp_path / "entries").mkdir()
    request = {
        "path": str(path),
        "key": KEY,
        "entries": str(tmp_path / "entries"),
        "memory": 2 << 30,
        "seconds": 60,
    }
    program = textwrap.dedent(
        """
        import os, sys
        from tb_memory_plugin.store import child
        heavy = ("torch", "tensorboard", "pandas", "werkzeug", "fsspec")
        os._exit = lambda status: print([name for name in heavy if name in sys.modules])
        child.main()
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(request) + "\n",
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=True,
    )
    assert '{"done": true}' in done.stdout
    assert done.stderr.splitlines()[-1] == "[]"


def test_a_child_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import time
        from tb_memory_plugin.store import child
        child._read = lambda request, report: (report(0.5, "for ever"), time.sleep(600))
        child.main()
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=REPOSITORY,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(b'{"memory": 1073741824, "seconds": 600}\n')
        process.stdin.flush()
        assert b"for ever" in process.stdout.readline()
        assert process.poll() is None
        process.stdin.close()  # as when its parent dies
        assert process.wait(30) == 3
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_stopping_all_ends_what_runs(tmp_path: Path) -> None:
    path = write_pickle(snapshot(events=100), tmp_path / "x.pickle")
    begun = threading.Event()
    ended: list[str] = []

    def work() -> None:
        try:
            children.read(path, KEY, tmp_path / "entries", LIMITS, lambda *_: begun.set())
        except SourceError as error:
            ended.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(30)
    starting.stop_all()
    thread.join(30)
    assert not thread.is_alive() and not starting._running
    assert not ended or "SIGKILL" in ended[0]


@pytest.mark.parametrize(
    ("number", "words"), [(28, "the disk of the cache folder is full"), (13, "cannot be written")]
)
def test_an_entry_that_cannot_be_written_is_one_sentence(number: int, words: str) -> None:
    sentence = str(child._not_written("x.pickle", OSError(number, os.strerror(number))))
    assert sentence.startswith("x.pickle: was read, but ") and words in sentence
