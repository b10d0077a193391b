"""The built page, made into responses: only files of its folder, each under its own type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tensorboard.backend import http_util

from tb_memory_plugin.routes.answers import FOREVER, as_json

STATIC = Path(__file__).resolve().parents[1] / "static"
_TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".txt": "text/plain",
    ".md": "text/plain",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
}
_UNBUILT = (
    "The Memory tab was not built. Run `make frontend` in the checkout of tb_memory_plugin, then "
    "load this page again."
)


def static(request: Any, name: str, folder: Path = STATIC) -> Any:
    """The file ``name`` of the page's folder; 404 for whatever is not in it."""
    if "\0" in name:
        return _nothing(request)
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()) or path.suffix not in _TYPES:
        return _nothing(request)
    try:
        content = path.read_bytes()
    except OSError:
        return _unbuilt(request) if name == "index.js" else _nothing(request)
    # Names below assets/ tell their content, so these never change.
    expires = FOREVER if path.parent != folder.resolve() else 0
    return http_util.Respond(request, content, _TYPES[path.suffix], expires=expires)


def _unbuilt(request: Any) -> Any:
    program = (
        "export function render() {\n"
        f"  document.body.textContent = {json.dumps(_UNBUILT)};\n"
        '  document.body.style.cssText = "font: 16px sans-serif; padding: 2em; background: #fff";\n'
        "}\n"
    )
    return http_util.Respond(request, program, _TYPES[".js"])


def _nothing(request: Any) -> Any:
    return as_json(request, {"error": "There is no such file in the page."}, code=404)
