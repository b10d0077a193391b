"""TensorBoard's plugin: addresses under ``/data/plugin/memory/``, made into calls."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
from tensorboard.backend import http_util
from tensorboard.plugins import base_plugin

from tb_memory_plugin.analysis.ranking import TOP
from tb_memory_plugin.errors import QueryError
from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.routes import page
from tb_memory_plugin.routes.answers import ARROW, BINARY, FOREVER, as_json, route
from tb_memory_plugin.routes.parameters import Parameters
from tb_memory_plugin.routes.trimming import trim
from tb_memory_plugin.store.roots import roots_of
from tb_memory_plugin.store.settings import Settings
from tb_memory_plugin.store.store import Store, UnknownSource
from tb_memory_plugin.views import (
    allocation,
    breakdown,
    csv,
    events,
    flame,
    flame_files,
    pools,
    segments,
    segments_csv,
    source_code,
    source_lines,
    summary,
    tracks,
    usage,
)
from tb_memory_plugin.views.tile.window import tile

#: Pixels a window may have, rows a page of a table.
_WIDEST = 16_384
_MOST_ROWS = 1 << 31


class MemoryPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """The Memory tab."""

    plugin_name = "memory"

    def __init__(self, context: base_plugin.TBContext) -> None:
        # Arrow's own allocator keeps what was freed: tens of megabytes after a few answers.
        pa.set_memory_pool(pa.system_memory_pool())
        flags = getattr(context, "flags", None)
        roots = roots_of(context.logdir or "", getattr(flags, "logdir_spec", "") or "")
        self._store = Store(roots, _settings(flags))
        # A page asks for several tiles at once; each takes some memory while it is worked out.
        self._drawing = threading.Lock()
        self._shows_source = bool(getattr(flags, "memory_show_source", False))

    def get_plugin_apps(self) -> dict[str, Any]:
        """The routes; see docs/architecture.md."""
        self._store.look()
        return {
            "/sources": self._sources,
            "/open": self._open,
            "/summary": self._summary,
            "/usage": self._usage,
            "/tracks": self._tracks,
            "/breakdown": self._breakdown,
            "/allocations": self._allocations,
            "/allocation": self._allocation,
            "/segments": self._segments,
            "/events": self._events,
            "/pools": self._pools,
            "/segments.csv": self._segments_csv,
            "/events.csv": self._events_csv,
            "/tile": self._tile,
            "/export.csv": self._export,
            "/flame": self._flame,
            "/flame.speedscope.json": self._speedscope,
            "/flame.folded.txt": self._folded,
            "/lines": self._lines,
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
        return as_json(request, self._store.sources())

    @route
    def _open(self, request: Any) -> Any:
        return as_json(request, self._store.open(Parameters(request).word("source")))

    @route
    def _summary(self, request: Any) -> Any:
        return as_json(request, self._store.summary(Parameters(request).word("source")))

    @route
    def _usage(self, request: Any) -> Any:
        asked = Parameters(request)
        recording, device = self._asked(asked)
        content = usage.window(
            recording,
            device,
            **_window(asked),
            **_groups(asked, recording, device),
            top=asked.integer("top", 1, usage.MOST_TOP, TOP),
        )
        return http_util.Respond(request, content, ARROW, expires=_expires(asked))

    @route
    def _tracks(self, request: Any) -> Any:
        asked = Parameters(request)
        found = tracks.window(*self._asked(asked), **_window(asked))
        return as_json(request, found, expires=_expires(asked))

    @route
    def _breakdown(self, request: Any) -> Any:
        asked = Parameters(request)
        recording, device = self._asked(asked)
        limit = asked.integer("limit", 0, _MOST_ROWS, breakdown.LIMIT)
        question = _question(asked, recording, device)
        found = breakdown.page(recording, device, **question, limit=limit)
        return as_json(request, found, expires=_expires(asked))

    @route
    def _allocations(self, request: Any) -> Any:
        asked = Parameters(request)
        recording, device = self._asked(asked)
        found = breakdown.allocations(
            recording,
            device,
            **_question(asked, recording, device),
            **_group(asked),
            limit=asked.integer("limit", 0, _MOST_ROWS, breakdown.LIMIT),
            offset=asked.integer("offset", 0, 1 << 62, 0),
        )
        return as_json(request, found, expires=_expires(asked))

    @route
    def _allocation(self, request: Any) -> Any:
        asked = Parameters(request)
        found = allocation.card(self._recording(asked), asked.text("id"))
        return as_json(request, found, expires=_expires(asked))

    @route
    def _segments(self, request: Any) -> Any:
        asked = Parameters(request)
        found = segments.window(
            *self._asked(asked),
            at=_moment(asked),
            pixel=asked.integer("pixel", 1, 1 << 61, 1),
            begin=asked.bound("begin"),
            end=asked.bound("end"),
        )
        return http_util.Respond(request, found, BINARY, expires=_expires(asked))

    @route
    def _tile(self, request: Any) -> Any:
        asked = Parameters(request)
        recording, device = self._asked(asked)
        question = {
            **_groups(asked, recording, device),
            "axis": asked.text("axis"),
            "level": asked.integer("level", 0, 61),
            "index": asked.integer("index", -(1 << 54), 1 << 54),
            "layout": asked.text("layout", "stacked"),
            "low": asked.integer("low", 0, 1 << 62, 0),
            "high": asked.bound("high"),
            "height": asked.integer("height", 1, _WIDEST, 800),
            "of": asked.text("of", "allocations"),
            "top": asked.integer("top", 1, usage.MOST_TOP, TOP),
            "only": asked.text("only", "all"),
            "at": _moment(asked),
            "minimum": asked.integer("minimum", 0, 1 << 62, 0),
            "find": asked.text("find", ""),
        }
        with self._drawing:
            found = tile(recording, device, **question)
        trim()
        return http_util.Respond(request, found, BINARY, expires=_expires(asked))

    @route
    def _events(self, request: Any) -> Any:
        asked = Parameters(request)
        found = events.page(
            *self._asked(asked),
            filter=asked.text("filter", ""),
            offset=asked.integer("offset", 0, 1 << 62, 0),
            limit=asked.integer("limit", 0, events.MOST, events.LIMIT),
            near=asked.bound("near"),
        )
        return as_json(request, found, expires=_expires(asked))

    @route
    def _pools(self, request: Any) -> Any:
        asked = Parameters(request)
        content = pools.window(*self._asked(asked), **_window(asked))
        return http_util.Respond(request, content, ARROW, expires=_expires(asked))

    @route
    def _segments_csv(self, request: Any) -> Any:
        asked = Parameters(request)
        content = "".join(segments_csv.state(*self._asked(asked), _moment(asked)))
        return _download(request, content, "segments.csv", "text/csv")

    @route
    def _events_csv(self, request: Any) -> Any:
        asked = Parameters(request)
        content = "".join(segments_csv.listed(*self._asked(asked), asked.text("filter", "")))
        return _download(request, content, "events.csv", "text/csv")

    @route
    def _export(self, request: Any) -> Any:
        asked = Parameters(request)
        recording, device = self._asked(asked)
        question = _question(asked, recording, device)
        if asked.has("key"):
            pieces = csv.allocations(recording, device, **question, **_group(asked))
        else:
            pieces = csv.groups(recording, device, **question)
        name = "allocations.csv" if asked.has("key") else "breakdown.csv"
        return _download(request, "".join(pieces), name, "text/csv")

    @route
    def _flame(self, request: Any) -> Any:
        asked = Parameters(request)
        recording, device = self._asked(asked)
        found = flame.page(
            recording,
            device,
            **_weighing(asked),
            **_shape(asked),
            find=asked.text("find", ""),
            root=asked.text("root", ""),
            width=asked.integer("width", 1, _WIDEST, flame.WIDTH),
        )
        return as_json(request, found, expires=_expires(asked))

    @route
    def _speedscope(self, request: Any) -> Any:
        asked = Parameters(request)
        question = {**_weighing(asked), **_shape(asked)}
        content = flame_files.speedscope(*self._asked(asked), **question)
        return _download(request, content, "memory.speedscope.json", "application/json")

    @route
    def _folded(self, request: Any) -> Any:
        asked = Parameters(request)
        question = {**_weighing(asked), **_shape(asked)}
        content = "".join(flame_files.folded_stacks(*self._asked(asked), **question))
        return _download(request, content, "memory.folded.txt", "text/plain")

    @route
    def _lines(self, request: Any) -> Any:
        asked = Parameters(request)
        limit = asked.integer("limit", 0, _MOST_ROWS, source_lines.LIMIT)
        found = source_lines.page(*self._asked(asked), **_weighing(asked), limit=limit)
        return as_json(request, found, expires=_expires(asked))

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

    def _recording(self, asked: Parameters) -> Recording:
        version = asked.word("version") if asked.has("version") else None
        return self._store.recording(asked.word("source"), version)

    def _asked(self, asked: Parameters) -> tuple[Recording, Device]:
        recording = self._recording(asked)
        key = asked.text("device")
        try:
            return recording, recording.device(key)
        except KeyError:
            known = ", ".join(device.key for device in recording.devices)
            raise UnknownSource(f"There is no device {key!r}; there are {known}.") from None


def _expires(asked: Parameters) -> int:
    return FOREVER if asked.has("version") else 0


def _window(asked: Parameters) -> dict[str, Any]:
    return {
        "axis": asked.text("axis"),
        "begin": asked.bound("begin"),
        "end": asked.bound("end"),
        "width": asked.integer("width", 1, _WIDEST),
    }


def _groups(asked: Parameters, recording: Recording, device: Device) -> dict[str, Any]:
    by = asked.text("by", "") or summary.default_grouping(recording, device)
    return {"by": by, "pattern": asked.text("pattern", "")}


def _moment(asked: Parameters) -> str:
    at = asked.text("at", "peak")
    return at if at == "peak" else f"event:{asked.integer('at', -1, 1 << 62)}"


def _question(asked: Parameters, recording: Recording, device: Device) -> dict[str, Any]:
    return {
        "at": _moment(asked),
        **_groups(asked, recording, device),
        "filter": asked.text("filter", ""),
        "sort": asked.text("sort", "-bytes"),
    }


def _weighing(asked: Parameters) -> dict[str, Any]:
    return {
        "of": asked.text("of", "alive"),
        "at": _moment(asked),
        "axis": asked.text("axis", "event"),
        "begin": asked.bound("begin"),
        "end": asked.bound("end"),
        "filter": asked.text("filter", ""),
    }


def _shape(asked: Parameters) -> dict[str, Any]:
    return {name: asked.integer(name, 0, 1, 0) == 1 for name in ("inverted", "folded")}


def _download(request: Any, content: str, name: str, kind: str) -> Any:
    headers = [("Content-Disposition", f'attachment; filename="{name}"')]
    return http_util.Respond(request, content, kind, headers=headers)


def _group(asked: Parameters) -> dict[str, Any]:
    top = asked.integer("top", 1, usage.MOST_TOP, TOP)
    return {"key": asked.text("key", "") or None, "top": top}


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
