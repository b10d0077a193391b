"""Files that cannot be read, each with words of the sentence it ends in."""

from __future__ import annotations

import copy
import gzip
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fixtures.snapshots import snapshot

_DEEP = 2_000_000


class _Call:
    def __reduce__(self) -> Any:
        return os.system, ("true",)


def crasher() -> bytes:
    """A pickle that runs C code out of its stack: the process that reads it is gone."""
    return b"\x80\x04})" + b"\x85N\x86" * _DEEP + b"Ns."


def bomb() -> bytes:
    """A whole pickle of some 1 MB that unpacks to 1.5 GiB: strings, each dropped at once."""
    text = b"B" + (1 << 20).to_bytes(4, "little") + bytes(1 << 20) + b"0"
    middle = gzip.compress(text * 64, 9) * 24
    return gzip.compress(b"\x80\x04") + middle + gzip.compress(b"N.")


def _changed(change: Callable[[Any], None]) -> bytes:
    made = copy.deepcopy(snapshot(events=60))
    change(made)
    return pickle.dumps(made, 4)


def _text_for_a_size(made: Any) -> None:
    made["device_traces"][0][3]["size"] = "large"


def _negative(made: Any) -> None:
    made["device_traces"][0][3]["size"] = -512


def _wide(made: Any) -> None:
    made["device_traces"][0][3]["addr"] = 1 << 64


def contents() -> dict[str, tuple[bytes, str]]:
    """File names, what is in them, and words of the sentence."""
    good = pickle.dumps(snapshot(events=60), 4)
    return {
        "empty.pickle": (b"", "is empty"),
        "cut.pickle": (good[: len(good) // 2], "ends in the middle"),
        "zeros.pickle": (b"\0" * 5000, "neither a pickle nor JSON"),
        "text.pickle": (b"not a pickle\n", "neither a pickle nor JSON"),
        "other.pkl": (pickle.dumps({"weights": [1.0, 2.0]}), "not a"),
        "global.pickle": (pickle.dumps(_Call(), 4), "asks for the Python object"),
        "tower.pickle": (
            b"\x80\x04" + b"]" * _DEEP + b"a" * (_DEEP - 1) + b".",
            "is a list, but not one of",
        ),
        "nested.pickle": (b"\x80\x04})" + b"\x85" * _DEEP + b"Ns.", "nested too deeply"),
        "crash.pickle": (crasher(), "ended the process that read it"),
        "memo.pickle": (b"\x80\x04]r\xff\xff\xff\xff.", "asks for more memory"),
        "length.pickle": (b"\x80\x04\x8d" + b"\xff" * 7 + b"\x00abc.", "asks for more memory"),
        "bomb.pickle.gz": (bomb(), "unpacks to more than"),
        "types.pickle": (_changed(_text_for_a_size), "size of entry 3 is 'large', not an integer"),
        "negative.pickle": (_changed(_negative), "size of entry 3 is negative (-512)"),
        "wide.pickle": (_changed(_wide), "addr of entry 3 is wider than 64 bits"),
        "cut.tbmem": (b"TBMEM\x00\x00\x01" + b"\0" * 100, "the end of the recording is missing"),
    }


def write_all(folder: Path) -> dict[str, str]:
    """Writes them all, and a link to nothing; the words each one's sentence has."""
    folder.mkdir(parents=True, exist_ok=True)
    words = {}
    for name, (data, said) in contents().items():
        (folder / name).write_bytes(data)
        words[name] = said
    (folder / "nowhere.pickle").symlink_to(folder / "gone")
    return {**words, "nowhere.pickle": "link to nothing"}
