"""Tracks of a Kineto trace: threads of processes and streams of devices, by name and device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tb_memory_plugin.readers.checked import text
from tb_memory_plugin.readers.kineto_memory import History

_CPU, _HIP = 0, 6  # c10::DeviceType
#: By code of a track: its device and its stream.
Streams = Mapping[int, tuple[int | None, Any]]


def threads(tracks: Sequence[tuple[str, str]], used: Sequence[int]) -> list[str]:
    """What people call the threads of hosts: with the process, where ``used`` are of several."""
    several = len({tracks[code][0] for code in used}) > 1
    return [
        text(f"process {pid} thread {tid}" if several and pid != tid else f"thread {tid}")
        for pid, tid in tracks
    ]


def streams(
    tracks: Sequence[tuple[str, str]], found: Streams, devices: Sequence[History]
) -> tuple[list[str], list[int]]:
    """What people call the tracks of ``found``, and the places of their devices, -1 if not known.

    By code of a track; what is no stream of a device has no name.
    """
    place = _places({device for device, _ in found.values() if device is not None}, devices)
    names, places = [""] * len(tracks), [-1] * len(tracks)
    for code, (device, stream) in found.items():
        pid, tid = tracks[code]
        at = -1 if device is None else place.get(device, -1)
        said = tid.removeprefix("stream ") if stream is None else stream
        owner = devices[at].name if at >= 0 else f"device {pid if device is None else device}"
        names[code], places[code] = text(f"{owner} stream {said}"), at
    return names, places


def _places(numbers: set[int], devices: Sequence[History]) -> dict[int, int]:
    """The places in ``devices`` of the devices that a trace's kernels say they ran on.

    A trace of ROCm counts all agents where kernels ran, and the process's own devices where memory
    is: only where there is but one, or the same numbers, these are known to be the same.
    """
    own = {place: one for place, one in enumerate(devices) if one.type != _CPU}
    by_number = {one.ordinal: place for place, one in own.items()}
    if len(by_number) == len(own) and numbers <= set(by_number):
        is_hip = any(one.type == _HIP for one in own.values())
        if not is_hip or numbers == set(by_number):
            return by_number
    if len(numbers) == len(own) == 1:
        return dict(zip(numbers, own, strict=True))
    return {}
