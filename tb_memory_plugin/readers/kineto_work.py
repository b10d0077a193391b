"""What a trace's program had its devices do: calls of the runtime, kernels and copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tb_memory_plugin.readers.kineto_kinds import RUNTIME
from tb_memory_plugin.readers.kineto_spans import Spans
from tb_memory_plugin.readers.trace_stream import NOT_JSON

_MOST = 1 << 62


class WorkArgs(msgspec.Struct, gc=False):
    """What is looked at of their arguments, whatever it is there."""

    correlation: Any = None
    device: Any = None
    stream: Any = None


_arguments = msgspec.json.Decoder(list[WorkArgs]).decode
_one = msgspec.json.Decoder(WorkArgs).decode


class Work(Spans):
    """A row a call, kernel or copy, with its ``correlation``: a call's and that of what it began.

    0 for none. ``streams`` are by track, of devices, the device and the stream that the track is
    (None where the file does not say), of what is on a device.
    """

    def __init__(self) -> None:
        super().__init__("correlation")
        self.streams: dict[int, tuple[int | None, Any]] = {}

    def meet(self, track: int, kind: int, arguments: msgspec.Raw) -> None:
        """A row of a kind on a track is about to be added."""
        if kind != RUNTIME and track not in self.streams:
            said = _said(bytes(arguments))
            device = said.device if type(said.device) is int and 0 <= said.device < _MOST else None
            stream = said.stream if type(said.stream) in (int, str) else None
            self.streams[track] = device, stream


def correlations(texts: Sequence[bytes]) -> list[int]:
    """The correlations that arguments (JSON as in the file) tell, 0 for none."""
    try:
        found = _arguments(b"[" + b",".join(texts) + b"]")
    except NOT_JSON:
        found = [_said(each) for each in texts]
    return [
        each.correlation if type(each.correlation) is int and 0 < each.correlation < _MOST else 0
        for each in found
    ]


def _said(arguments: bytes) -> WorkArgs:
    try:
        return _one(arguments)
    except NOT_JSON:
        return WorkArgs()
