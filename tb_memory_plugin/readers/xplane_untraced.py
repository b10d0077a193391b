"""A profile without an allocator's events, as the reason why and what records them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tb_memory_plugin.readers.xplane_planes import Planes
from tb_memory_plugin.readers.xplane_wire import Plane

_LEVEL = (
    "profile with a host_tracer_level of 2 (set in jax.profiler.ProfileOptions or "
    "tf.profiler.experimental.ProfilerOptions)"
)
_JAX = re.compile(rb"PjitFunction|PjRt|jax|\$pjit\.py|TfrtCpu", re.ASCII)
_TENSORFLOW = re.compile(rb"TFE_|EagerExecute|ExecutorState::|FunctionRun", re.ASCII)


class Untraced(NamedTuple):
    """Why there is no memory in a profile, for a SourceError."""

    fault: str
    remedy: str


def untraced(planes: Planes, found: Sequence[Plane]) -> Untraced:
    """Why ``planes``, which were ``found`` in a file, have no allocator's events."""
    kinds = {name.partition(":")[0] for name in planes.devices}
    if not planes.has_host:
        return Untraced("has no events of a host: memory was not traced", _LEVEL)
    if "TPU" in kinds:
        return _with_level("its TPUs")
    is_jax = _says(found, _JAX) or any(b"jax_version" in plane.said() for plane in found)
    is_tensorflow = _says(found, _TENSORFLOW)
    if "GPU" in kinds:
        later = "" if is_tensorflow and not is_jax else "; jaxlib 0.4.29 and 0.4.30 write none"
        return _with_level("its GPUs", later)
    jax = "JAX on a CPU never writes them"
    tensorflow = "TensorFlow on a CPU does with TF_CPU_ALLOCATOR_USE_BFC=true in its environment"
    fault = "has no allocator events: memory was not traced"
    if is_jax and not is_tensorflow:
        remedy = "save a profile with jax.profiler.save_device_memory_profile, or use a GPU or TPU"
        return Untraced(f"{fault}; {jax}", remedy)
    if is_tensorflow and not is_jax:
        return Untraced(fault, f"{_LEVEL} and, on a CPU, with TF_CPU_ALLOCATOR_USE_BFC=true")
    return Untraced(fault, f"{_LEVEL}; {tensorflow}, {jax}")


def _with_level(devices: str, more: str = "") -> Untraced:
    fault = f"has no allocator events of {devices}: memory was not traced"
    return Untraced(fault, f"{_LEVEL}{more}")


def _says(found: Sequence[Plane], names: re.Pattern[bytes]) -> bool:
    return any(names.search(name) for plane in found for name in plane.event_names.values())
