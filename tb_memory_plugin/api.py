"""A file in any format that is read, made into an object for Python: tables and facts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from tb_memory_plugin.analysis.facts import facts
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.views import breakdown


def load(path: str | os.PathLike[str]) -> LoadedRecording:
    """Read a recording or a snapshot, through the same cache as TensorBoard.

    Raises ``errors.SourceError``, one sentence, for a file that cannot be read.
    """
    from tb_memory_plugin.store.load import load_path

    return LoadedRecording(load_path(Path(path)))


class DeviceFacts(Mapping[str, Any]):
    """The facts of one device, as items and as attributes: ``device.allocated_peak``.

    ``key`` and ``name`` beside all that ``tb-memory info`` prints; bytes are integers.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"a device has no fact {name!r}")
        return self._values[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._values})

    def __repr__(self) -> str:
        return f"DeviceFacts({self._values!r})"


class LoadedRecording:
    """What ``load`` gives: a recording's tables as Arrow, and what they amount to."""

    def __init__(self, recording: Recording) -> None:
        #: The recording itself, as the package's own code takes it.
        self.recording = recording

    @property
    def format(self) -> str:
        """Format of the source."""
        return str(self.recording.meta["format"])

    @property
    def basis(self) -> str:
        """What allocated counts: ``requested`` bytes, or the ``size`` the allocator gave."""
        return str(self.recording.meta["basis"])

    @property
    def problems(self) -> list[str]:
        """Sentences on what is odd about the source."""
        return list(self.recording.meta["problems"])

    @property
    def meta(self) -> Mapping[str, Any]:
        """Everything else the source says of itself."""
        return self.recording.meta

    @property
    def annotations(self) -> int:
        """Beginnings and ends of annotations that were recorded."""
        return int(self.facts["annotations"])

    @cached_property
    def facts(self) -> dict[str, Any]:
        """``{"annotations": n, "devices": {key: {…}}}``."""
        return facts(self.recording)

    @cached_property
    def devices(self) -> dict[str, DeviceFacts]:
        """The facts of every device, by its key."""
        return {
            device.key: DeviceFacts(
                {"key": device.key, "name": device.name, **self.facts["devices"][device.key]}
            )
            for device in self.recording.devices
        }

    @property
    def tables(self) -> list[str]:
        """Names of the tables there are."""
        return sorted(self.recording.tables)

    def table(self, name: str) -> pa.Table:
        """A table of ``recording/schema.py``, e.g. ``allocations``. Raises QueryError."""
        if name not in self.recording.tables:
            raise QueryError(f"There is no table {name!r}; there are {', '.join(self.tables)}.")
        return self.recording.tables[name]

    def to_pandas(self, name: str) -> Any:
        """A table as a pandas DataFrame, integers with nulls kept whole (needs pandas)."""
        table = self.table(name)
        import pandas as pd

        kinds = {
            pa.int8(): pd.Int8Dtype(),
            pa.int16(): pd.Int16Dtype(),
            pa.int32(): pd.Int32Dtype(),
            pa.int64(): pd.Int64Dtype(),
            pa.uint8(): pd.UInt8Dtype(),
            pa.uint64(): pd.UInt64Dtype(),
            pa.bool_(): pd.BooleanDtype(),
        }
        return table.to_pandas(types_mapper=kinds.get)

    def breakdown(
        self,
        by: str = "stack",
        at: str = "peak",
        device: str | None = None,
        pattern: str = "",
        filter: str = "",
    ) -> dict[str, Any]:
        """What is alive at a moment by group, largest first; as ``tb-memory peak --json``.

        ``device`` is a key, by default that of the highest peak. Raises QueryError.
        """
        chosen = choose_device(self.recording, device)
        page = breakdown.page(
            self.recording, chosen, at=at, by=by, pattern=pattern, filter=filter, limit=None
        )
        kept = ("device", "event", "time", "total_bytes")
        columns = ["key", "label", "bytes", "count", "sums", "largest"]
        columns += ["oldest_event", "oldest_time", "oldest_step"]
        return {
            **{name: page[name] for name in kept},
            "groups": [{name: group[name] for name in columns} for group in page["groups"]],
        }

    def __repr__(self) -> str:
        source = self.recording.meta.get("source")
        return f"<LoadedRecording {source!r}: {self.format}, devices {list(self.devices)}>"


def choose_device(recording: Recording, key: str | None) -> Device:
    """The device with ``key`` (or with that name), or, for None, that of the highest peak.

    Raises QueryError.
    """
    if not recording.devices:
        raise QueryError(_without_device(recording))
    if key is None:
        return max(
            recording.devices,
            key=lambda device: (
                int(recording.values("usage", "allocated", device).max()),
                -device.index,
            ),
        )
    for device in recording.devices:
        if key in (device.key, device.name):
            return device
    known = ", ".join(device.key for device in recording.devices)
    raise QueryError(f"The recording has no device {key!r}; it has {known}.")


def _without_device(recording: Recording) -> str:
    modules = len(recording.table("modules"))
    if not modules:
        return "The recording has no device: its source holds no memory data."
    why = "".join(f" ({missing['why']})" for missing in recording.meta["missing"][:1])
    count = "one HLO module" if modules == 1 else f"{modules} HLO modules"
    return (
        f"{recording.meta['source']}: nothing is in it about when memory was used{why}, but the "
        f"plans of {count}; see tb-memory modules and buffers."
    )
