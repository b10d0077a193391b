"""Real JAX device memory profiles, equal to what a plain decoder reads in them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from tb_memory_plugin.analysis.derive import derive
from tb_memory_plugin.readers import jax_pprof
from tb_memory_plugin.views.flame import page
from tests.fixtures import pprof
from tests.formats.pprof_reading import (
    UNSIZED,
    XLA,
    by_stack,
    each_real,
    real,
    stacks,
    where,
)


@real
@each_real
def test_totals_of_a_real_profile_are_exact(path: Path) -> None:
    expected: dict[str, dict[Any, list[int]]] = {}
    for sample in pprof.read(path.read_bytes()):
        sums = expected.setdefault(where(sample), {}).setdefault(sample.frames, [0, 0])
        sums[0] += sample.count
        sums[1] += max(sample.bytes, 0)  # executables of a TPU have "-1" bytes

    recording = derive(jax_pprof.read(path))

    assert {device.key for device in recording.devices} == set(expected)
    for device in recording.devices:
        whole = {key: tuple(sums) for key, sums in expected[device.key].items()}
        assert by_stack(recording, device) == whole
        assert recording.values("usage", "allocated", device).tolist() == [
            sum(total for _, total in whole.values())
        ]


@real
@each_real
def test_single_buffers_of_a_real_profile_have_their_own_size(path: Path) -> None:
    expected: Counter[tuple[str, int, Any]] = Counter()
    for sample in pprof.read(path.read_bytes()):
        size, left = divmod(max(sample.bytes, 0), sample.count)
        assert left == 0  # JAX gives every size a sample of its own
        expected[where(sample), size, sample.frames] += sample.count

    recording = derive(jax_pprof.read(path))

    known = stacks(recording)
    found: Counter[tuple[str, int, Any]] = Counter()
    for device in recording.devices:
        sizes = recording.values("allocations", "size", device).tolist()
        rows = recording.values("allocations", "birth_stack", device).tolist()
        found.update((device.key, s, known[row]) for s, row in zip(sizes, rows, strict=True))
    assert found == expected
    assert recording.meta["problems"] == []


@real
@each_real
def test_a_real_profile_says_what_it_lacks(path: Path) -> None:
    lacks = {one["what"]: one["why"] for one in jax_pprof.read(path).meta["missing"]}

    assert "has no timeline" in lacks["history"]
    assert "addresses" in lacks
    count = UNSIZED.get(path.name)
    assert ("sizes of executables" in lacks) == (count is not None)
    if count is not None:
        assert f"{count} of the executables" in lacks["sizes of executables"]


@real
def test_devices_are_in_the_order_of_their_numbers() -> None:
    devices = jax_pprof.read(XLA / "jax_tpu8_device_memory.prof").meta["devices"]

    names = [device["name"] for device in devices]
    assert [name.partition("(")[0] for name in names[:8]] == [f"TPU_{n}" for n in range(8)]
    assert names[8:] == ["executables"]
    assert (devices[3]["type"], devices[3]["ordinal"]) == ("tpu", 3)


@real
@each_real
def test_the_flame_graph_of_a_real_profile_weighs_all_of_it(path: Path) -> None:
    recording = derive(jax_pprof.read(path))
    total: Counter[str] = Counter()
    for sample in pprof.read(path.read_bytes()):
        total[where(sample)] += max(sample.bytes, 0)

    for device in recording.devices:
        answer = page(recording, device, of="alive", folded=False)
        assert answer["total"] == total[device.key]
        assert answer["nodes"]["value"][0] == total[device.key]
