"""Work that is begun before it is asked for, while the page gets ready to ask."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.store.store import UnknownSource
from tb_memory_plugin.views import first


def begin(obtain: Callable[[], Recording], summary: dict[str, Any]) -> threading.Thread:
    """Prepare the first picture of what ``obtain`` gives, in the grouping the page starts with.

    ``summary`` is that of ``GET summary``. Questions that come meanwhile wait for what they need
    of it, and for no more. Nothing happens where the recording is gone.
    """

    def work() -> None:
        with contextlib.suppress(UnknownSource):
            recording = obtain()
            for device, told in zip(recording.devices[:1], summary["devices"], strict=False):
                first.prepare(recording, device, told["default_grouping"])

    thread = threading.Thread(target=work, name="first picture", daemon=True)
    thread.start()
    return thread
