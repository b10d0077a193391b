"""The filter language, word by word."""

from __future__ import annotations

import pytest

from tb_memory_plugin.analysis.filters import mask
from tb_memory_plugin.errors import QueryError
from tests.fixtures.training import training

BEFORE, FREED, MM, SOFTMAX, CPP, BARE = 0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000
ALL = [BEFORE, FREED, MM, SOFTMAX, CPP, BARE]


def passing(text: str) -> list[int]:
    """Addresses of the allocations of ``training`` that pass."""
    recording = training()
    device = recording.devices[0]
    address = recording.values("allocations", "address", device)
    found = mask(recording, device, text)
    return [int(each) for each in (address if found is None else address[found])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ALL),
        ("   ", ALL),
        ("forward", [MM, SOFTMAX]),
        ("FORWARD", [MM, SOFTMAX]),
        ("forward softmax", [SOFTMAX]),
        ("-forward", [BEFORE, FREED, CPP, BARE]),
        ("model.py:88", [MM]),
        ('"forward /home/me/model.py:90"', [SOFTMAX]),
        ("/soft|linear/", [MM, SOFTMAX]),
        ("/home/me/train.py", [MM, SOFTMAX]),
        ("aten::mm", [MM, CPP]),
        ("block.0", [MM]),
        ("size>700", [BEFORE, SOFTMAX]),
        ("size>=700", [BEFORE, SOFTMAX, CPP]),
        ("size<0.1KiB", [BARE]),
        ("size<=64", [BARE]),
        ("size=2KiB", [SOFTMAX]),
        ("size:2048", [SOFTMAX]),
        ("category:activation", [MM, SOFTMAX]),
        ("-category:activation", [BEFORE, FREED, CPP, BARE]),
        ("category:weight", [BEFORE]),
        ("category:unknown", [FREED, BARE]),
        ("category:optimizer_state", []),
        ('category:"Optimizer State"', []),
        ("step:3", [MM, SOFTMAX, CPP]),
        ("step>3", [BARE]),
        ("step:none", [BEFORE, FREED]),
        ("op:mm", [MM, CPP]),
        ("op:/^aten::s/", [SOFTMAX]),
        ("op=aten::softmax", [SOFTMAX]),
        ('op="aten::mm"', [MM, CPP]),
        ("op=mm", []),
        ("op=aten::MM", []),
        ("module:block size>1KiB", [SOFTMAX]),
        ("name:w", [BEFORE]),
        ("dtype:float32", [MM, SOFTMAX]),
        ('shape:"[8, 16]"', [MM]),
        ("annotation:inner", [SOFTMAX]),
        ("stack:main", [MM, SOFTMAX]),
        ("pool:private", [CPP]),
        ("pool:0,1", [CPP]),
        ("pool:default", [BEFORE, FREED, MM, SOFTMAX, BARE]),
        ("stream:7", [CPP]),
        ("stream:0x7", [CPP]),
        ("stream:default", [BEFORE, FREED, MM, SOFTMAX, BARE]),
        ("address:0x3000", [MM]),
        ("address:0x31ff", [MM]),
        ("0x31FF", [MM]),
        ("address:0x3200", []),
        ("address:18446744073709551615", []),
    ],
)
def test_what_passes(text: str, expected: list[int]) -> None:
    assert passing(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colour:red", "'colour' is nothing to filter by; use one of size, step"),
        ("size>big", "'big' is not a size; write it like 512, 10MiB or 1.5GiB"),
        ("size>10parsec", "is not a size"),
        ("size>", "does not say what to look for"),
        ("category:soup", "'soup' is not a category; they are parameter, optimizer state"),
        ("step:one", "step takes a whole number, not 'one'"),
        ("step:-1", "step takes a whole number"),
        ("op>mm", "op cannot be compared with >; write op:mm"),
        ("pool:9,9", "no pool '9,9'; use default, private or one of 0,0, 0,1"),
        ("address:0x1ffffffffffffffff", "address takes a whole number"),
        ('"open', "opens a quote and does not close it"),
        ("/(/", "/(/ is not a regular expression: missing ): (."),
        ("size>" + "9" * 5000, "is not a size"),
        ("\udcff", "holds bytes that are no text"),
        ("op:\udcff", "holds bytes that are no text"),
        ("x" * 1001, "A pattern may have 1000 characters"),
        ("x " * 101, "A filter may have 100 words; this one has more."),
    ],
)
def test_what_cannot_be_read_is_said_in_words(text: str, words: str) -> None:
    with pytest.raises(QueryError) as error:
        passing(text)
    assert words in str(error.value)
