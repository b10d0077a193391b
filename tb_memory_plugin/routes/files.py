"""Files of any length, made into responses that hold a piece of them at a time."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from werkzeug import wrappers

from tb_memory_plugin.routes.trimming import trim

#: Bytes that are put together before they are sent.
PIECE = 1 << 16
_GZIP = 16 + zlib.MAX_WBITS


def as_file(request: Any, pieces: Iterator[str], kind: str, name: str) -> Any:
    """A file ``name`` for the user to keep, made while it is sent, packed if the client can.

    What fails on the way breaks the connection, so that no part is taken for the whole.
    """
    headers = [
        ("Content-Disposition", f'attachment; filename="{name}"'),
        ("Cache-Control", "no-cache, must-revalidate"),
        ("X-Content-Type-Options", "nosniff"),
        ("Vary", "Accept-Encoding"),
    ]
    packed = "gzip" in request.headers.get("Accept-Encoding", "").lower()
    if packed:
        headers.append(("Content-Encoding", "gzip"))
    body = None if request.method == "HEAD" else _joined(pieces, packed)
    return wrappers.Response(body, headers=headers, content_type=f"{kind}; charset=utf-8")


def _joined(pieces: Iterator[str], packed: bool) -> Iterator[bytes]:
    """The pieces as bytes, ``PIECE`` of them and more at a time."""
    packer = zlib.compressobj(3, wbits=_GZIP) if packed else None
    waiting = bytearray()
    try:
        for piece in pieces:
            waiting += piece.encode() if packer is None else packer.compress(piece.encode())
            if len(waiting) >= PIECE:
                yield bytes(waiting)
                waiting.clear()
        if packer is not None:
            waiting += packer.flush()
        if waiting:
            yield bytes(waiting)
    finally:
        trim()
