"""Files that are broken, of something else, or out to do harm: each ends in one sentence."""

from __future__ import annotations

import copyreg
import gzip
import os
import pickle
import resource
import struct
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers import torch_snapshot
from tb_memory_plugin.recording import arrays
from tests.fixtures.snapshots import snapshot, write_pickle

Q = struct.Struct("<Q").pack
DEEP = 1_000_000


def refusal(path: Path, **options: Any) -> str:
    """The sentence that reading ``path`` ends in."""
    with pytest.raises(SourceError) as refused:
        torch_snapshot.read(path, **options)
    error = refused.value
    sentence = str(error)
    assert error.file == path.name and error.fault and error.remedy
    assert sentence.startswith(f"{path.name}: ") and sentence.endswith(".")
    assert "\n" not in sentence and len(sentence) < 400
    return sentence


def refusal_of(tmp_path: Path, data: bytes, **options: Any) -> str:
    path = tmp_path / "bad.pickle"
    path.write_bytes(data)
    return refusal(path, **options)


class Trap:
    """Pickles to a call; ``sprung`` tells whether anyone made it."""

    sprung = False

    def __reduce__(self) -> Any:
        return _spring, ()


def _spring() -> None:
    Trap.sprung = True


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("place", ["top", "key", "frame"])
def test_no_global_is_ever_resolved(tmp_path: Path, protocol: int, place: str) -> None:
    made: Any = snapshot(events=60)
    if place == "key":
        made["unknown"] = Trap()
    elif place == "frame":
        made["device_traces"][0][5]["frames"].append(Trap())
    else:
        made = Trap()
    path = write_pickle(made, tmp_path / "trap.pickle", protocol)

    assert "asks for the Python object" in refusal(path)
    assert Trap.sprung is False
    pickle.loads(path.read_bytes())
    assert Trap.sprung is True  # it was a real trap
    Trap.sprung = False


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02cos\nsystem\n(S'exit 1'\ntR.",
        b"\x80\x02(S'exit 1'\nios\nsystem\n.",
        b"\x80\x02(cos\nsystem\nS'exit 1'\no.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x06exit 1\x85R.",
        b"\x80\x02cbuiltins\nobject\n)\x81.",
        b"\x80\x04K\x07Q.",
        b"\x80\x02P7\n.",
    ],
)
def test_every_opcode_that_leads_out_is_refused(tmp_path: Path, data: bytes) -> None:
    sentence = refusal_of(tmp_path, data)

    assert "asks for the Python object" in sentence or "outside the file" in sentence


@pytest.mark.parametrize("code", [b"\x82\xf7", b"\x83\xf7\x00", b"\x84\xf7\x00\x00\x00"])
def test_registered_extensions_are_globals_too(tmp_path: Path, code: bytes) -> None:
    copyreg.add_extension("os", "getpid", 0xF7)
    try:
        assert pickle.loads(b"\x80\x02" + code + b".") is os.getpid  # and is now in a cache
        assert "asks for the Python object 'os.getpid'" in refusal_of(
            tmp_path, b"\x80\x02" + code + b"."
        )
    finally:
        copyreg.remove_extension("os", "getpid", 0xF7)


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x04]r\xff\xff\xff\xff.",  # a memo slot far out, for which all before it are made
        b"\x80\x04]r\x00\x00\x00\x40.",
        b"\x80\x04\x8d" + Q(1 << 62) + b"abc.",
        b"\x80\x04\x8d" + Q(10 << 30) + b"abc.",
        b"\x80\x04\x8e" + Q(10 << 30) + b"abc.",
        b"\x80\x05\x96" + Q(10 << 30) + b"abc.",
        b"\x80\x04\x95" + Q(1 << 40) + b"N.",
        b"\x80\x04\x8b\xff\xff\xff\x7fabc.",
        b"\x80\x04X\xff\xff\xff\xffabc.",
        b"\x80\x03B\xff\xff\xff\xffabc.",
    ],
)
def test_few_bytes_that_ask_for_gigabytes(tmp_path: Path, data: bytes) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    assert "asks for more memory" in refusal_of(tmp_path, data)

    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 64 << 10  # KiB


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x04)" + b"\x85" * DEEP + b".",
        b"\x80\x04})" + b"\x85" * DEEP + b"Ns.",  # hashing it would overrun the C stack
        b"\x80\x04})" + b"\x85\x94" * DEEP + b"Ns.",
        b"\x80\x04})" + b"N\x86" * DEEP + b"Ns.",
        b"[" * DEEP,
        b'{"segments": ' + b"[" * DEEP,
    ],
)
def test_towers_are_refused(tmp_path: Path, data: bytes) -> None:
    assert "nested too deeply" in refusal_of(tmp_path, data)
    assert "nested too deeply" in refusal_of(tmp_path, gzip.compress(data, 1))


@pytest.mark.parametrize(
    "tower", [b"]" * DEEP + b"a" * (DEEP - 1), b"}K\x00" * DEEP + b"N" + b"s" * DEEP]
)
def test_towers_in_a_known_or_unknown_key(tmp_path: Path, tower: bytes) -> None:
    known = b"\x80\x04}\x8c\x08segments" + tower + b"s."
    unknown = (
        b"\x80\x04}\x8c\x01x" + tower + b"s\x8c\x0ddevice_traces]](}\x8c\x06action\x8c\x05allocs"
        b"\x8c\x04addrJ\x00\x10\x00\x00s"
    )

    assert "not a valid memory snapshot" in refusal_of(tmp_path, known)
    refusal_of(tmp_path, unknown + b"eas.")


def test_a_bomb_of_gzip_stops_at_the_limit(tmp_path: Path) -> None:
    data = b"\x80\x04(" + b"N" * (8 << 20)
    bomb = gzip.compress(data, 9)
    assert len(bomb) < len(data) // 500

    sentence = refusal_of(tmp_path, bomb, limit=1 << 20)

    assert "unpacks to more than 1 MiB" in sentence


def test_a_compressed_file_may_use_all_of_the_limit(tmp_path: Path) -> None:
    made = snapshot(events=200)
    path = write_pickle(made, tmp_path / "made.pickle.gz")
    size = len(pickle.dumps(made, 4))

    assert torch_snapshot.read(path, limit=size).table("events").num_rows == 200
    assert "unpacks to more than" in refusal(path, limit=size - 1)


def test_several_gzip_members_are_one_file(tmp_path: Path) -> None:
    data = pickle.dumps(snapshot(events=200), 4)
    path = tmp_path / "made.pickle.gz"
    path.write_bytes(
        b"".join(gzip.compress(data[i : i + 3000]) for i in range(0, len(data), 3000)) + b"\0" * 9
    )

    assert torch_snapshot.read(path).table("events").num_rows == 200


@pytest.mark.parametrize("suffix", [".pickle", ".pickle.gz", ".json"])
def test_cut_off_at_any_byte(tmp_path: Path, suffix: str) -> None:
    from tests.fixtures.snapshots import write_json

    made = snapshot(events=9, stacks=2, depth=2, step_events=9)
    write = write_json if suffix == ".json" else write_pickle
    data = write(made, tmp_path / f"whole{suffix}").read_bytes()
    path = tmp_path / f"cut{suffix}"
    # A gzip file still says all there is without the checksum at its very end.
    whole = len(data) - (9 if suffix.endswith(".gz") else 0)
    for length in range(whole):
        path.write_bytes(data[:length])
        sentence = refusal(path)
        if length == 0:
            assert "is empty (0 bytes)" in sentence
        elif suffix == ".pickle" and length > 16:
            assert "ends in the middle" in sentence
    path.write_bytes(data)
    assert torch_snapshot.read(path).table("events").num_rows == 9


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"hello", "neither a pickle nor JSON"),
        (b"\0" * 5000, "neither a pickle nor JSON"),
        (b"PK\x03\x04model.pt", "neither a pickle nor JSON"),
        (b"\x1f\x8b", "ends in the middle"),
        (b"\x1f\x8bxxxxxxxxxxxxxx", "gzip data is not valid"),
        (gzip.compress(b"", mtime=0), "neither a pickle nor JSON"),
        (b"\x80\x06N.", "protocol 6"),
        (b"\x80\x01N.", "protocol 1"),
        (b"\x80\x04.", "damaged"),
        (b"\x80\x05\x97.", "damaged"),
        (b"\x80\x04]}b.", "damaged"),
        (b"\x80\x04N)R.", "damaged"),
        (b"\x80\x04\x82\x07.", "damaged"),
        (b"\x80\x04}]Ns.", "damaged"),
        (b"\x80\x04\x8d" + Q((1 << 64) - 1) + b".", "damaged"),
        (b'{"segments": [', "not valid JSON"),
        (b'{"segments": "\xff"}', "JSON in an unknown encoding"),
        (b'{"segments": [' + b"1" * 5000 + b"]}", "not valid"),
        (b'{"traceEvents": []}', "without segments"),
        (pickle.dumps({"state_dict": {}, "epoch": 3}), "without segments"),
        (pickle.dumps([1, 2, 3]), "not one of segments"),
        (pickle.dumps([{"name": "x"}]), "neither a size nor blocks"),
        (pickle.dumps(None), "holds None"),
        (pickle.dumps("segments"), "holds 'segments'"),
    ],
)
def test_other_files(tmp_path: Path, data: bytes, words: str) -> None:
    assert words in refusal_of(tmp_path, data)


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pickle")
    (tmp_path / "folder.pickle").mkdir()
    (tmp_path / "dangling.pickle").symlink_to(tmp_path / "gone")
    (tmp_path / "loop.pickle").symlink_to(tmp_path / "loop.pickle")

    assert "not a regular file" in refusal(tmp_path / "pipe.pickle")
    assert "is a folder" in refusal(tmp_path / "folder.pickle")
    assert "is not there" in refusal(tmp_path / "dangling.pickle")
    assert "cannot be read" in refusal(tmp_path / "loop.pickle")
    assert "is not there" in refusal(tmp_path / "absent.pickle")


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_pickle(snapshot(events=60), tmp_path / "secret.pickle")

    def denied(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", denied)

    assert "may not be read by this user" in refusal(path)


@pytest.mark.parametrize("change", ["grows", "shrinks"])
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, change: str) -> None:
    path = write_pickle(snapshot(events=30_000), tmp_path / "live.pickle")
    size = path.stat().st_size

    def interfere(part: float, phase: str) -> None:
        if phase == "reading":
            os.truncate(path, size + 4096 if change == "grows" else size // 4)

    with pytest.raises(SourceError, match="changed while it was read"):
        torch_snapshot.read(path, interfere)


def test_the_collector_and_limits_are_as_before(tmp_path: Path) -> None:
    import gc

    before = resource.getrlimit(resource.RLIMIT_AS)
    torch_snapshot.read(write_pickle(snapshot(events=60), tmp_path / "made.pickle"))
    refusal_of(tmp_path, b"\x80\x04N")

    assert gc.isenabled()
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_more_text_than_a_column_can_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_MOST_TEXT", 4_000)
    structure = snapshot(events=60)
    for place, entry in enumerate(structure["device_traces"][0]):
        entry["user_metadata"] = f"{place:0100}"
    path = write_pickle(structure, tmp_path / "made.pickle")
    assert "holds more than 4000 bytes of different texts" in refusal(path)
