"""Segments and blocks of a PyTorch snapshot to the end state: tables ``segments``, ``blocks``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from tb_memory_plugin.readers.checked import (
    UINT64_MAX,
    Malformed,
    address,
    integer,
    mapping,
    sequence,
    shown,
    string,
    text,
)
from tb_memory_plugin.readers.torch_frames import FrameStacks
from tb_memory_plugin.readers.torch_words import Pools
from tb_memory_plugin.recording import builder
from tb_memory_plugin.recording.schema import BlockState

#: Words of a snapshot to codes. The documentation of torch says ``active_awaiting_free`` where
#: its code (torch/csrc/cuda/Module.cpp) writes ``active_pending_free``.
STATES = {
    "active_allocated": BlockState.ACTIVE,
    "active_pending_free": BlockState.PENDING_FREE,
    "active_awaiting_free": BlockState.PENDING_FREE,
    "inactive": BlockState.INACTIVE,
}

_ORDINAL_MAX = 1 << 20
_DEFAULT_POOL = (0, 0)


@dataclass(frozen=True)
class Segment:
    """A row of ``segments``, its device still the ordinal in the file."""

    ordinal: int
    address: int
    size: int
    pool: int
    stream: int
    kind: str | None
    expandable: bool | None
    stack: int
    blocks: list[Block]


@dataclass(frozen=True)
class Block:
    """A row of ``blocks``."""

    address: int
    size: int
    requested: int
    state: BlockState
    stack: int
    forward_stack: int
    category: str | None


@dataclass
class StateReader:
    """Reads segments; stacks and pools are shared with the traces of the source."""

    stacks: FrameStacks
    pools: Pools
    unknown_states: Counter[str] = field(default_factory=Counter)

    def read(self, segments: Any, ordinal: int | None = None) -> list[Segment]:
        """The ``segments`` of a snapshot, of device ``ordinal`` where given. Raises Malformed."""
        return [
            self._segment(mapping(segment, f"segment {place}"), f"segment {place}", ordinal)
            for place, segment in enumerate(sequence(segments, "the list of segments"))
        ]

    def _segment(self, segment: dict[Any, Any], what: str, ordinal: int | None) -> Segment:
        if "blocks" not in segment and "total_size" not in segment:
            raise Malformed(f"{what} has neither a size nor blocks")
        if ordinal is None:
            device = segment.get("device", 0)
            ordinal = integer(device, f"the device of {what}", 0, _ORDINAL_MAX)
        start = address(segment.get("address", 0), f"the address of {what}")
        blocks = self._blocks(segment.get("blocks", ()), start, what)
        size = segment.get("total_size", sum(block.size for block in blocks))
        kind, expandable = segment.get("segment_type"), segment.get("is_expandable")
        return Segment(
            ordinal=ordinal,
            address=start,
            size=integer(size, f"the total_size of {what}"),
            pool=self.pools.row(segment.get("segment_pool_id", _DEFAULT_POOL)),
            stream=_stream(segment.get("stream", 0), what),
            kind=None if kind is None else string(kind, f"the segment_type of {what}"),
            expandable=None if expandable is None else bool(expandable),
            stack=self._stack(segment.get("frames")),
            blocks=blocks,
        )

    def _blocks(self, blocks: Any, start: int, segment: str) -> list[Block]:
        """Blocks without an address (before torch 2.1) lie one after the other."""
        made, end = [], start
        for place, block in enumerate(sequence(blocks, f"blocks of {segment}")):
            what = f"block {place} of {segment}"
            read = self._block(mapping(block, what), end, what)
            made.append(read)
            end = read.address + read.size
        return made

    def _block(self, block: dict[Any, Any], follows: int, what: str) -> Block:
        history = sequence(block.get("history", ()), f"the history of {what}")
        newest = mapping(history[0], f"the history of {what}") if history else {}
        state = self._state(block.get("state"), what)
        size = integer(block.get("size"), f"the size of {what}")
        used = size if state != BlockState.INACTIVE else 0
        requested = block.get("requested_size", newest.get("real_size", size) if used else 0)
        category = block.get("category")
        forward = self.stacks.forward_ids([block.get("forward_frames")])[0]
        return Block(
            address=address(block.get("address", follows), f"the address of {what}"),
            size=size,
            requested=integer(requested, f"the requested_size of {what}"),
            state=state,
            stack=self._stack(block.get("frames", newest.get("frames"))),
            forward_stack=forward,
            category=None if category is None else string(category, f"the category of {what}"),
        )

    def _state(self, word: Any, what: str) -> BlockState:
        if type(word) is not str:
            raise Malformed(f"the state of {what} is {shown(word)}, not text")
        known = STATES.get(word)
        if known is not None:
            return known
        self.unknown_states[text(word)[:60]] += 1
        return BlockState.ACTIVE if word.startswith("active") else BlockState.INACTIVE

    def _stack(self, frames: Any) -> int:
        return self.stacks.ids([frames])[0]


def tables(segments: list[Segment], devices: dict[int, int]) -> dict[str, pa.Table]:
    """The tables ``segments`` and ``blocks``; ``devices`` are the rows of the ordinals."""
    ordered = sorted(segments, key=lambda segment: (devices[segment.ordinal], segment.address))
    rows = [(row, segment) for row, segment in enumerate(ordered)]
    blocks = sorted(
        ((devices[s.ordinal], block.address, row, block) for row, s in rows for block in s.blocks),
        key=lambda item: item[:3],
    )
    return {
        "segments": builder.table(
            "segments",
            {
                "device": np.array([devices[s.ordinal] for s in ordered], np.int16),
                "address": np.array([s.address for s in ordered], np.uint64),
                "size": np.array([s.size for s in ordered], np.int64),
                "pool": np.array([s.pool for s in ordered], np.int32),
                "stream": np.array([s.stream for s in ordered], np.uint64),
                "kind": [s.kind for s in ordered],
                "expandable": [s.expandable for s in ordered],
                "stack": nullable([s.stack for s in ordered]),
            },
        ),
        "blocks": builder.table(
            "blocks",
            {
                "device": np.array([device for device, *_ in blocks], np.int16),
                "segment": np.array([row for _, _, row, _ in blocks], np.int32),
                "address": np.array([b.address for *_, b in blocks], np.uint64),
                "size": np.array([b.size for *_, b in blocks], np.int64),
                "requested": np.array([b.requested for *_, b in blocks], np.int64),
                "state": np.array([b.state for *_, b in blocks], np.uint8),
                "stack": nullable([b.stack for *_, b in blocks]),
                "forward_stack": nullable([b.forward_stack for *_, b in blocks]),
            },
        ),
    }


def nullable(codes: Any) -> tuple[Any, Any]:
    """Codes as a column whose nulls are the -1s."""
    column = np.asarray(codes, dtype=np.int32)
    return column, column < 0


def _stream(value: Any, segment: str) -> int:
    """A stream is a pointer that torch writes as a signed integer: read modulo 2⁶⁴."""
    found = integer(value, f"the stream of {segment}", -(1 << 63), UINT64_MAX)
    return found & UINT64_MAX
