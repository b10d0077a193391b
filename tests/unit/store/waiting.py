"""What tests of the store wait for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tb_memory_plugin.store.store import Store


def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """What ``condition`` gives once that is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)
    return found


def opened(store: Store, id: str) -> dict[str, Any]:
    """What ``open`` says once the source is neither queued nor being read."""

    def settled() -> dict[str, Any] | None:
        status = store.open(id)
        return None if status["state"] in ("queued", "reading") else status

    found: dict[str, Any] = until(settled)
    return found


def listed(store: Store, count: int = 1) -> list[dict[str, Any]]:
    """The sources, once there are ``count``."""

    def enough() -> list[dict[str, Any]] | None:
        answer = store.sources()
        rows: list[dict[str, Any]] = answer["sources"]
        return rows if not answer["scanning"] and len(rows) >= count else None

    found: list[dict[str, Any]] = until(enough)
    return found
