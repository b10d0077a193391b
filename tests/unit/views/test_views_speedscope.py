"""Files for speedscope keep to the rules of its format, whatever they are of."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.flame_rows import OF
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views import flame_files
from tests.fixtures.training import training
from tests.speedscope import Broken, checked
from tests.unit.analysis.test_analysis_flame_tree import stacked


def file_of(recording: Recording, **question: Any) -> str:
    return "".join(flame_files.speedscope(recording, recording.devices[0], **question))


@given(stacked(), st.sampled_from(sorted(OF)), st.booleans(), st.booleans())
def test_any_file_keeps_to_the_rules(
    made: tuple[Recording, Any], of: str, inverted: bool, folded: bool
) -> None:
    text = file_of(made[0], of=of, inverted=inverted, folded=folded)
    (profile,) = checked(text)["profiles"]
    # The whole width is what was weighed: nothing is left at its end, and nothing is beyond it.
    assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
    assert all(weight > 0 for weight in profile["weights"])


def test_a_file_of_nothing_keeps_to_the_rules() -> None:
    (profile,) = checked(file_of(training(), filter="nowhere"))["profiles"]
    assert (profile["samples"], profile["weights"], profile["endValue"]) == ([], [], 0)


def profile(**members: Any) -> dict[str, Any]:
    """Another first profile."""
    (made,) = json.loads(file_of(training()))["profiles"]
    return {"profiles": [{**made, **members}]}


BROKEN: dict[str, dict[str, Any]] = {
    "names another format": {"$schema": "https://example.org"},
    "the file has no shared": {"shared": None},
    "no list of frames": {"shared": {"frames": {}}},
    "a frame has no name": {"shared": {"frames": [{"file": "a.py"}]}},
    "line of a frame": {"shared": {"frames": [{"name": "f", "line": "3"}]}},
    "a frame has members": {"shared": {"frames": [{"name": "f", "module": "m"}]}},
    "there is no profile": {"profiles": []},
    "the active profile": {"activeProfileIndex": 1},
    "exporter of the file": {"exporter": 7},
    "no unit 'bits'": profile(unit="bits"),
    "of type 'evented'": profile(type="evented"),
    "less than startValue": profile(startValue=1 << 40),
    "endValue of a profile": profile(endValue=True),
    "as many weights": profile(weights=[1]),
    "places among the frames": profile(samples=[[0, 99]], weights=[1]),
    "a weight is no number": profile(samples=[[0]], weights=["1"]),
    "NaN is not JSON": profile(samples=[[0]], weights=[float("nan")]),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_what_breaks_a_rule_is_refused(rule: str) -> None:
    document = {**json.loads(file_of(training())), **BROKEN[rule]}
    text = json.dumps({name: value for name, value in document.items() if value is not None})
    with pytest.raises(Broken, match=rule):
        checked(text)
