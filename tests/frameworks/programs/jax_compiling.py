"""Compile functions of JAX on the CPU, and save what the compiler plans for each.

    python jax_compiling.py FOLDER

``FOLDER/NAME.hlo_proto.pb`` is the plan of a function, ``FOLDER/dump`` what XLA dumps of all that
it compiles, and there is a trace. Prints JSON: what JAX itself says of the memory of each, and
where the dump and the trace are.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_DUMP = "--xla_dump_to={} --xla_dump_hlo_as_proto"
_SAID = ("argument", "output", "alias", "temp")


def varint(value: int) -> bytes:
    """``value`` in groups of seven bits."""
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])


def proto(module: bytes, assignment: bytes) -> bytes:
    """The message ``HloProto``: fields 1 and 3."""
    return b"\x0a" + varint(len(module)) + module + b"\x1a" + varint(len(assignment)) + assignment


def functions() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Functions, compiled lazily, with arguments for each."""
    import jax
    import jax.numpy as jnp

    weights = {"first": jnp.ones((64, 257)), "second": jnp.ones((257, 11))}
    inputs = jnp.ones((33, 64))
    table = jnp.arange(5_000.0).reshape(50, 100)

    def loss(tree: dict[str, jax.Array], batch: jax.Array) -> jax.Array:
        hidden = jnp.tanh(batch @ tree["first"])
        return jnp.mean((jax.nn.relu(hidden) @ tree["second"]) ** 2)

    def descend(tree: dict[str, jax.Array], batch: jax.Array) -> dict[str, jax.Array]:
        gradient = jax.grad(loss)(tree, batch)
        return jax.tree.map(lambda value, change: value - 0.01 * change, tree, gradient)

    def layers(state: jax.Array, many: jax.Array) -> tuple[jax.Array, jax.Array]:
        def layer(carry: jax.Array, weight: jax.Array) -> tuple[jax.Array, jax.Array]:
            return jnp.tanh(carry @ weight), carry.sum()

        return jax.lax.scan(layer, state, many)

    def branches(flag: jax.Array, x: jax.Array) -> jax.Array:
        return jax.lax.cond(flag > 0, lambda y: y @ y.T, lambda y: jnp.zeros((33, 33)), x)

    def counted(x: jax.Array) -> jax.Array:
        return jax.lax.while_loop(lambda y: y.sum() < 1e9, lambda y: jnp.sort(y * 2.0, axis=0), x)

    def remade(tree: dict[str, jax.Array], batch: jax.Array) -> Any:
        return jax.grad(jax.checkpoint(loss))(tree, batch)

    many = jnp.ones((7, 64, 64))
    return {
        "grad": (jax.grad(loss), (weights, inputs)),
        "step": (descend, (weights, inputs)),
        "donated": (descend, (weights, inputs)),
        "scan": (layers, (inputs, many)),
        "grad_of_scan": (jax.grad(lambda x, y: layers(x, y)[0].sum()), (inputs, many)),
        "cond": (branches, (1.0, inputs)),
        "while_loop": (counted, (inputs,)),
        "sort": (lambda x: jax.lax.sort((x, x * 2.0), num_keys=1), (inputs,)),
        "argsort": (lambda x: jnp.argsort(x.ravel()), (inputs,)),
        "constants": (lambda x: x @ table[:33].T[:64] + 3.0, (inputs,)),
        "integers": (lambda x: (x > 0).astype(jnp.int8).sum(0), (inputs,)),
        "nothing": (lambda x: x, (inputs,)),
        "linear_algebra": (lambda x: jnp.linalg.qr(x)[1], (inputs,)),
        "fourier": (jax.vmap(lambda x: jnp.fft.fft(x).real), (inputs,)),
        "checkpoint": (remade, (weights, inputs)),
    }


def named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """``function`` under a name, which that of its module follows."""

    def called(*arguments: Any) -> Any:
        return function(*arguments)

    called.__name__ = name
    return called


def main(folder: Path) -> None:
    """Compile, dump and trace into ``folder``."""
    os.environ["XLA_FLAGS"] = _DUMP.format(folder / "dump")
    import jax

    said = {}
    for name, (function, arguments) in functions().items():
        donated = (0,) if name == "donated" else ()
        jitted = jax.jit(named(function, f"plan_{name}"), donate_argnums=donated)
        compiled = jitted.lower(*arguments).compile()
        memory = compiled.memory_analysis()
        (module,) = compiled.runtime_executable().hlo_modules()
        data = module.as_serialized_hlo_module_proto()
        whole = proto(data, memory.serialized_buffer_assignment_proto)
        (folder / f"{name}.hlo_proto.pb").write_bytes(whole)
        said[name] = {key: getattr(memory, f"{key}_size_in_bytes") for key in _SAID}
        said[name]["peak"] = memory.peak_memory_in_bytes
    function, arguments = functions()["checkpoint"]
    traced = jax.jit(named(function, "traced"))
    with jax.profiler.trace(str(folder)):
        jax.block_until_ready(traced(*arguments))
    (trace,) = folder.rglob("*.xplane.pb")
    print(json.dumps({"functions": said, "trace": str(trace), "dump": str(folder / "dump")}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
