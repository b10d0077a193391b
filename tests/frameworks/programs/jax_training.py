"""Keep arrays of JAX alive on the CPU, save its device memory profile, and trace a step.

    python jax_training.py FOLDER

Prints JSON: the bytes of the arrays that were alive, as JAX itself lists them, and where the trace
is.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp


def initial(key: jax.Array) -> dict[str, jax.Array]:
    """Parameters of a small model, of sizes that no other array has."""
    first, second = jax.random.split(key)
    return {
        "hidden": jax.random.normal(first, (64, 257)),
        "output": jax.random.normal(second, (257, 11)),
    }


@jax.jit
def step(parameters: dict[str, jax.Array], inputs: jax.Array) -> dict[str, jax.Array]:
    """One step of gradient descent."""

    def loss(tree: dict[str, jax.Array]) -> jax.Array:
        return jnp.mean((jax.nn.relu(inputs @ tree["hidden"]) @ tree["output"]) ** 2)

    gradients = jax.grad(loss)(parameters)
    return jax.tree.map(lambda value, gradient: value - 0.01 * gradient, parameters, gradients)


def main(folder: Path) -> None:
    """Train, save and trace into ``folder``."""
    parameters = initial(jax.random.key(1))
    inputs = jnp.ones((33, 64))
    parameters = jax.block_until_ready(step(parameters, inputs))
    jax.profiler.save_device_memory_profile(str(folder / "live.prof"))
    alive = [array.nbytes for array in jax.live_arrays()]
    with jax.profiler.trace(str(folder)), jax.profiler.StepTraceAnnotation("train", step_num=0):
        jax.block_until_ready(step(parameters, inputs))
    (trace,) = folder.rglob("*.xplane.pb")
    named = {name: value.nbytes for name, value in parameters.items()}
    answer = {"alive": alive, "parameters": named, "inputs": inputs.nbytes, "trace": str(trace)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
