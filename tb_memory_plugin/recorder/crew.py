"""The engines of one writer at work: started, asked, dropped when they fail, written to files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tb_memory_plugin.recorder import engine as engines
from tb_memory_plugin.recorder.engine import Engine, Session, StepUsage, Unavailable
from tb_memory_plugin.recorder.place import Place
from tb_memory_plugin.recorder.program import Span
from tb_memory_plugin.recorder.quiet import Voice
from tb_memory_plugin.recorder.refresh import Refresh
from tb_memory_plugin.recording.recording import Recording, save

_T = TypeVar("_T")

#: A program that survives failed allocations may have thousands; the first ones are written.
_OOM_DUMPS = 3


@dataclass
class _Member:
    """An engine; ``alive`` ends with its first failure, what it holds is still written."""

    engine: Engine
    refresh: Refresh
    started: bool = False
    alive: bool = True


class Crew:
    """What the writer does with all of its engines."""

    def __init__(self, voice: Voice, place: Place, refresh_seconds: float) -> None:
        self.files: list[Path] = []
        self._voice = voice
        self._place = place
        self._refresh_seconds = refresh_seconds
        self._members: list[_Member] = []
        self._oom_dumps = 0
        self._counting: dict[str, _Member] = {}  # whose figures of a device are written

    def hire(self, names: Sequence[str], session: Session) -> None:
        """Set up the engines called ``names``, without starting them."""
        for name in names:
            try:
                made = engines.create(name, session)
            except Unavailable as reason:
                self._voice.say(str(reason))
            except Exception as error:
                self._voice.failed(f"setting up the engine {name!r}", error)
            else:
                self._members += [_Member(one, Refresh(self._refresh_seconds)) for one in made]

    def start(self) -> None:
        """Start what is not running and can."""
        for member in self._members:
            if member.alive and not member.started:
                member.started = bool(self._ask(member, "starting", member.engine.start))

    def step(self, step: Span, put: Callable[[list[StepUsage]], None]) -> None:
        """A step has ended; ``put`` is given what became known of steps."""
        working = list(self._working())
        try:
            ready = [
                member
                for member in working
                if self._ask(member, "recording a step", member.engine.step, step)
            ]
            put(self.usage())
            for member in ready:
                if member.refresh.due():
                    self._write(member)
        finally:
            for member in working:
                self._go_on(member)

    def usage(self) -> list[StepUsage]:
        """Figures of steps, those of a device by one engine: two would say everything twice.

        By one that has the allocator's own counts, else by the first that works.
        """
        found: dict[tuple[str, int], StepUsage] = {}
        for member in sorted(self._started(), key=lambda member: not member.engine.counts):
            for figures in member.engine.usage():
                holder = self._counting.setdefault(figures.device, member)
                if not holder.alive:
                    self._counting[figures.device] = member
                elif holder is not member:
                    continue
                found.setdefault((figures.device, figures.step), figures)
        return list(found.values())

    def annotate(self, name: str) -> list[Any]:
        """Enter the context managers that engines have for an annotation; they are returned."""
        entered = []
        for member in self._working():
            manager = self._ask(member, "annotating", member.engine.annotate, name)
            if manager is not None:
                manager.__enter__()
                entered.append(manager)
        return entered

    def dump(self, name: str) -> Path | None:
        """Write what every engine holds under ``name``; the first path."""
        written = []
        for member in self._started():
            try:
                self._ask(member, "pausing", member.engine.pause)
                written.append(self._write(member, name))
            finally:
                self._go_on(member)
        return next((path for path in written if path is not None), None)

    def out_of_memory(self, noticed: tuple[str, dict[str, int]] | None = None) -> None:
        """Inside a failing allocation: write the engines that can be read from there.

        Or afterwards, where it was only ``noticed``: those that were not told in time.
        """
        for member in self._working():
            if not member.engine.suffix:
                continue
            if noticed is not None:
                note = member.engine.out_of_memory
                if not self._ask(member, "noting the failure", note, *noticed):
                    continue
            if self._oom_dumps < _OOM_DUMPS:
                self._oom_dumps += 1
                self._write(member, f"oom{self._oom_dumps}")

    def close(self, failure: tuple[str, dict[str, int]] | None) -> None:
        """Stop all and write them, with the ``failure`` that ended the program."""
        for member in self._started():
            self._ask(member, "stopping", member.engine.stop)
            if failure is not None:
                self._ask(member, "noting the failure", member.engine.out_of_memory, *failure)
            self._write_or_say(member, closed=True)

    def forget(self) -> None:
        """This is a forked child: leave the parent's profiler and files alone."""
        for member in self._members:
            self._ask(member, "leaving a forked process", member.engine.forget)

    def _started(self) -> Iterator[_Member]:
        return (member for member in self._members if member.started)

    def _working(self) -> Iterator[_Member]:
        return (member for member in self._started() if member.alive)

    def _write(self, member: _Member, extra: str = "", *, closed: bool = False) -> Path | None:
        """Write what a paused engine holds; None if that is nothing. Raises OSError."""
        began = time.monotonic()
        recording = self._ask(member, "reading the profile", member.engine.collect)
        if recording is None:
            return None
        path = self._place.file(*(part for part in (extra, member.engine.suffix) if part))
        meta = {**recording.meta, "source": path.name, "live": not closed and not extra}
        save(Recording(meta, recording.tables), path, compress=True)
        if not extra:
            member.refresh.wrote(began)
        if path not in self.files:
            self.files.append(path)
        return path

    def _write_or_say(self, member: _Member, *, closed: bool = False) -> None:
        try:
            self._write(member, closed=closed)
        except Exception as error:
            self._voice.failed("writing the recording", error)

    def _go_on(self, member: _Member) -> None:
        """End a pause. An engine that has ended or failed stays off, and is written now: the job
        may go on for days and never come to its end."""
        if member.alive:
            self._ask(member, "going on", member.engine.resume)
        else:
            self._ask(member, "stopping", member.engine.stop)
            self._write_or_say(member)

    def _ask(self, member: _Member, doing: str, call: Callable[..., _T], *args: Any) -> _T | None:
        """``call(*args)`` of an engine, which is dropped if it fails."""
        try:
            return call(*args)
        except Unavailable as reason:
            member.alive = False
            self._voice.say(str(reason))
        except Exception as error:
            member.alive = False
            self._voice.failed(doing, error)
        return None
