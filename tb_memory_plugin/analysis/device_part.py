"""Everything worked out for one device, before it becomes rows of tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tb_memory_plugin.analysis import attribution, locate
from tb_memory_plugin.analysis.columns import Column, Made, coded, either, known, ordinals, picked
from tb_memory_plugin.analysis.device_tables import DeviceTables
from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.lives import Lives, lives
from tb_memory_plugin.analysis.metadata import Metadata
from tb_memory_plugin.analysis.range_pools import range_pools
from tb_memory_plugin.analysis.segments import SegmentLives, segment_lives
from tb_memory_plugin.analysis.usage import Usage, usage
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.recording.schema import AFTER, Action, sentinel


@dataclass(frozen=True)
class DevicePart:
    """The lives, the curve and the segments of one device. Rows count within the device."""

    tables: DeviceTables
    lives: Lives
    usage: Usage
    segments: SegmentLives
    segment: IntArray  # of every life the row of ``segments`` it lies in, -1 for none

    @staticmethod
    def of(recording: Recording, device: Device) -> DevicePart:
        """Work it out. Raises SourceError, as ``derive`` does."""
        tables = DeviceTables(recording, device)
        found = lives(tables)
        segments = segment_lives(tables)
        segment = locate.containing(segments, found.address, found.birth)
        return DevicePart(tables, found, usage(tables, found), segments, segment)

    def allocations(self, segments_before: int, metadata: Metadata) -> dict[str, Made]:
        """Columns of ``allocations``; ``segments_before`` are rows of devices before this one."""
        lives = self.lives
        of_size = self.tables.recording.meta["basis"] != "requested"
        labels = attribution.label_rows(self.tables, lives)
        birth_time = self._times(lives.birth, sentinel("birth_time"))
        return {
            # First, as they look at spans, of which there are most.
            "step": lambda: attribution.step(self.tables, birth_time, labels),
            "annotation": lambda: attribution.annotation(self.tables, birth_time),
            "address": lambda: (lives.address, self.unplaced),
            "requested": lambda: (
                attribution.requested(self.tables.recording, labels)
                if of_size
                else known(lives.bytes)
            ),
            "size": lambda: (lives.size, ~lives.size_known),
            "size_inferred": lambda: known(lives.size_inferred),
            "birth": lambda: coded(lives.birth),
            "free_requested": lambda: coded(lives.free_requested, AFTER),
            "death": lambda: coded(lives.death, AFTER),
            "birth_time": lambda: birth_time,
            "free_requested_time": lambda: self._times(ordinals(lives.free_requested), AFTER),
            "death_time": lambda: self._times(ordinals(lives.death), AFTER),
            "segment": lambda: coded(
                np.where(self.segment >= 0, self.segment + segments_before, -1)
            ),
            **self._stacks(),
            "stream": self._streams,
            "pool": self._pools,
            "compile_context": lambda: coded(self._events("compile_context", lives.birth)),
            "user_metadata": lambda: coded(metadata.of_lives(self.tables, lives)),
            **attribution.labelled(self.tables.recording, labels),
        }

    def curve(self, allocations_before: int) -> dict[str, Column]:
        """Columns of ``usage``."""
        event, allocation = self.usage.event, self.usage.allocation
        reserved = self.usage.reserved
        absent = np.full(len(event), reserved is None)
        return {
            "event": known(event),
            "time": self._times(event, sentinel("time")),
            "allocated": known(self.usage.allocated),
            "reserved": (np.zeros_like(event) if reserved is None else reserved, absent),
            "allocation": coded(np.where(allocation >= 0, allocation + allocations_before, -1)),
        }

    def segment_lives(self) -> dict[str, Column]:
        """Columns of ``segment_lives``: what an event does not say comes from the end state."""
        segments = self.segments
        return {
            "address": known(segments.address),
            "size": known(segments.size),
            "birth": coded(segments.birth),
            "death": coded(segments.death, AFTER),
            "pool": coded(self._segment_pools),
            "stream": self._segment_streams,
            "kind": coded(picked(self.tables.column("segments", "kind"), segments.final)),
            "expandable": known(self._expandable),
            "stack": coded(self._segment_column("stack")),
        }

    def _events(self, name: str, ordinals: IntArray) -> IntArray:
        """A column of the device's events; its sentinel where there is no event."""
        return picked(self.tables.column("events", name), ordinals, sentinel(name))

    def _blocks(self, name: str) -> IntArray:
        return picked(self.tables.column("blocks", name), self.lives.block, sentinel(name))

    def _times(self, ordinals: IntArray, missing: int) -> Column:
        untimed = picked(self._untimed, ordinals, 1) != 0
        times = picked(self.tables.column("events", "time"), ordinals, missing)
        return np.where(untimed, missing, times), untimed

    @property
    def unplaced(self) -> IntArray:
        """Which lives have no address: those of final blocks that have none."""
        absent = self.tables.missing("blocks", "address").astype(np.int8)
        unplaced: IntArray = (self.lives.known < 0) & (picked(absent, self.lives.block, 0) != 0)
        return unplaced

    @cached_property
    def _untimed(self) -> IntArray:
        return self.tables.missing("events", "time").astype(np.int8)

    @cached_property
    def _segment_pools(self) -> IntArray:
        """Of every life of a segment its pool, also where only its neighbours tell."""
        own, (stream, _) = self._segment_column("pool"), self._segment_streams
        lives = self.segments
        return range_pools(lives.address, lives.size, stream, own, self._expandable)

    @cached_property
    def _segment_streams(self) -> Column:
        lives = self.segments
        final = picked(self.tables.column("segments", "stream"), lives.final, 0)
        of_event = self._events("stream", lives.known)
        unknown = (lives.final < 0) & (lives.known < 0)
        return np.where(lives.final >= 0, final, of_event), unknown

    @cached_property
    def _expandable(self) -> IntArray:
        """Which lives of segments are ranges of expandable ones."""
        action = self.tables.column("events", "action").astype(np.int16)
        moved = [Action.SEGMENT_MAP, Action.SEGMENT_UNMAP]
        final = picked(self.tables.expandable.astype(np.int8), self.segments.final, 0)
        expandable: IntArray = np.isin(picked(action, self.segments.known), moved) | (final != 0)
        return expandable

    def _segment_column(self, name: str) -> IntArray:
        """Of every life of a segment its pool or stack: the event's, else the final one's."""
        final = picked(self.tables.column("segments", name), self.segments.final)
        return either(self._events(name, self.segments.known), final)

    def _streams(self) -> Column:
        """The event's stream, else that of the segment it lies in at the end."""
        absent = self.tables.missing("events", "stream").astype(np.int8)
        without = picked(absent, self.lives.known, 1) != 0
        final = picked(self.segments.final, self.segment)
        inherited = picked(self.tables.column("segments", "stream"), final, 0)
        of_event = self._events("stream", self.lives.known)
        return np.where(without, inherited, of_event), without & (final < 0)

    def _pools(self) -> Column:
        """The event's pool, else that of the segment."""
        of_event = self._events("pool", self.lives.known)
        return coded(either(of_event, picked(self._segment_pools, self.segment)))

    def _stacks(self) -> dict[str, Made]:
        """Stacks of birth (the block's where no event says), of death, of the forward pass."""
        lives = self.lives

        def of_birth(name: str) -> Column:
            return coded(either(self._events(name, lives.birth), self._blocks(name)))

        def of_death() -> Column:
            asked = self._events("stack", ordinals(lives.free_requested))
            return coded(either(self._events("stack", lives.ended), asked))

        return {
            "birth_stack": lambda: of_birth("stack"),
            "death_stack": of_death,
            "forward_stack": lambda: of_birth("forward_stack"),
        }
