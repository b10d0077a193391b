"""Message classes from the text of a ``.proto`` file, against bytes written by hand."""

from __future__ import annotations

import pytest

from tb_memory_plugin.proto.messages import message_classes
from tests.fixtures import pprof

SOURCE = """
message Outer {  // a comment; with a semicolon
  repeated Inner inner = 1;
  int64 number = 2;
  repeated uint64 ids = 3;
  double part = 4;
}
message Inner { bytes text = 1; }
"""


def test_a_message_is_read_and_the_unknown_is_skipped() -> None:
    data = pprof.part(1, pprof.part(1, b"\xff")) + pprof.part(1, b"") + pprof.number(2, -3)
    data += pprof.packed(3, [1, 300]) + pprof.number(3, 7) + pprof.part(99, b"later")

    message = message_classes("a.b", SOURCE)["Outer"].FromString(data)

    assert [inner.text for inner in message.inner] == [b"\xff", b""]
    assert (message.number, list(message.ids), message.part) == (-3, [1, 300, 7], 0.0)


def test_two_of_one_name_do_not_meet() -> None:
    first = message_classes("same", "message M { int64 a = 1; }")["M"]
    second = message_classes("same", "message M { bytes b = 1; }")["M"]

    assert first.FromString(pprof.number(1, 5)).a == 5
    assert second.FromString(pprof.part(1, b"x")).b == b"x"


@pytest.mark.parametrize(
    "source",
    ["message M { map<string, int64> a = 1; }", "message M { text a = 1; }", "enum E { A = 0; }"],
)
def test_what_is_not_understood_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"cannot be understood|outside of messages|TYPE_TEXT"):
        message_classes("odd", source)
