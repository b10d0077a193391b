"""TensorBoard's door: what it imports at start-up, made into the plugin or into nothing.

An exception while TensorBoard imports this module would stop all of TensorBoard. So nothing is
imported here but the standard library and TensorBoard's own base class; the rest is in ``load``.
"""

from __future__ import annotations

import argparse
import logging
from typing import Any

from tensorboard.plugins import base_plugin

logger = logging.getLogger(__name__)


class MemoryLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Defines the plugin's flags and makes the plugin."""

    def define_flags(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags, all of which begin with ``--memory_``."""
        group = parser.add_argument_group("memory plugin")
        group.add_argument(
            "--memory_cache_dir",
            metavar="PATH",
            default="",
            help="where recordings that were read are kept (default: $TB_MEMORY_CACHE, else "
            "tb_memory_plugin in your cache folder)",
        )
        group.add_argument(
            "--memory_cache_size",
            metavar="SIZE",
            type=_size,
            default=None,
            help="how large that folder may grow, e.g. 20GiB (default: 10GiB)",
        )
        group.add_argument(
            "--memory_limit",
            metavar="SIZE",
            type=_size,
            default=None,
            help="memory that reading one recording may take, e.g. 8GiB (default: half of the "
            "machine's)",
        )
        group.add_argument(
            "--memory_time_limit",
            metavar="SECONDS",
            type=_seconds,
            default=None,
            help="how long reading one recording may take (default: 900)",
        )
        group.add_argument(
            "--memory_show_source",
            action="store_true",
            help="let the page show lines of the files of code that stacks of recordings in the "
            "logdir name, where they can be read on this machine (default: not)",
        )

    def load(self, context: Any) -> Any:
        """The plugin, or None, with a line in the log, where it cannot work."""
        try:
            from tb_memory_plugin.plugin import MemoryPlugin
        except Exception as error:
            logger.warning(
                "The Memory tab is missing: tb_memory_plugin could not be loaded (%s: %s). "
                "Install it again with its dependencies (pip install --upgrade tb_memory_plugin).",
                type(error).__name__,
                error,
            )
            logger.debug("How loading failed", exc_info=True)
            return None
        return MemoryPlugin(context)


def _size(text: str) -> int:
    from tb_memory_plugin.units import parse_bytes

    try:
        size = parse_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if size <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no size to work with")
    return size


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e7:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds
