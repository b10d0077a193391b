"""Where accelerator memory goes, what leaks and why an allocation failed, in TensorBoard.

``MemoryWriter`` records a training job, ``load`` reads a recording or a snapshot back. Both come
on first use: importing the package costs nothing but this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tb_memory_plugin.api import load
    from tb_memory_plugin.recorder import MemoryWriter

__version__ = "0.1.0"

__all__ = ["MemoryWriter", "__version__", "load"]

_HOMES = {"load": "tb_memory_plugin.api", "MemoryWriter": "tb_memory_plugin.recorder"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
