"""What is found in folders of all kinds, and what is left alone."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.recording.recording import Recording, save
from tb_memory_plugin.store import discovery
from tb_memory_plugin.store.discovery import Found, walk
from tb_memory_plugin.store.probing import Probes
from tb_memory_plugin.store.roots import Root
from tests.conftest import SHARED_DATA
from tests.fixtures.snapshots import write_json, write_pickle
from tests.fixtures.training import training
from tests.fixtures.xplane import Plane, space

XLA = SHARED_DATA / "xla"
#: XPlanes that are called otherwise.
MADE = set((XLA / "synthetic").glob("xplane_?.pb"))


def found(folder: Path | str, name: str = "") -> list[Found]:
    return list(walk(Root(str(folder), name, "logdir"), Probes(), lambda: None))


def names(folder: Path | str, name: str = "") -> list[str]:
    return [f"{source.run}/{source.name}" for source in found(folder, name)]


def put(structure: Any, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_json(structure, path) if ".json" in path.name else write_pickle(structure, path)


def test_sources_have_the_runs_they_lie_in(tmp_path: Path, small: Any) -> None:
    for way in (
        "root.pickle",
        "a/one.pkl",
        "a/b/two.pickle.gz",
        "a/plugins/memory/three.pickle",
        "a/plugins/memory/rank/four.pickle",
        "c/five.json",
        "c/six.json.gz",
    ):
        put(small, tmp_path / way)
    save(training().only_recorded(), tmp_path / "d" / "plugins" / "memory" / "s.tbmem")
    assert names(tmp_path) == [
        "./root.pickle",
        "a/one.pkl",
        "a/b/two.pickle.gz",
        "a/three.pickle",
        "a/rank/four.pickle",
        "c/five.json",
        "c/six.json.gz",
        "d/s.tbmem",
    ]
    assert {source.fault for source in found(tmp_path)} == {None}
    assert {source.format for source in found(tmp_path)} == {"torch_snapshot", "native"}
    assert names(tmp_path, "spec")[:2] == ["spec/./root.pickle", "spec/a/one.pkl"]


def test_ids_are_words_that_stay_and_tell_apart(tmp_path: Path, small: Any) -> None:
    for way in ("a/x.pickle", "b/x.pickle", "a/plugins/memory/x.pickle"):
        put(small, tmp_path / "here" / way)
        put(small, tmp_path / "elsewhere" / way)
    here = [source.id for source in found(tmp_path / "here")]
    assert len(set(here)) == 3
    assert all(len(id) == 16 and int(id, 16) >= 0 for id in here)
    assert here == [source.id for source in found(tmp_path / "elsewhere")]


def test_what_is_being_written_or_of_others_is_left_alone(tmp_path: Path, small: Any) -> None:
    for way in (
        "x.pickle.tmp",
        ".x.pickle.4f3a.tmp",
        ".hidden.pickle",
        "x.pickle.part",
        "~x.pickle",
        ".git/x.pickle",
        "__pycache__/x.pickle",
        "notes.txt",
        "model.pt",
        "events.out.tfevents.1.host",
    ):
        put(small, tmp_path / way)
    (tmp_path / "config.json").write_text('{"learning_rate": 1}')
    assert names(tmp_path) == []


def test_faults_are_known_from_the_ends_of_a_file(tmp_path: Path, small: Any) -> None:
    data = put(small, tmp_path / "good.pickle").read_bytes()
    (tmp_path / "cut.pickle").write_bytes(data[:-1])
    (tmp_path / "empty.pickle").touch()
    (tmp_path / "text.pickle").write_text("hello")
    (tmp_path / "cut.tbmem").write_bytes(b"TBMEM\x00\x00\x01 and then nothing")
    (tmp_path / "nowhere.pickle").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "pipe.pickle")
    (tmp_path / "folder.pickle").mkdir()
    told = {source.name: source.fault for source in found(tmp_path)}
    assert told.pop("good.pickle") is None
    words = {
        "cut.pickle": "ends in the middle",
        "empty.pickle": "is empty",
        "text.pickle": "neither a pickle nor JSON",
        "cut.tbmem": "",
        "nowhere.pickle": "link to nothing",
        "pipe.pickle": "not a regular file",
    }
    assert set(told) == set(words)
    for name, fault in told.items():
        assert fault is not None and fault.startswith(name) and words[name] in fault
        assert fault.endswith(".") and "\n" not in fault


def test_names_that_are_no_text_are_spelled_out(tmp_path: Path, small: Any) -> None:
    odd = os.fsdecode(b"ru\xffn")
    try:
        put(small, tmp_path / odd / f"{odd}.pickle")
    except OSError:  # a file system that takes text only has no such names
        return
    (source,) = found(tmp_path)
    assert (source.run, source.name) == (r"ru\udcffn", r"ru\udcffn.pickle")
    assert source.fault is None and Path(source.address).is_file()


def test_a_recording_says_whether_it_goes_on(tmp_path: Path) -> None:
    made = training().only_recorded()
    for live in (True, False):
        meta = {**made.meta, "live": live}
        save(Recording(meta, made.tables), tmp_path / f"{live}.tbmem", compress=True)
    assert {source.name: source.live for source in found(tmp_path)} == {
        "True.tbmem": True,
        "False.tbmem": False,
    }


def test_links_are_followed_but_not_in_circles(tmp_path: Path, small: Any) -> None:
    root = tmp_path / "root"
    put(small, root / "a" / "x.pickle")
    put(small, tmp_path / "outside" / "y.pickle")
    (root / "a" / "up").symlink_to(root)
    (root / "a" / "self").symlink_to(root / "a")
    (root / "b").symlink_to(tmp_path / "outside")
    (root / "c").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(root / "loop")
    assert names(root) == ["a/x.pickle", "b/y.pickle", "c/y.pickle"]


def test_ten_thousand_files_in_a_folder(tmp_path: Path, small: Any) -> None:
    for number in range(10_000):
        (tmp_path / f"image{number}.png").touch()
    put(small, tmp_path / "x.pickle")
    rests = []
    root = Root(str(tmp_path))
    assert [s.name for s in walk(root, Probes(), lambda: rests.append(1))] == ["x.pickle"]
    assert len(rests) >= 20


def test_of_very_many_sources_the_newest_are_listed(
    tmp_path: Path, small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "MOST_OF_FOLDER", 5)
    for number in range(8):
        path = put(small, tmp_path / "run" / f"{number}.pickle")
        os.utime(path, (1000 - number, 1000 - number))
    sentence, *listed = found(tmp_path)
    assert [source.name for source in listed] == [f"{number}.pickle" for number in range(5)]
    assert sentence.fault == (
        "run: 8 files of this folder may be recordings; the newest 5 are listed, move the others "
        "apart to see them."
    )
    assert not sentence.is_file


def test_json_of_others_does_not_count(
    tmp_path: Path, small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "MOST_OF_FOLDER", 5)
    path = put(small, tmp_path / "run" / "snapshot.json")
    os.utime(path, (1000, 1000))  # the oldest of all
    for number in range(8):
        (tmp_path / "run" / f"{number}.json").write_text('{"epoch": 3}')
    assert [(source.name, source.fault) for source in found(tmp_path)] == [("snapshot.json", None)]


def test_an_xplane_counts_whatever_it_is_called(tmp_path: Path) -> None:
    plane = Plane("/host:CPU")
    (tmp_path / "renamed.pb").write_bytes(space(plane))
    (tmp_path / "packed.pb.gz").write_bytes(gzip.compress(space(plane)))
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01\x12\x04meta")
    (tmp_path / "step.hlo_proto.pb").write_bytes(b"\x0a\x04main")
    assert [source.format for source in found(tmp_path)] == ["xplane", "xplane", "hlo"]
    assert names(tmp_path) == ["./packed.pb.gz", "./renamed.pb", "./step.hlo_proto.pb"]


def test_modules_that_xprof_unpacked_are_in_the_xplane_already(tmp_path: Path) -> None:
    capture = tmp_path / "run" / "plugins" / "profile" / "today"
    for folder in (capture, tmp_path / "elsewhere"):
        folder.mkdir(parents=True)
        (folder / "host.xplane.pb").write_bytes(space(Plane("/host:CPU")))
        (folder / "jit_step(3).hlo_proto.pb").write_bytes(b"\x0a\x06\x0a\x04main")
    assert names(tmp_path) == [
        "elsewhere/host.xplane.pb",
        "elsewhere/jit_step(3).hlo_proto.pb",
        "run/plugins/profile/today/host.xplane.pb",
    ]
    (capture / "host.xplane.pb").unlink()
    assert names(tmp_path)[-1] == "run/plugins/profile/today/jit_step(3).hlo_proto.pb"


@pytest.mark.skipif(not XLA.is_dir(), reason="the shared real files (../shared/data) are not here")
def test_of_the_files_of_xla_and_xprof_only_recordings_are_listed() -> None:
    listed = {Path(source.address) for source in found(XLA)}
    there = {path for path in XLA.rglob("*") if path.is_file()}
    recordings = {
        path
        for path in there
        if path.name.endswith((".xplane.pb", ".prof", ".hlo_proto.pb")) or path in MADE
    }
    assert listed == recordings
    for ending in (".memory_viewer.json", ".modules.json", ".memory_profile.json"):
        assert any(path.name.endswith(ending) for path in there - listed), ending


def test_a_logdir_without_end_is_not_walked_to_the_end(
    tmp_path: Path, small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "MOST_ENTRIES", 50)
    for number in range(60):
        put(small, tmp_path / f"run{number:02}" / "x.pickle")
    last = found(tmp_path)[-1]
    assert last.fault is not None and "more than 50 files lie in it" in last.fault


def test_a_folder_that_may_not_be_listed_is_one_sentence(
    tmp_path: Path, small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(small, tmp_path / "open" / "x.pickle")
    put(small, tmp_path / "secret" / "y.pickle")
    real = os.scandir

    def scandir(path: str) -> Any:
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    # The tests may run as root, who may list everything.
    monkeypatch.setattr(os, "scandir", scandir)
    one, two = found(tmp_path)
    assert (one.run, one.name, one.fault) == ("open", "x.pickle", None)
    assert (two.run, two.is_file) == ("secret", False)
    assert two.fault == (
        "secret: may not be listed by this user; give permission to read the folder, or leave it "
        "out of the logdir."
    )


def test_a_logdir_that_is_not_there_yet_holds_nothing(tmp_path: Path) -> None:
    assert names(tmp_path / "later") == []


def test_probing_is_remembered_while_a_file_stays_as_it_is(
    tmp_path: Path, small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(small, tmp_path / "x.pickle")
    probes, root = Probes(), Root(str(tmp_path))
    first = list(walk(root, probes, lambda: None))
    monkeypatch.setattr("tb_memory_plugin.store.probing.regular_file", None)  # reading would fail
    assert list(walk(root, probes, lambda: None)) == first
    monkeypatch.undo()
    path.write_bytes(path.read_bytes()[:-1])
    (again,) = walk(root, probes, lambda: None)
    assert again.fault is not None and again.id == first[0].id
