"""Figures of steps, written as scalars of TensorBoard's Scalars dashboard.

Points are float32, as ``SummaryWriter`` writes them: TensorBoard's default data server drops
points of double precision without a word (seen with tensorboard-data-server 0.7.2). Bytes over
16 MiB are therefore rounded to 24 bits here; the recording has them exactly.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tb_memory_plugin.recorder.claim import Claim, claim, fresh
from tb_memory_plugin.recorder.engine import StepUsage
from tb_memory_plugin.recorder.place import host

#: Tags, one for every figure and device: ``memory/peak_allocated/cuda_0``.
FIGURES = ("peak_allocated", "end_allocated", "peak_reserved", "end_reserved")

#: The sub-run for scalars where the user gives no writer of their own.
SUBRUN = "memory"

Put = Callable[[str, int, int], Any]


class Scalars:
    """Writes through the user's writer, or into a sub-run of its own.

    Never into the run itself: of two live event files in one folder TensorBoard shows the points
    of the later one only, and the user's own would be lost. For the same reason a process that
    finds the sub-run taken by another, as where their rank is unknown, makes one below it.
    """

    def __init__(self, logdir: Path, writer: Any, rank: int) -> None:
        self._folder = logdir / SUBRUN / f"r{rank}" if rank else logdir / SUBRUN
        self._writer = writer
        self._put: Put | None = None
        self._file: Any = None
        self._claim: Claim | None = None

    def write(self, usage: Iterable[StepUsage]) -> None:
        """Write the figures that are known."""
        for step in usage:
            for figure in FIGURES:
                value = getattr(step, figure)
                if value is not None:
                    tag = f"memory/{figure}/{step.device.replace(':', '_')}"
                    self._point()(tag, value, step.step)
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """End the event file, if it is ours."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._claim is not None:
            self._claim.release()
            self._claim = None
        self._put = None

    def _point(self) -> Put:
        if self._put is None:
            self._put = self._own() if self._writer is None else self._writer.add_scalar
        return self._put

    def _own(self) -> Put:
        events = importlib.import_module("tensorboard.compat.proto.event_pb2")
        summaries = importlib.import_module("tensorboard.compat.proto.summary_pb2")
        files = importlib.import_module("tensorboard.summary.writer.event_file_writer")
        self._claim = claim(self._folder)
        folder = self._folder
        if self._claim is None:
            folder = fresh(folder / f"{host()}.{os.getpid()}")
        self._file = files.EventFileWriter(str(folder), filename_suffix=".memory")

        def put(tag: str, value: int, step: int) -> None:
            point = summaries.Summary.Value(tag=tag, simple_value=value)
            summary = summaries.Summary(value=[point])
            self._file.add_event(events.Event(wall_time=time.time(), step=step, summary=summary))

        return put
