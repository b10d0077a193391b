"""Trains a small network on the CPU twice, with a classic memory bug and without, and records both.

Made data, no download, under a minute on two cores. The runs are ``leaky`` and ``fixed``; look at
them with ``tensorboard --logdir demo/runs``. Beside each recording stands what a small GPU's
allocator would have made of it, ``simulated_gpu.pickle`` (and, with expandable segments,
``simulated_gpu_expandable.pickle``): there, the bug ends in out-of-memory. In
``simulated_gpu_graphed.pickle`` the checks are a CUDA graph and batches are copied on a stream of
their own. ``simulated_gpu.pt.trace.json`` is what a profiler would have exported meanwhile, by a
clock of its own: a pair with ``simulated_gpu.pickle``.
"""

from __future__ import annotations

import argparse
import logging
import shutil
import time
from pathlib import Path

import cuda_shaped
import torch
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter

from tb_memory_plugin import MemoryWriter

CLASSES = 10
SIDE = 32

log = logging.getLogger("demo")


class Block(nn.Module):
    """Two convolutions with a way around them, then half the width and height."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.around = nn.Conv2d(inputs, outputs, 1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, images: Tensor) -> Tensor:
        inner = self.second(torch.relu(self.norm(self.first(images))))
        pooled: Tensor = self.pool(torch.relu(inner + self.around(images)))
        return pooled


class Network(nn.Module):
    """A small residual network for 32 × 32 images."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.blocks = nn.Sequential(Block(16, 32), Block(32, 64), Block(64, 128))
        self.head = nn.Linear(128 * 4 * 4, CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        features = self.blocks(torch.relu(self.stem(images)))
        scores: Tensor = self.head(features.flatten(1))
        return scores


class MadeImages:
    """Batches of noise with a pattern in it that says the class."""

    def __init__(self, seed: int) -> None:
        self._random = torch.Generator().manual_seed(seed)
        self._patterns = torch.randn(CLASSES, 3, SIDE, SIDE, generator=self._random)

    def batch(self, size: int) -> tuple[Tensor, Tensor]:
        """Images ``[size, 3, 32, 32]`` and their classes ``[size]``."""
        classes = torch.randint(CLASSES, (size,), generator=self._random)
        noise = torch.randn(size, 3, SIDE, SIDE, generator=self._random)
        return 0.4 * self._patterns[classes] + noise, classes


def train(logdir: Path, *, leaky: bool, steps: int, batch_size: int) -> Path:
    """One run: ``steps`` steps of training with scalars and memory written to ``logdir``.

    Returns the recording.
    """
    torch.manual_seed(7)
    images = MadeImages(seed=7)
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    checks: list[Tensor] = []
    with SummaryWriter(str(logdir)) as writer, MemoryWriter(logdir, writer=writer) as memory:
        memory.track(network, optimizer)
        for step in range(steps):
            with memory.annotate("data"):
                inputs, classes = images.batch(batch_size)
            with memory.annotate("forward"):
                scores = network(inputs)
                loss = nn.functional.cross_entropy(scores, classes)
            with memory.annotate("backward"):
                loss.backward()
            with memory.annotate("optimizer"):
                optimizer.step()
                # The first bug: gradients are overwritten with zeros instead of let go, so they
                # take their place in memory through the next forward pass, when it is dearest.
                optimizer.zero_grad(set_to_none=not leaky)
            with memory.annotate("check"):
                # The second: the losses of the checks are kept with the graphs that made them,
                # and as nothing runs backward through these, with all activations of the check.
                check = check_loss(network, images, batch_size // 4, graph=leaky)
                checks.append(check)
            accuracy = (scores.argmax(1) == classes).float().mean()
            writer.add_scalar("loss/train", loss.item(), step)
            writer.add_scalar("loss/check", check.item(), step)
            writer.add_scalar("accuracy/train", accuracy.item(), step)
            memory.step()
    log.info("%s: check loss %.3f to %.3f", logdir.name, checks[0].item(), checks[-1].item())
    return memory.files[0]


def check_loss(network: nn.Module, images: MadeImages, size: int, *, graph: bool) -> Tensor:
    """The loss on a batch that is not trained on; with the ``graph`` that led to it or without."""
    with torch.set_grad_enabled(graph):
        inputs, classes = images.batch(size)
        return nn.functional.cross_entropy(network(inputs), classes)


def main() -> None:
    """Both runs, in place of what an earlier run of this program left there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logdir", type=Path, default=Path(__file__).parent / "runs")
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--gpu-mib", type=int, default=128, help="memory of the simulated GPU")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    # Two threads on two busy cores wait for each other and are ten times slower than one.
    torch.set_num_threads(1)
    for name in ("leaky", "fixed"):
        shutil.rmtree(options.logdir / name, ignore_errors=True)
        began = time.monotonic()
        recording = train(
            options.logdir / name,
            leaky=name == "leaky",
            steps=options.steps,
            batch_size=options.batch_size,
        )
        log.info("%s: %.1f s", name, time.monotonic() - began)
        capacity = options.gpu_mib << 20
        done = cuda_shaped.write_all(recording, options.logdir / name, capacity=capacity)
        for file, full in done.items():
            end = "runs out of memory" if full else "is enough"
            log.info("%s: %s, %d MiB: %s", name, file, options.gpu_mib, end)


if __name__ == "__main__":
    main()
