"""What allocations are for, against a small model whose every tensor is known."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tb_memory_plugin.recorder import MemoryWriter
from tests.recorder.conftest import Said
from tests.recorder.loops import Recorded, Row, record

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
nn = torch.nn
pytestmark = pytest.mark.usefixtures("every_step")


def network() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 7, 3), nn.BatchNorm2d(7), nn.ReLU(), nn.Flatten(), nn.Linear(7 * 36, 5)
    )


def sizes(model: Any) -> dict[str, int]:
    return {name: p.numel() * p.element_size() for name, p in model.named_parameters()}


def train(memory: MemoryWriter, model: Any, optimizer: Any, steps: int = 3) -> None:
    for _ in range(steps):
        images, classes = torch.randn(11, 3, 8, 8), torch.randint(5, (11,))
        loss = nn.functional.cross_entropy(model(images), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        memory.step()


def at_end_of_step(recorded: Recorded, step: int) -> list[Row]:
    (moment,) = [
        row["end"]
        for row in recorded.rows("spans")
        if row["kind"] == "step" and row["step"] == step
    ]
    return [
        row
        for row in recorded.lives
        if (row["birth_time"] or 0) <= moment and (row["death_time"] or moment + 1) > moment
    ]


def names(rows: list[Row], category: str) -> Counter[tuple[str, int]]:
    return Counter((row["name"], row["size"]) for row in rows if row["category"] == category)


@pytest.mark.parametrize("made_inside", [False, True])
def test_parameters_gradients_and_optimizer_state_are_named(
    tmp_path: Path, said: Said, made_inside: bool
) -> None:
    model = optimizer = None
    if not made_inside:
        model = network()
        optimizer = torch.optim.Adam(model.parameters())

    def program(memory: MemoryWriter) -> None:
        nonlocal model, optimizer
        if model is None:
            model = network()
            optimizer = torch.optim.Adam(model.parameters())
        memory.track(model, optimizer)
        train(memory, model, optimizer)

    recorded = record(tmp_path, program)
    alive = at_end_of_step(recorded, 1)
    wanted = sizes(model)
    buffers = {name: b.numel() * b.element_size() for name, b in model.named_buffers()}
    assert names(alive, "parameter") == Counter((wanted | buffers).items())
    assert names(alive, "gradient") == Counter(wanted.items())
    state = {
        f"{name}.{key}": size for name, size in wanted.items() for key in ("exp_avg", "exp_avg_sq")
    }
    state |= {f"{name}.step": 4 for name in wanted}
    assert names(alive, "optimizer state") == Counter(state.items())
    certain = [row for row in alive if row["name"] is not None]
    assert not any(row["category_inferred"] for row in certain)
    assert all(
        (row["birth"] is None) == (not made_inside)
        for row in alive
        if row["category"] == "parameter"
    )
    kernel = next(row for row in alive if row["name"] == "0.weight")
    assert (kernel["dtype"], kernel["shape"]) == ("float32", "[7, 3, 3, 3]")
    assert said() == []
    assert recorded.recording.meta["problems"] == []


def test_gradients_are_told_without_tracking(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters())
    recorded = record(tmp_path, lambda memory: train(memory, model, optimizer))
    wanted = Counter(sizes(model).values())
    found = [row for row in at_end_of_step(recorded, 1) if row["category"] == "gradient"]
    assert Counter(row["size"] for row in found) == wanted


def test_an_untracked_model_made_inside_has_parameters(tmp_path: Path) -> None:
    def program(memory: MemoryWriter) -> None:
        model = network()
        train(memory, model, torch.optim.SGD(model.parameters()))

    recorded = record(tmp_path, program)
    found = [row for row in at_end_of_step(recorded, 1) if row["category"] == "parameter"]
    assert Counter(row["size"] for row in found) == Counter(sizes(network()).values())
    assert {row["name"] for row in found} == {
        f"{kind}.{name}"
        for kind in ("Conv2d", "BatchNorm2d", "Linear")
        for name in ("weight", "bias")
    }


def test_inputs_activations_and_the_rest(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.Adam(model.parameters())

    def program(memory: MemoryWriter) -> None:
        memory.track(model, optimizer)
        train(memory, model, optimizer)

    recorded = record(tmp_path, program)
    born = [row for row in recorded.lives if row["step"] == 1]
    images = 11 * 3 * 8 * 8 * 4
    kinds = {
        (row["category"], row["size"])
        for row in born
        if row["op"] in ("aten::randn", "aten::randint")
    }
    assert kinds == {("input", images), ("input", 11 * 8)}
    feature = 11 * 7 * 6 * 6 * 4
    kept = [row for row in born if row["category"] == "activation" and row["size"] == feature]
    assert {row["module"] for row in kept} == {"0", "1", "2"}
    assert {row["op"] for row in kept} == {"aten::conv2d", "aten::batch_norm", "aten::relu"}
    assert all(row["shape"] == "[11, 7, 6, 6]" for row in kept)
    backward = [row for row in born if row["category"] == "autograd detail"]
    assert backward
    assert all(
        row["op"].endswith("Backward0") or row["op"] == "aten::ones_like" for row in backward
    )
    assert any(row["module"] == "2" for row in backward)  # from the forward op that made it
    assert all(row["death"] is not None for row in born if row["category"] == "temporary")
    assert not [row for row in born if row["category"] in (None, "unknown")]


def test_backward_allocations_have_the_stack_of_their_forward(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters())

    def program(memory: MemoryWriter) -> None:
        memory.track(model, optimizer)
        train(memory, model, optimizer)

    recorded = record(tmp_path, program)
    row = next(row for row in recorded.lives if row["op"] == "ReluBackward0")
    assert any(frame[0] == "relu" for frame in recorded.frames(row["forward_stack"]))
    assert any(frame[0] == "backward" for frame in recorded.frames(row["birth_stack"]))
    spans = recorded.rows("spans")
    pairs = {
        (spans[link["source"]]["name"], spans[link["target"]]["name"].split(": ")[-1])
        for link in recorded.rows("links")
    }
    assert ("aten::relu", "ReluBackward0") in pairs
    assert ("aten::conv2d", "ConvolutionBackward0") in pairs


def test_kept_gradients_go_on_and_let_go_ones_end(tmp_path: Path) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters())

    def program(memory: MemoryWriter) -> None:
        memory.track(model, optimizer)
        for set_to_none in (True, False, False):
            optimizer.zero_grad(set_to_none=set_to_none)
            nn.functional.cross_entropy(
                model(torch.randn(4, 3, 8, 8)), torch.randint(5, (4,))
            ).backward()
            optimizer.step()
            memory.step()
        optimizer.zero_grad()

    lives = [row for row in record(tmp_path, program).lives if row["category"] == "gradient"]
    assert {row["step"] for row in lives} == {0}
    assert len(lives) == len(sizes(model))
    assert all(row["death"] is not None for row in lives)


def test_tracking_keeps_nothing_alive(tmp_path: Path) -> None:
    """A model let go of within the writer is gone, and its memory ends in the recording."""
    model = network()

    def program(memory: MemoryWriter) -> None:
        nonlocal model
        memory.track(model, torch.optim.SGD(model.parameters()))
        memory.step()
        model = None
        memory.step()

    lives = [row for row in record(tmp_path, program).lives if row["category"] == "parameter"]
    assert len(lives) == 9
    assert all(row["birth"] is None and row["death"] is not None for row in lives)


def test_two_models_keep_their_names_apart(tmp_path: Path) -> None:
    first, second = nn.Linear(3, 5), nn.Linear(3, 5)

    def program(memory: MemoryWriter) -> None:
        memory.track(first, name="generator")
        memory.track(second, name="critic")
        first(torch.randn(2, 3))
        memory.step()

    recorded = record(tmp_path, program)
    assert {row["name"] for row in recorded.lives if row["category"] == "parameter"} == {
        f"{model}.{name}" for model in ("generator", "critic") for name in ("weight", "bias")
    }
    assert {row["module"] for row in recorded.lives if row["op"] == "aten::linear"} == {"generator"}
