"""Blocks that were freed while another stream may still use them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from .blocks import Block, Frames
from .driver import Driver


class Waiting:
    """Keeps blocks until all streams that use them have come so far."""

    def __init__(self, driver: Driver, done: Callable[[Block, Frames | None], None]) -> None:
        self._driver = driver
        self._done = done
        self._events: dict[int, deque[tuple[int, Block]]] = {}  # by stream
        self._deferred: list[Block] = []
        self._captured: dict[int, set[int]] = {}  # streams by address of a block

    def use(self, block: Block, stream: int, capturing: bool) -> None:
        """``stream`` uses ``block``."""
        if stream == block.stream:
            return
        if block.uses is None:
            block.uses = {}
        block.uses[stream] = None
        if capturing:
            self._captured.setdefault(block.address, set()).add(stream)

    def begin(self, block: Block) -> None:
        """``block`` was freed: wait for an event on every stream that uses it."""
        streams, block.uses = block.uses or {}, None
        for stream in streams:
            block.pending += 1
            event = self._driver.record_event()
            self._events.setdefault(stream, deque()).append((event, block))

    def defer(self, block: Block) -> None:
        """Likewise, once no graph is captured, since events would become part of the graph."""
        self._deferred.append(block)

    def look(self, frames: Frames | None) -> None:
        """Let go of the blocks whose events have happened."""
        self._begin_deferred(frames)
        for stream, waiting in list(self._events.items()):
            while waiting and self._driver.happened(waiting[0][0]):
                self._arrived(waiting.popleft()[1], frames)
            if not waiting:
                del self._events[stream]

    def finish(self, frames: Frames | None) -> None:
        """Wait for all events, and let go of all blocks."""
        self._begin_deferred(frames)
        for waiting in self._events.values():
            for _, block in waiting:
                self._arrived(block, frames)
        self._events.clear()

    def _begin_deferred(self, frames: Frames | None) -> None:
        deferred, self._deferred = self._deferred, []
        for block in deferred:
            # What streams did during a capture was only written down, and is over.
            for stream in self._captured.pop(block.address, ()):
                if block.uses is not None:
                    block.uses.pop(stream, None)
            self.begin(block)
            if not block.pending:
                self._done(block, frames)

    def _arrived(self, block: Block, frames: Frames | None) -> None:
        block.pending -= 1
        if not block.pending:
            self._done(block, frames)
