"""The setuptools build backend, asking for Node as a wheel only when the page must be built."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from setuptools import build_meta as _setuptools
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

sys.path.insert(0, str(Path(__file__).resolve().parent))
import page

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]


def _node() -> list[str]:
    return [] if page.is_built() or page.node_on_path() else [page.NODE_WHEEL]


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """What setuptools asks for, and Node if the page is not there."""
    return [*_setuptools.get_requires_for_build_wheel(config_settings), *_node()]


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    """What setuptools asks for, and Node if the page is not there."""
    return [*_setuptools.get_requires_for_build_sdist(config_settings), *_node()]


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """What setuptools asks for, and Node if the page is not there."""
    return [*_setuptools.get_requires_for_build_editable(config_settings), *_node()]
