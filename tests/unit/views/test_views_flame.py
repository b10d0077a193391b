"""The flame graph as the page gets it, and as files for other viewers."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.analysis.flame_rows import OF
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.store.load import load_path
from tb_memory_plugin.views import flame, flame_files, source_lines
from tb_memory_plugin.views.flame_frames import cut
from tests.fixtures.histories import Event, history
from tests.fixtures.training import MODEL, TORCH, TRAIN, training
from tests.unit.analysis.test_analysis_flame_tree import stacked

Answer = dict[str, Any]


def asked(recording: Recording | None = None, **question: Any) -> Answer:
    recording = recording or training()
    answer: Answer = json.loads(
        json.dumps(flame.page(recording, recording.devices[0], **question), allow_nan=False)
    )
    return answer


def nodes(answer: Answer) -> list[dict[str, Any]]:
    """The nodes as objects, with their label and those of the ones above."""
    columns = answer["nodes"]
    found: list[dict[str, Any]] = []
    for place in range(len(columns["parent"])):
        node = {name: values[place] for name, values in columns.items()}
        node["label"] = answer["frames"]["label"][node["frame"]]
        node["kind"] = answer["frames"]["kind"][node["frame"]]
        node["way"] = [*(found[node["parent"]]["way"] if place else []), node["label"]]
        found.append(node)
    return found


def below(answer: Answer) -> list[tuple[int, int]]:
    """The value of every node, and what those below it have together."""
    columns = answer["nodes"]
    sums = [0] * len(columns["parent"])
    for place, parent in enumerate(columns["parent"]):
        if parent >= 0:
            sums[parent] += columns["value"][place]
    return list(zip(columns["value"], sums, strict=True))


def test_the_peak_from_the_outermost_frame_inwards() -> None:
    answer = asked()
    assert (answer["unit"], answer["total"], answer["count"]) == ("bytes", 4560, 5)
    assert answer["moment"] == {"event": 3, "time": 3000, "step": 3}
    assert [(node["way"][1:], node["value"], node["count"]) for node in nodes(answer)] == [
        ([], 4560, 5),
        (["main · train.py:41"], 2560, 2),
        (["main · train.py:41", "forward · model.py:90"], 2048, 1),
        (["main · train.py:41", "forward · model.py:90", "softmax · functional.py:7"], 2048, 1),
        (["main · train.py:41", "forward · model.py:88"], 512, 1),
        (["main · train.py:41", "forward · model.py:88", "linear · functional.py:9"], 512, 1),
        (["before the window"], 1300, 2),
        (["??"], 700, 1),
        (["??", "aten::mm"], 700, 1),
    ]
    kinds = {node["label"]: node["kind"] for node in nodes(answer)}
    assert kinds["all"] == "root"
    assert (kinds["forward · model.py:88"], kinds["linear · functional.py:9"]) == ("own", "library")
    frames = answer["frames"]
    place = frames["label"].index("softmax · functional.py:7")
    assert [frames[name][place] for name in ("function", "file", "line")] == ["softmax", TORCH, 7]


def test_inverted_the_innermost_frame_comes_first() -> None:
    ways = {tuple(node["way"]): node["value"] for node in nodes(asked(inverted=True))}
    assert ways[("all", "softmax · functional.py:7")] == 2048
    linear = ("all", "linear · functional.py:9", "forward · model.py:88", "main · train.py:41")
    assert ways[linear] == 512


def test_library_frames_one_after_the_other_are_folded() -> None:
    deep = [("mm", TORCH, 3), ("linear", TORCH, 9), ("forward", MODEL, 88), ("call", TORCH, 1)]
    deeper = [("bmm", TORCH, 4), ("attend", TORCH, 5), *deep[1:]]
    stacks = [[*stack, ("main", TRAIN, 41)] for stack in (deep, deeper)]
    recording = derive(
        history(
            [("alloc", 1 << 20, 5, {"stack": 0}), ("alloc", 2 << 20, 7, {"stack": 1})],
            stacks=stacks,
        )
    )
    # One library frame between two of the user's stays as it is.
    way = ["all", "main · train.py:41", "call · functional.py:1", "forward · model.py:88"]
    assert [(node["way"], node["value"]) for node in nodes(asked(recording, folded=True))][-1] == (
        [*way, "… 2–3 library frames"],
        12,
    )


def test_a_node_can_be_looked_into_by_its_key() -> None:
    whole = asked()
    (main,) = [node for node in nodes(whole) if node["label"] == "main · train.py:41"]
    inner = asked(root=main["key"])
    assert nodes(inner)[0]["value"] == 2560
    assert (inner["total"], inner["count"]) == (4560, 5)
    assert [inner["frames"]["label"][step["frame"]] for step in inner["way"]] == [
        "all",
        "main · train.py:41",
    ]
    assert [step["value"] for step in inner["way"]] == [4560, 2560]
    assert [node["value"] for node in nodes(inner)] == [2560, 2048, 2048, 512, 512]
    for key in ("0123456789abcdef", "main", "-1", "f" * 17):
        with pytest.raises(QueryError, match="no such frame"):
            asked(root=key)


def test_a_search_says_how_much_of_every_node_it_found() -> None:
    answer = asked(find="softmax")
    assert answer["found"] == {"value": 2048, "count": 1}
    hits = {node["label"]: (node["hit"], node["value"]) for node in nodes(answer)}
    assert hits["all"] == (2048, 4560)
    assert hits["main · train.py:41"] == (2048, 2560)
    assert hits["linear · functional.py:9"] == (0, 512)
    frames = answer["frames"]
    assert [frames["label"][i] for i, hit in enumerate(frames["hit"]) if hit] == [
        "softmax · functional.py:7"
    ]
    # Other words of the filter find allocations, whatever their frames are called.
    assert asked(find="category:gradient")["found"] == {"value": 700, "count": 1}
    assert asked(find="-softmax size>600")["found"] == {"value": 1700, "count": 2}
    assert asked(find="softmax", filter="linear")["found"] == {"value": 0, "count": 0}
    assert "hit" not in asked()["nodes"]


def test_a_filter_leaves_the_rest_out() -> None:
    answer = asked(filter="stack:model.py")
    assert (answer["total"], answer["count"]) == (2560, 2)
    assert {node["kind"] for node in nodes(answer)} == {"root", "own", "library"}
    empty = asked(filter="nowhere")
    assert [(node["label"], node["value"]) for node in nodes(empty)] == [("all", 0)]


def _wide(count: int) -> Recording:
    """One allocation of 1, 2, 3 … bytes of each of so many functions."""
    events: list[Event] = [("alloc", 0x1000 * (n + 1), n + 1, {"stack": n}) for n in range(count)]
    stacks = [[(f"f{n}", "a.py", n), ("main", "a.py", 1)] for n in range(count)]
    return derive(history(events, stacks=stacks))


def test_what_is_narrower_than_a_pixel_is_one_node_with_its_sum() -> None:
    recording = _wide(100)  # 5050 bytes
    answer = asked(recording, width=60)  # 84.2 bytes a pixel
    assert len(nodes(answer)) == 2 + 16 + 1
    last = nodes(answer)[-1]
    assert (last["label"], last["kind"], last["key"]) == ("84 smaller", "smaller", None)
    assert (last["value"], last["count"]) == (84 * 85 // 2, 84)
    found = asked(recording, width=60, find="size<=10")
    assert nodes(found)[-1]["hit"] == 55
    assert below(answer)[0] == below(answer)[1] == (5050, 5050)


def test_an_answer_is_bounded_however_many_functions_there_are() -> None:
    recording = _wide(30_000)
    answer = asked(recording, width=16_000, find="f1")
    assert len(nodes(answer)) <= 20_000
    assert len(json.dumps(answer, separators=(",", ":"))) <= 1 << 20
    assert below(answer)[1][1] == 30_000 * 30_001 // 2


def test_names_are_cut_to_fit() -> None:
    assert cut(["a" * 50, None, "b"], 1000) == ["a" * 50, None, "b"]
    texts = cut(["é" * 3000, "b" * 3000, None, "short"], 1000)
    assert texts[2:] == [None, "short"]
    assert all(text and text.endswith("…") for text in texts[:2])
    assert len(json.dumps(texts)) < 1100


@given(stacked(), st.sampled_from(sorted(OF)), st.booleans(), st.booleans(), st.integers(1, 30))
def test_nodes_are_what_is_below_them_and_their_own(
    made: tuple[Recording, Any], of: str, inverted: bool, folded: bool, width: int
) -> None:
    recording, _ = made
    shape = {"inverted": inverted, "folded": folded}
    answer = asked(recording, of=of, width=width, find="size>500", **shape)
    # By key: frames of the same name in other folders have the same label.
    whole = {node["key"]: node for node in nodes(asked(recording, of=of, width=16_000, **shape))}
    for node, (value, inner) in zip(nodes(answer), below(answer), strict=True):
        assert 0 <= inner <= value
        assert 0 <= node["hit"] <= value
        if node["kind"] != "smaller":
            assert node["value"] == whole[node["key"]]["value"]
    assert answer["total"] == below(answer)[0][0]
    assert answer["found"]["value"] == nodes(answer)[0]["hit"]


@given(stacked(), st.sampled_from(sorted(OF)), st.booleans(), st.booleans())
def test_folded_stacks_read_again_are_the_tree(
    made: tuple[Recording, Any], of: str, inverted: bool, folded: bool
) -> None:
    recording, _ = made
    question = {"of": of, "inverted": inverted, "folded": folded}
    answer = asked(recording, width=1 << 60, **question)
    text = "".join(flame_files.folded_stacks(recording, recording.devices[0], **question))
    read: Counter[tuple[str, ...]] = Counter()
    for line in text.splitlines():
        stack, value = line.rsplit(" ", 1)
        names = tuple(stack.split(";"))
        for depth in range(len(names) + 1):
            read[names[:depth]] += int(value)
    frames = answer["frames"]
    said = [
        f"{function} ({file}:{line})" if line else f"{function} ({file})" if file else function
        for function, file, line in zip(
            *(frames[name] for name in ("function", "file", "line")), strict=True
        )
    ]
    said = [name or label for name, label in zip(said, frames["label"], strict=True)]
    tree: Counter[tuple[str, ...]] = Counter()
    ways: list[tuple[str, ...]] = []
    columns = answer["nodes"]
    for place, parent in enumerate(columns["parent"]):
        ways.append(() if parent < 0 else (*ways[parent], said[columns["frame"][place]]))
        tree[ways[place]] += columns["value"][place]
    assert +read == +tree


def test_folded_stacks_are_all_there_however_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flame_files, "_AT_ONCE", 3)
    stacks = [[(f"f{place % 5}", "m.py", place), ("main", "m.py", 1)] for place in range(1, 9)]
    recording = derive(
        history(
            [("alloc", 4096 * place, place + 1, {"stack": place}) for place in range(8)],
            stacks=stacks,
        )
    )
    text = "".join(flame_files.folded_stacks(recording, recording.devices[0]))
    assert sorted(text.splitlines()) == sorted(
        f"main (m.py:1);f{place % 5} (m.py:{place}) {place}" for place in range(1, 9)
    )


def test_names_in_folded_stacks_do_not_end_them() -> None:
    recording = derive(
        history(
            [("alloc", 0, 5, {"stack": 0})],
            stacks=[[("operator; ()\n", "/a;b c.py", 1), ("main", "m.py", 2)]],
        )
    )
    (text,) = flame_files.folded_stacks(recording, recording.devices[0])
    assert text == "main (m.py:2);operator: () (/a:b c.py:1) 5\n"


def test_speedscope_gets_a_sample_a_stack() -> None:
    recording = training()
    document = json.loads("".join(flame_files.speedscope(recording, recording.devices[0])))
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert re.match(r"tb_memory_plugin@\d", document["exporter"])
    (profile,) = document["profiles"]
    assert profile["type"] == "sampled"
    assert (profile["unit"], profile["startValue"], profile["endValue"]) == ("bytes", 0, 4560)
    frames = document["shared"]["frames"]
    stacks = {
        tuple(frames[frame]["name"] for frame in sample): weight
        for sample, weight in zip(profile["samples"], profile["weights"], strict=True)
    }
    assert stacks == {
        ("main", "forward", "softmax"): 2048,
        ("main", "forward", "linear"): 512,
        ("??", "at::_ops::mm::call(at::Tensor const&)"): 700,
        ("before the window",): 1300,
    }
    assert {"name": "linear", "file": TORCH, "line": 9} in frames
    for frame in frames:
        assert set(frame) <= {"name", "file", "line"}
    pieces = flame_files.speedscope(recording, recording.devices[0], of="allocations")
    counted = json.loads("".join(pieces))
    assert counted["profiles"][0]["unit"] == "none"


def test_lines_are_the_user_s_own_first() -> None:
    recording = training()
    answer = source_lines.page(recording, recording.devices[0])
    assert (answer["total"], answer["count"], answer["unit"]) == (4560, 5, "bytes")
    assert answer["nowhere"] == [{"label": "before the window", "value": 1300, "count": 2}]
    model, train, *libraries = answer["files"]
    assert (model["file"], model["library"]) == (MODEL, False)
    assert (model["made"], model["made_count"], model["through"]) == (2560, 2, 2560)
    assert model["lines"] == [
        {
            "line": 90,
            "function": "forward",
            "made": 2048,
            "made_count": 1,
            "through": 2048,
            "through_count": 1,
        },
        {
            "line": 88,
            "function": "forward",
            "made": 512,
            "made_count": 1,
            "through": 512,
            "through_count": 1,
        },
    ]
    assert (train["file"], train["made"], train["through"]) == (TRAIN, 0, 2560)
    assert all(file["library"] for file in libraries)
    assert answer["rest"] == {"lines": 0, "made": 0}
    made = sum(line["made"] for file in answer["files"] for line in file["lines"])
    assert made + 1300 == 4560


def test_paths_are_cut_to_fit() -> None:
    stacks = [[("f", f"/{'deep/' * 2_000}{n}.py", 1)] for n in range(100)]
    events = [("alloc", 0x1000 * n, 8, {"stack": n}) for n in range(len(stacks))]
    recording = derive(history(events, stacks=stacks))
    answer = source_lines.page(recording, recording.devices[0])
    assert len(answer["files"]) == 100
    assert len(json.dumps(answer)) < 500_000


def test_lines_that_are_left_out_are_counted() -> None:
    recording = training()
    answer = source_lines.page(recording, recording.devices[0], limit=1)
    assert [file["file"] for file in answer["files"]] == [MODEL]
    assert [line["line"] for line in answer["files"][0]["lines"]] == [90]
    assert answer["files"][0]["made"] == 2560
    assert answer["rest"]["lines"] == 6
    assert answer["rest"]["made"] == 4560 - 1300 - 2048


SNAPSHOTS = [
    "adam_small",
    "annotated_compile",
    "bare_list_old",
    "blocks_only",
    "blocks_only_old",
    "llm_2.7b_forward",
    "llm_fullstep",
    "llm_training_user_metadata",
    "many_snapshots",
    "no_time_us",
    "no_time_us_segments",
    "oom_expandable_3gpu",
    "oom_nohistory",
    "private_pools_nohistory",
    "small_train",
    "two_gpus_wrapped",
]


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_real_snapshots_add_up(name: str, shared_data: Path) -> None:
    recording = load_path(shared_data / "snapshots" / f"{name}.pickle")
    facts = json.loads((shared_data / "snapshots" / "facts.json").read_text())
    for device in recording.devices:
        expected = facts[f"{name}.pickle"]["devices"][device.key]
        peak = expected["allocated_peak"]
        for shape in ({}, {"inverted": True}, {"folded": True}):
            answer = flame.page(recording, device, **shape)
            assert answer["total"] == peak
            for value, inner in below(answer):
                assert 0 <= inner <= value
        births = flame.page(recording, device, of="allocations")
        assert births["total"] == expected["allocs"]
        # By stack of birth, all that has none together, as the independent replay counted.
        sizes: Counter[str] = Counter()
        for line in flame_files.folded_stacks(recording, device):
            stack, size = line.rsplit(" ", 1)
            sizes["" if stack in ("before the window", "no stack recorded") else stack] += int(size)
        assert sum(sizes.values()) == peak
        top = sorted(sizes.values(), reverse=True)[:5]
        assert top == expected["peak_bytes_by_stack_top5"]
        page = source_lines.page(recording, device, limit=1 << 20)
        made = sum(line["made"] for file in page["files"] for line in file["lines"])
        nowhere = sum(row["value"] for row in page["nowhere"])
        assert made + page["rest"]["made"] + nowhere == page["total"] == peak
