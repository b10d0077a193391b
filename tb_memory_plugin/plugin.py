"""TensorBoard's plugin: addresses under ``/data/plugin/memory/``, made into calls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from tensorboard.plugins import base_plugin

from tb_memory_plugin.analysis.plan_recording import KEY, plan_recording
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.routes import calls, page, pictures, plans, profile, trace
from tb_memory_plugin.routes.answers import FOREVER, Answer, as_json, respond, route
from tb_memory_plugin.routes.parameters import Parameters
from tb_memory_plugin.routes.trimming import give_back_at_once
from tb_memory_plugin.store.pairs import MOST_SHIFT
from tb_memory_plugin.store.roots import roots_of
from tb_memory_plugin.store.settings import Settings
from tb_memory_plugin.store.store import Store, UnknownSource
from tb_memory_plugin.views import allocation, plan_compare, source_code

#: A question about one device of a recording.
Question = Callable[[Recording, Device, Parameters], Answer]
PlanQuestion = Callable[[Recording, Parameters], Answer]

_QUESTIONS: dict[str, Question] = {
    path: question
    for routes in (profile.ROUTES, pictures.ROUTES, calls.ROUTES, trace.ROUTES)
    for path, question in routes.items()
}


class MemoryPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """The Memory tab."""

    plugin_name = "memory"

    def __init__(self, context: base_plugin.TBContext) -> None:
        # Arrow's own allocator keeps what was freed: tens of megabytes after a few answers.
        pa.set_memory_pool(pa.system_memory_pool())
        give_back_at_once()
        flags = getattr(context, "flags", None)
        roots = roots_of(context.logdir or "", getattr(flags, "logdir_spec", "") or "")
        self._store = Store(roots, _settings(flags))
        self._shows_source = bool(getattr(flags, "memory_show_source", False))

    def get_plugin_apps(self) -> dict[str, Any]:
        """The routes; see docs/architecture.md."""
        self._store.look()
        return {
            "/sources": self._sources,
            "/open": self._open,
            "/read": self._read,
            "/pairs": self._pairs,
            "/summary": self._summary,
            "/allocation": self._allocation,
            **{path: self._about_device(question) for path, question in _QUESTIONS.items()},
            **{path: self._about_plan(question) for path, question in plans.ROUTES.items()},
            "/plan.compare": self._compare,
            "/code": self._code,
            "/upload": self._upload,
            "/static/*": self._static,
        }

    def is_active(self) -> bool:
        """Whether there is anything to show, as far as is known: nothing is waited for."""
        self._store.look()
        return self._store.active

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """Where the page is."""
        return base_plugin.FrontendMetadata(es_module_path="/static/index.js", tab_name="Memory")

    @route
    def _sources(self, request: Any) -> Any:
        return as_json(request, {**self._store.sources(), "shows_code": self._shows_source})

    @route
    def _open(self, request: Any) -> Any:
        return as_json(request, self._store.open(Parameters(request).word("source")))

    @route
    def _read(self, request: Any) -> Any:
        asked = Parameters(request)
        stop = asked.integer("stop", 0, 1, 0) == 1
        return as_json(request, self._store.read_session(asked.word("source"), stop=stop))

    @route
    def _pairs(self, request: Any) -> Any:
        asked = Parameters(request)
        match = asked.word("match") if asked.has("match") else ""
        shift = asked.integer("shift", -MOST_SHIFT, MOST_SHIFT) if asked.has("shift") else None
        return as_json(request, self._store.pairs(asked.word("source"), match, shift))

    @route
    def _summary(self, request: Any) -> Any:
        return as_json(request, self._store.summary(Parameters(request).word("source")))

    @route
    def _allocation(self, request: Any) -> Any:
        asked = Parameters(request)
        grouped = {"by": asked.text("by", ""), "pattern": asked.text("pattern", "")}
        recording = self._recording(asked)
        if asked.text("device", "").startswith(KEY):
            recording = plan_recording(recording)
        answer = Answer(allocation.card(recording, asked.text("id"), **grouped))
        return respond(request, answer, expires=_expires(asked))

    @route
    def _compare(self, request: Any) -> Any:
        asked = Parameters(request)
        version = asked.word("other_version") if asked.has("other_version") else None
        other = self._store.recording(asked.word("other_source"), version)
        found = plan_compare.compared(
            _device(self._recording(asked), asked.text("device")),
            _device(other, asked.text("other_device")),
            asked.text("by", "op"),
        )
        return as_json(request, found)

    @route
    def _code(self, request: Any) -> Any:
        asked = Parameters(request)
        recording = self._recording(asked)
        if not self._shows_source:
            raise QueryError(
                "Code is shown where TensorBoard was started with --memory_show_source."
            )
        if self._store.uploaded(asked.word("source")):
            raise QueryError("Code is shown for recordings in the logdir, not for dropped files.")
        found = source_code.code(
            recording,
            file=asked.text("file"),
            line=asked.integer("line", 1, 1 << 31),
            around=asked.integer("around", 0, source_code.MOST_AROUND, source_code.AROUND),
        )
        return as_json(request, found)

    def _receive(self, request: Any) -> Any:
        # A form of another site can send a file, but not a header of its own.
        if request.headers.get("X-Memory-Upload") != "1":
            error = {"error": "An upload needs the header X-Memory-Upload: 1."}
            return as_json(request, error, code=403)
        name = Parameters(request).text("name", "recording")
        id = self._store.add_upload(name, request.stream, request.content_length)
        return as_json(request, {"source": id})

    _upload = route(_receive, "POST")

    @route
    def _static(self, request: Any) -> Any:
        return page.static(request, request.path.split("/static/", 1)[-1])

    def _about_device(self, question: Question) -> Any:
        def handler(self: MemoryPlugin, request: Any) -> Any:
            asked = Parameters(request)
            recording = self._recording(asked)
            answer = question(*_device(recording, asked.text("device")), asked)
            return respond(request, answer, expires=_expires(asked))

        return functools.partial(route(handler), self)

    def _about_plan(self, question: PlanQuestion) -> Any:
        def handler(self: MemoryPlugin, request: Any) -> Any:
            asked = Parameters(request)
            answer = question(self._recording(asked), asked)
            return respond(request, answer, expires=_expires(asked))

        return functools.partial(route(handler), self)

    def _recording(self, asked: Parameters) -> Recording:
        version = asked.word("version") if asked.has("version") else None
        return self._store.recording(asked.word("source"), version)


def _device(recording: Recording, key: str) -> tuple[Recording, Device]:
    """The device ``key`` and the recording it is of, which for a plan is that of all plans."""
    if key.startswith(KEY):
        recording = plan_recording(recording)
    try:
        return recording, recording.device(key)
    except KeyError:
        known = ", ".join(device.key for device in recording.devices)
        raise UnknownSource(f"There is no device {key!r}; there are {known}.") from None


def _expires(asked: Parameters) -> int:
    return FOREVER if asked.has("version") else 0


def _settings(flags: Any) -> Settings:
    given: dict[str, Any] = {
        "cache_bytes": getattr(flags, "memory_cache_size", None),
        "memory": getattr(flags, "memory_limit", None),
        "seconds": getattr(flags, "memory_time_limit", None),
    }
    folder = getattr(flags, "memory_cache_dir", "")
    if folder:
        given["cache"] = Path(folder).expanduser().absolute()
    return Settings(**{name: value for name, value in given.items() if value is not None})
