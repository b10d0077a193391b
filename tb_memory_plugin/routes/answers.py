"""Values and errors, made into responses the way TensorBoard wants them."""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tensorboard.backend import http_util
from werkzeug import wrappers

from tb_memory_plugin.errors import MemoryPluginError, QueryError
from tb_memory_plugin.routes.files import as_file
from tb_memory_plugin.routes.parameters import BadRequest
from tb_memory_plugin.routes.trimming import trim
from tb_memory_plugin.store.store import UnknownSource

logger = logging.getLogger(__name__)

JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"
BINARY = "application/octet-stream"
CSV = "text/csv"
TEXT = "text/plain"
SVG = "image/svg+xml"
#: Seconds that an answer about a version may be kept: it will never be another one.
FOREVER = 7 * 24 * 3600

_STATUS = "X-Memory-Status"

Handler = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Answer:
    """What a route answers: a value for JSON, else bytes of a ``kind``.

    With a ``name`` it is a file for the user to keep, an iterator of pieces of text, however long
    it is.
    """

    content: Any
    kind: str = JSON
    name: str = ""


def respond(request: Any, answer: Answer, *, expires: int = 0) -> Any:
    """An answer as a response that may be kept for ``expires`` seconds."""
    trim()
    if answer.name:
        return as_file(request, answer.content, answer.kind, answer.name)
    if answer.kind == JSON:
        return as_json(request, answer.content, expires=expires)
    return http_util.Respond(request, answer.content, answer.kind, expires=expires)


def as_json(request: Any, value: Any, *, code: int = 200, expires: int = 0) -> Any:
    """A JSON response. Serialised here: TensorBoard's own way copies every value first."""
    body = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return http_util.Respond(request, body, JSON, code=code, expires=expires)


def _refused(request: Any, error: Exception, code: int) -> Any:
    """The sentence of ``error``.

    Our own page asks to be told the status in a header: browsers list every answer that is not a
    success as an error of the page, and a filter half typed is none.
    """
    told = {"error": str(error)}
    if _STATUS not in request.headers:
        return as_json(request, told, code=code)
    return http_util.Respond(request, json.dumps(told), JSON, headers=[(_STATUS, str(code))])


def route(handler: Handler, method: str = "GET") -> Any:
    """The method ``handler(self, request)`` as a WSGI application whose errors are sentences."""

    @functools.wraps(handler)
    def guarded(self: Any, request: Any) -> Any:
        if request.method not in (method, "HEAD" if method == "GET" else method):
            error = {"error": f"This address takes {method} requests only."}
            return as_json(request, error, code=405)
        try:
            return handler(self, request)
        except UnknownSource as error:
            return _refused(request, error, 404)
        except (MemoryPluginError, BadRequest) as error:
            return _refused(request, error, 400)
        except OverflowError:
            words = "These sizes together are more than 64 bits can count."
            return _refused(request, QueryError(words), 400)
        except Exception as error:
            logger.exception("The memory plugin could not answer %s", request.path)
            sentence = f"The server could not answer ({type(error).__name__}); its log says more."
            return as_json(request, {"error": sentence}, code=500)

    @functools.wraps(handler)
    def application(self: Any, environ: Any, start_response: Any) -> Any:
        request = wrappers.Request(environ)
        return guarded(self, request)(environ, start_response)

    return application
