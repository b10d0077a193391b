"""Train with TensorFlow on the CPU's BFC allocator while its profiler runs; tell what it recorded.

    python tensorflow_training.py FOLDER

Prints JSON: of every allocator what a plain walk over the profile, parsed by TensorFlow's own
classes, finds in it.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "true"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2

STEPS = 3


def train(folder: Path) -> None:
    """Three steps of a small model, each marked as one."""
    tf.random.set_seed(1)
    hidden = tf.Variable(tf.random.normal([64, 256]))
    output = tf.Variable(tf.random.normal([256, 10]))

    @tf.function
    def step(inputs: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.relu(inputs @ hidden) @ output))
        for variable, gradient in zip(
            (hidden, output), tape.gradient(loss, [hidden, output]), strict=True
        ):
            variable.assign_sub(0.01 * gradient)
        return loss

    step(tf.random.normal([32, 64]))
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2)
    tf.profiler.experimental.start(str(folder), options)
    kept = []
    for number in range(STEPS):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            step(tf.random.normal([32 * (number + 1), 64]))
            kept.append(tf.zeros([1000 + number, 10]))
    tf.profiler.experimental.stop()


def walked(path: Path) -> dict[str, Any]:
    """What is in the allocator events of a profile, by allocator."""
    space = xplane_pb2.XSpace.FromString(path.read_bytes())
    (plane,) = (plane for plane in space.planes if plane.name == "/host:CPU")
    events: dict[str, list[tuple[int, bool, dict[str, Any]]]] = {}
    for line in plane.lines:
        for event in line.events:
            name = plane.event_metadata[event.metadata_id].name
            if name in ("MemoryAllocation", "MemoryDeallocation"):
                stats = {
                    plane.stat_metadata[stat.metadata_id].name: value(plane, stat)
                    for stat in event.stats
                }
                moment = line.timestamp_ns * 1000 + event.offset_ps
                device = str(stats["allocator_name"])
                events.setdefault(device, []).append((moment, name == "MemoryAllocation", stats))
    return {device: told(sorted(found, key=lambda one: one[0])) for device, found in events.items()}


def value(plane: Any, stat: Any) -> Any:
    """What a stat says."""
    kind = stat.WhichOneof("value")
    found = getattr(stat, kind)
    return plane.stat_metadata[found].name if kind == "ref_value" else found


def told(events: list[tuple[int, bool, dict[str, Any]]]) -> dict[str, Any]:
    """Counts, sums and peaks of one allocator's events."""
    allocated = [stats["bytes_allocated"] for _, _, stats in events]
    ops: Counter[str] = Counter()
    for _, born, stats in events:
        if born:
            ops[stats.get("tf_op", "")] += stats["allocation_bytes"]
    return {
        "allocs": sum(born for _, born, _ in events),
        "frees": sum(not born for _, born, _ in events),
        "allocated_peak": max(allocated),
        "allocated_end": allocated[-1],
        "lifetime_peak": max(stats["peak_bytes_in_use"] for _, _, stats in events),
        "allocated_by_op": dict(ops),
    }


if __name__ == "__main__":
    train(Path(sys.argv[1]))
    (profile,) = Path(sys.argv[1]).rglob("*.xplane.pb")
    print(json.dumps({"path": str(profile), "steps": STEPS, "devices": walked(profile)}))
