"""The plugin's tab as it opens on the run ``train`` of the tests' logdir."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.looking import link, open_page, wait_for_table
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import Frame, FrameLocator

    from tests.browser.conftest import Watched

#: Where in an address its snapshot is.
TRAIN = link("train", "snapshot.pickle")


def open_train(watched: Watched, server: TensorBoardServer, where: str = TRAIN) -> FrameLocator:
    frame = open_page(watched.page, server.url + where)
    wait_for_table(frame)
    return frame


def plugin_frame(watched: Watched) -> Frame:
    """The plugin's frame as something to run scripts in."""
    found = [frame for frame in watched.page.frames if "name=memory" in frame.url]
    assert len(found) == 1
    return found[0]
