"""A logdir full of files that cannot be read: each one sentence, everything else unharmed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.fixtures.snapshots import snapshot, write_pickle
from tests.plugin.logdirs import STEPS, tree, write_scalars
from tests.plugin.server import TensorBoardServer
from tests.unit.store.bad import write_all

_IS_ROOT = os.geteuid() == 0 and shutil.which("setpriv") is not None


class PlainServer(TensorBoardServer):
    """A TensorBoard that may not read what the mode forbids, even if root starts it."""

    program = (
        *(("setpriv", "--bounding-set", "-dac_override,-dac_read_search") if _IS_ROOT else ()),
        *TensorBoardServer.program,
    )


@pytest.mark.once  # readers refuse the same files in the oldest environment too: unit/store
def test_each_ends_as_one_sentence_and_the_good_ones_work(tmp_path: Path) -> None:
    logdir = tmp_path / "logdir"
    write_scalars(logdir / "good")
    write_pickle(snapshot(events=300), logdir / "good" / "x.pickle")
    words = write_all(logdir / "bad")
    write_scalars(logdir / "bad")
    secret = logdir / "bad" / "secret.pickle"
    write_pickle(snapshot(events=100), secret)
    crowd = logdir / "crowd"
    crowd.mkdir()
    for number in range(10_000):
        (crowd / f"image{number}.png").touch()
    before = tree(logdir)
    secret.chmod(0)
    try:
        with PlainServer(logdir, "--memory_limit", "2GiB") as server:
            found = server.sources(after=len(words) + 2)
            assert set(found) == {"good/x.pickle", "bad/secret.pickle"} | {
                f"bad/{name}" for name in words
            }
            for name in words:  # all at once: as many are read side by side as there are cores
                server.get("open", source=found[f"bad/{name}"]["id"])
            for name, said in words.items():
                status = server.opened(found[f"bad/{name}"]["id"])
                assert status["state"] == "error", (name, status)
                sentence = status["error"]
                assert sentence.startswith(f"{name}: ") and sentence.endswith("."), sentence
                assert said in sentence and "\n" not in sentence and len(sentence) < 400
                points = server.board("data/plugin/scalars/scalars?tag=loss&run=bad")
                assert len(points) == STEPS
            status = server.opened(found["bad/secret.pickle"]["id"])
            assert status["state"] == "error"
            assert status["error"].startswith("secret.pickle: may not be read by this user")
            good = server.opened(found["good/x.pickle"]["id"])
            assert good["state"] == "ready"
            asked = {"source": found["good/x.pickle"]["id"], "version": good["version"]}
            answer = server.get("breakdown", **asked, device="0", at="peak", by="stack")
            assert answer.status == 200 and answer.json()["total_bytes"] > 0
            listed = server.sources()
            assert {name for name, row in listed.items() if row["state"] == "error"} >= {
                f"bad/{name}" for name in words
            }
            assert "Traceback" not in server.log
    finally:
        secret.chmod(0o644)
    assert tree(logdir) == before


def test_a_child_that_is_killed_harms_nobody(tmp_path: Path) -> None:
    logdir = tmp_path / "logdir"
    write_scalars(logdir / "run")
    path = write_pickle(snapshot(events=40_000, shared_lists=False), logdir / "run" / "x.pickle")
    with TensorBoardServer(logdir) as server:
        (source,) = server.sources(after=1).values()
        phase = ""
        while phase not in ("reading", "indexing events"):  # one that still waits is replaced
            phase = server.get("open", source=source["id"]).json()["phase"]
        for child in _children(server.pid):
            os.kill(child, 9)
        status = server.opened(source["id"])
        assert status["state"] == "error"
        assert "x.pickle: ended the process that read it (SIGKILL)" in status["error"]
        assert len(server.board("data/plugin/scalars/scalars?tag=loss&run=run")) == STEPS
        path.touch()  # another state of the file: it is tried again when it has settled
        assert server.opened(source["id"])["state"] == "ready"


def test_limits_from_the_command_line_hold(tmp_path: Path) -> None:
    logdir = tmp_path / "logdir"
    write_scalars(logdir / "run")
    write_pickle(snapshot(events=40_000, shared_frames=False), logdir / "run" / "x.pickle")
    for flag, words in (
        (("--memory_limit", "30MiB"), "x.pickle: needs more than 30.0 MiB of memory"),
        (("--memory_time_limit", "0.05"), "was not read within 0.05 seconds"),
    ):
        with TensorBoardServer(logdir, *flag) as server:
            (source,) = server.sources(after=1).values()
            status = server.opened(source["id"])
            assert status["state"] == "error" and words in status["error"], status


def _children(pid: int) -> list[int]:
    """The import children of a process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if parent == pid and b"tb_memory_plugin.store.child" in command:
                found.append(int(entry.name))
    return found
