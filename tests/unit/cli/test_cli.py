"""``tb-memory``, command by command."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.cli import main
from tb_memory_plugin.recording.recording import open_recording, save
from tests.fixtures.histories import history
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.fixtures.training import training
from tests.unit.store.bad import crasher

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def kept_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache for all tests of this module: reading the same source again tells nothing new."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(kept_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TB_MEMORY_CACHE", str(kept_cache))
    return kept_cache


def answer(capsys: Capture, *arguments: object) -> Any:
    """What a command that succeeds prints as JSON."""
    assert main([*map(str, arguments), "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return json.loads(printed.out)


def lines(capsys: Capture, *arguments: object) -> list[str]:
    """The lines a command that succeeds prints for people."""
    assert main(list(map(str, arguments))) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out.splitlines()


def complaint(capsys: Capture, *arguments: object) -> str:
    """The one sentence of a command that fails."""
    assert main(list(map(str, arguments))) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


def test_info_gives_the_facts_of_every_device(source: Path, capsys: Capture) -> None:
    found = answer(capsys, "info", source)
    expected = facts(training())
    assert set(found) == {"format", "basis", "problems", "annotations", "devices", "summary"}
    assert (found["format"], found["basis"], found["problems"]) == ("test", "requested", [])
    assert found["annotations"] == expected["annotations"]
    for key, device in expected["devices"].items():
        assert found["devices"][key] == {"name": f"cuda:{key}", **device}


def test_info_of_a_snapshot_has_the_file_s_own_ordinals(tmp_path: Path, capsys: Capture) -> None:
    path = write_pickle(snapshot(events=200, devices=2), tmp_path / "snapshot.pickle")
    found = answer(capsys, "info", path)
    assert list(found["devices"]) == ["0", "1"]
    assert found["devices"]["1"]["events"] == 200


def test_info_for_people_is_aligned_and_in_units(source: Path, capsys: Capture) -> None:
    printed = lines(capsys, "info", source)
    assert "  cuda:0 (device 0)" in printed
    (peak,) = [line for line in printed if "allocated at peak" in line and "event" in line][:1]
    assert "4.45 KiB (4 560 bytes) after event 3" in peak
    assert any("out of memory" in line and "9.76 KiB asked for" in line for line in printed)
    begins = {len(line) - len(line[26:].lstrip()) for line in printed if "allocated at" in line}
    assert len(begins) == 1


@pytest.mark.parametrize("by", ["category", "stack", "op", "module", "pool", "step", "annotation"])
def test_peak_adds_up_by_every_grouping(by: str, source: Path, capsys: Capture) -> None:
    found = answer(capsys, "peak", source, "--by", by)
    kept = {name: found[name] for name in ("device", "event", "time", "total_bytes")}
    assert kept == {"device": "0", "event": 3, "time": 3000, "total_bytes": 4560}
    assert sum(group["bytes"] for group in found["groups"]) == 4560
    assert sum(group["count"] for group in found["groups"]) == 5
    sizes = [group["bytes"] for group in found["groups"]]
    assert sizes == sorted(sizes, reverse=True)


def test_peak_by_category(source: Path, capsys: Capture) -> None:
    groups = answer(capsys, "peak", source, "--by", "category")["groups"]
    assert [(group["key"], group["bytes"], group["count"]) for group in groups] == [
        ("activation", 2560, 2),
        ("parameter", 1000, 1),
        ("gradient", 700, 1),
        ("…before", 300, 1),
    ]


@pytest.mark.parametrize(
    ("at", "event", "total"),
    [
        ("peak", 3, 4560),
        ("event:-1", -1, 1300),
        ("event:5", 5, 2512),
        ("time:5999", 5, 2512),
        ("step:4", 3, 4560),
    ],
)
def test_peak_at_other_moments(
    at: str, event: int, total: int, source: Path, capsys: Capture
) -> None:
    found = answer(capsys, "peak", source, "--at", at, "--by", "op")
    assert (found["event"], found["total_bytes"]) == (event, total)


def test_peak_of_another_device_by_key_or_name(source: Path, capsys: Capture) -> None:
    for name in ("1", "cuda:1"):
        found = answer(capsys, "peak", source, "--device", name)
        assert (found["device"], found["total_bytes"]) == ("1", 5)


def test_peak_filtered_and_by_pattern(source: Path, capsys: Capture) -> None:
    found = answer(capsys, "peak", source, "--filter", "size>1KiB", "--by", "op")
    assert [group["key"] for group in found["groups"]] == ["aten::softmax"]
    found = answer(capsys, "peak", source, "--pattern", "model.py:88")
    assert [group["bytes"] for group in found["groups"]] == [4048, 512]


def test_peak_for_people(source: Path, capsys: Capture) -> None:
    printed = lines(capsys, "peak", source, "--limit", 2)
    assert printed == [
        "cuda:0 after event 3, 3.00 µs from the origin: 4.45 KiB (4 560 bytes) allocated",
        "     bytes   share  count   largest  oldest  category",
        "  2.50 KiB  56.1 %      2  2.00 KiB  step 3  activation",
        "    1000 B  21.9 %      1    1000 B  before  parameter",
        "    1000 B  21.9 %      2     700 B          2 more groups (--limit)",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--at", "event:77"], "cuda:0 has no event 77; they go from -1 to 9"),
        (["--at", "noon"], "is not a moment"),
        (["--device", "7"], "no device '7'; it has 0, 1"),
        (["--by", "pattern"], "needs a pattern"),
        (["--filter", "mood:good"], "'mood' is nothing to filter by"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(
    arguments: list[str], words: str, source: Path, capsys: Capture
) -> None:
    assert words in complaint(capsys, "peak", source, *arguments)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, capsys: Capture) -> None:
    assert "nowhere.pickle" in complaint(capsys, "info", tmp_path / "nowhere.pickle")
    assert "is not the name of a file" in complaint(capsys, "info", "a\0b.pickle")
    damaged = tmp_path / "damaged.pickle"
    damaged.write_bytes(b"\x80\x04nonsense")
    assert "damaged.pickle" in complaint(capsys, "info", damaged)


@pytest.mark.parametrize(
    "arguments", [[], ["info"], ["dance"], ["peak", "x", "--by", "mood"], ["import", "x"]]
)
def test_wrong_usage_is_status_2(arguments: list[str], capsys: Capture) -> None:
    with pytest.raises(SystemExit) as status:
        main(arguments)
    assert status.value.code == 2
    assert "usage:" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_only(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for stream, coloured in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(["peak", str(source)]) == 0
        assert ("\033[" in stream.getvalue()) is coloured
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["peak", str(source)]) == 0
    assert "\033[" not in stream.getvalue()


def test_import_places_a_recording_in_a_run(tmp_path: Path, capsys: Capture) -> None:
    path = write_pickle(snapshot(events=300), tmp_path / "snapshot.pickle.gz")
    run = tmp_path / "runs" / "one"
    found = answer(capsys, "import", path, "--logdir", run)
    target = run / "plugins" / "memory" / "snapshot.tbmem"
    assert found == {"path": str(target), "bytes": target.stat().st_size}
    assert "allocations" not in open_recording(target).tables
    assert answer(capsys, "info", target) == answer(capsys, "info", path)
    again = complaint(capsys, "import", path, "--logdir", run)
    assert "is there already; choose another --name, or --force" in again
    lines(capsys, "import", path, "--logdir", run, "--force")
    itself = complaint(capsys, "import", target, "--logdir", run, "--force")
    assert "is what is read" in itself
    lines(capsys, "import", path, "--logdir", run, "--name", "second")
    assert (target.parent / "second.tbmem").is_file()


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", "a\\b"])
def test_import_takes_no_names_that_leave_the_run(
    name: str, source: Path, tmp_path: Path, capsys: Capture
) -> None:
    said = complaint(capsys, "import", source, "--logdir", tmp_path / "run", "--name", name)
    assert "is not a name for a recording" in said
    assert not (tmp_path / "run").exists()


def test_import_says_where_it_cannot_write(source: Path, tmp_path: Path, capsys: Capture) -> None:
    said = complaint(capsys, "import", source, "--logdir", "s3://bucket/run")
    assert "s3://bucket/run is not on this machine" in said
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert "cannot be written" in complaint(capsys, "import", source, "--logdir", blocked)


def test_help_comes_without_loading_anything_heavy() -> None:
    heavy = "numpy", "pyarrow", "tensorboard", "torch"
    program = (
        "import sys, tb_memory_plugin, tb_memory_plugin.cli as cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("[]\n")
    assert "tb-memory" in done.stdout


def test_a_reader_that_has_seen_enough_is_no_error(source: Path) -> None:
    program = (
        "import sys; from tb_memory_plugin.cli import main; "
        f"sys.exit(main(['info', {str(source)!r}, '--json']))"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def run(*arguments: str, shell: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """``tb-memory`` in a process of its own, its streams as ``shell`` redirects them."""
    module = [sys.executable, "-m", "tb_memory_plugin.cli", *arguments]
    return subprocess.run(
        ["sh", "-c", f'"$@" {shell}', "sh", *module],
        capture_output=True,
        env={**os.environ, **environment},
    )


def test_a_file_that_ends_its_reader_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "crash.pickle"
    path.write_bytes(crasher())
    said = run("info", str(path), shell="")
    assert said.returncode == 1
    assert said.stderr.startswith(b"tb-memory: crash.pickle: ended the process that read it (SIG")
    assert said.stderr.count(b"\n") == 1


def test_info_begins_as_the_page_does(source: Path, capsys: Capture) -> None:
    found = answer(capsys, "info", source)["summary"]
    device = found["devices"][0]
    assert (device["key"], device["peak_event"], device["allocated_peak"]) == ("0", 3, 4560)
    assert {"capacity", "lifetime_peak", "peak_step", "steps", "bytes_before_window"} <= set(device)
    assert found["groupings"] and found["axes"] == ["time", "event"]


def test_an_allocation_is_told_whole(source: Path, capsys: Capture) -> None:
    rows = training().table("allocations")
    for row, told in enumerate(rows.to_pylist()):
        found = answer(capsys, "allocation", source, row)
        assert (found["id"], found["requested"], found["birth"], found["death"]) == (
            str(row),
            told["requested"],
            told["birth"],
            told["death"],
        )
        printed = lines(capsys, "allocation", source, row)
        assert printed[0] == f"allocation {row}: {found['label']}"
        if found["birth"] is None:
            assert any(re.fullmatch(r"  born +before the window", line) for line in printed)
        for frame in found["birth_stack"] or []:
            assert any((frame["function"] or frame["file"]) in line for line in printed)
    assert "no allocation '99'" in complaint(capsys, "allocation", source, 99)


def test_what_an_allocation_may_be_is_said(tmp_path: Path, capsys: Capture) -> None:
    sizes = [1280, 1280, 8 * 1280]
    made = history([("alloc", at, size) for at, size in enumerate(sizes)])
    target = tmp_path / "guessed.tbmem"
    save(made, target, compress=True)
    guesses = answer(capsys, "allocation", target, 2)["guesses"]
    assert {"dimensions": [8, 640], "width": 2} in guesses["shapes"]
    assert guesses["multiples"] == [{"times": 8, "bytes": 1280, "count": 2}]
    (said,) = (line for line in lines(capsys, "allocation", target, 2) if "  may be " in line)
    assert "8 × 640 elements of 2 bytes" in said
    assert said.endswith("or 8 × 1.25 KiB")
    assert not any("  may be " in line for line in lines(capsys, "allocation", target, 0))


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_may_be_closed(closed: str, source: Path) -> None:
    done = run("peak", str(source), shell=closed)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_the_answer_is_one_sentence(source: Path) -> None:
    done = run("info", str(source), "--json", shell=">/dev/full")
    assert done.returncode == 1
    assert done.stderr.startswith(b"tb-memory: the answer could not be written: No space left")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8:strict"])
def test_every_encoding_will_do(encoding: str, tmp_path: Path) -> None:
    frames = [{"name": "größe→\ud800", "filename": "ö😀.py", "line": 3}]
    event = {"action": "alloc", "addr": 512, "size": 5, "stream": 0, "frames": frames}
    made = {"segments": [], "device_traces": [[event]]}
    path = write_pickle(made, tmp_path / os.fsdecode(b"\xff\xc3\xb6.pickle"))
    ends = b"\n-- %d\n"
    program = f"""
import sys
from tb_memory_plugin.cli import main
for command in ("peak", "info", "index"):
    for more in ([], ["--json"]):
        status = main([command, sys.argv[1], *more])
        sys.stdout.flush()
        sys.stdout.buffer.write({ends!r} % status)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    answers = done.stdout.split(ends % 0)
    assert len(answers) == 7 and answers.pop() == b""
    for said, answered in zip(answers[::2], answers[1::2], strict=True):
        assert said
        json.loads(answered.decode(encoding.partition(":")[0]))


def test_names_do_not_steer_the_terminal(tmp_path: Path, capsys: Capture) -> None:
    frames = [{"name": "a\033[2Jb\nc\u202ed", "filename": "x.py", "line": 3}]
    event = {"action": "alloc", "addr": 512, "size": 5, "stream": 0, "frames": frames}
    path = write_pickle({"segments": [], "device_traces": [[event]]}, tmp_path / "new\nline.pickle")
    assert main(["peak", str(path), "--by", "stack"]) == 0
    printed = capsys.readouterr().out
    assert r"a\x1b[2Jb\nc\u202ed" in printed
    assert all(line.isprintable() for line in printed.splitlines())
    assert main(["index", str(path)]) == 0
    assert r"new\nline.pickle" in capsys.readouterr().out
