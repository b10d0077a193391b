"""Private pools that give segments back, and frees that wait, after events in the middle."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Watched
from tests.browser.filed import File
from tests.browser.mapping import POOLS, in_words, show, told
from tests.browser.restated import segments_after
from tests.browser.test_segments_mapped import check_map, go
from tests.browser.test_segments_pools import said
from tests.fixtures.snapshots import snapshot, write_pickle
from tests.plugin.server import TensorBoardServer

pytestmark = pytest.mark.framed

NAMES = {
    "0,0@0x0": "default pool, default stream",
    "0,1@0x0": "private pool 0,1, default stream",
    "?@0x0": "pool not known, default stream",
}


@pytest.fixture(scope="module")
def server(segments_server: TensorBoardServer) -> TensorBoardServer:
    """One on real snapshots and made ones with private pools."""
    return segments_server


@pytest.mark.parametrize("run", ["pools", "untold"])
def test_what_waits_and_whose_it_is_are_told_after_any_event(
    watched: Watched, server: TensorBoardServer, tmp_path: Path, pictures: Any, run: str
) -> None:
    made = snapshot(**POOLS, event_pools=run == "pools")
    file = File(write_pickle(made, tmp_path / "snapshot.pickle"))
    gone = {each.get("pool_id") for each in file.trace if each["action"] == "segment_free"}
    assert gone == ({(0, 0), (0, 1)} if run == "pools" else {None})
    waiting = {
        event: sum(life.bytes for life in file.alive(event) if file.is_waiting(life, event))
        for event in range(300, len(file.trace), 7)
        # The map has a line where the block begins that an event is about.
        if file.trace[event]["action"] == "free_requested"
    }
    most = sorted(waiting, key=lambda event: -waiting[event])
    chosen = most[0], most[len(most) // 8], most[len(most) // 4]
    frame = show(watched, server, run, axis="event", at=chosen[0])
    seen: Counter[str] = Counter()
    given_back: Counter[tuple[int, int] | None] = Counter()
    for event in chosen:
        go(watched, frame, run, event, axis="event")
        _, found = check_map(watched, frame, file, event)
        blocks = [block for each in segments_after(file, event) for block in each["blocks"]]
        sizes = [each["size"] for each in blocks if each["state"] == "active_pending_free"]
        assert told(frame, "Pending free") == sum(sizes) >= waiting[event] > 0
        seen += found
        pools = frame.locator(".segments-pool")
        names = pools.evaluate_all("all => all.map((each) => each.dataset.pool)")
        captions = dict(zip(names, pools.locator("figcaption").all_inner_texts(), strict=True))
        held: dict[str, list[int]] = defaultdict(list)
        last = file.replay.after(len(file.trace) - 1)
        for each in file.replay.after(event):
            given_back[file.pool_of(each)] += each not in last
            pool = file.pool_of(each)
            held[f"{'{},{}'.format(*pool) if pool else '?'}@0x0"].append(each.size)
        assert (
            held.keys() <= captions.keys() == NAMES.keys() - ({"?@0x0"} if run == "pools" else ())
        )
        for name, text in captions.items():
            assert re.sub(r"\s+", " ", text).strip().startswith(f"{NAMES[name]} at the cursor")
            assert said(text) == (in_words(sum(held[name])), len(held[name])), name
    assert given_back[(0, 1) if run == "pools" else None] > 0
    assert seen["pending"] > 20 and seen["requested"] > 1_000
    pictures(watched.page)
