"""A snapshot and a trace of one process: offered, shown as one, shifted, and kept in the link."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.looking import link, open_page, settle, settled_address, words_of
from tests.fixtures.pairs import Shown, write_pair
from tests.plugin.server import TensorBoardServer

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

    from tests.browser.conftest import Watched

pytestmark = pytest.mark.framed

SNAPSHOT, TRACE = "snapshot.pickle", "profile.pt.trace.json"


@pytest.fixture(scope="module")
def paired(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardServer]:
    """Run ``same`` holds both of one process, ``apart`` a snapshot and a trace of another's."""
    logs = tmp_path_factory.mktemp("pairs")
    for run, seed in (("same", 0), ("apart", 7)):
        (logs / run).mkdir()
        write_pair(logs / run, shown=Shown(ppm=12), seed=seed)
    shutil.copy(logs / "same" / TRACE, logs / "apart" / TRACE)
    cache = {"TB_MEMORY_CACHE": str(tmp_path_factory.mktemp("pairs-cache"))}
    with TensorBoardServer(logs, environment=cache) as running:
        yield running


def _opened(watched: Watched, server: TensorBoardServer, run: str, source: str) -> FrameLocator:
    frame = open_page(watched.page, server.url + link(run, source, view="trace"))
    settle(watched.page)
    return frame


def _offer(frame: FrameLocator, state: str) -> Any:
    offer = frame.locator(f"[data-testid=pair-offers] [data-state={state}]")
    offer.wait_for()
    return offer


def _together(watched: Watched, server: TensorBoardServer) -> FrameLocator:
    frame = _opened(watched, server, "same", SNAPSHOT)
    frame.get_by_test_id("pair-offers").wait_for()
    compare = frame.get_by_role("button", name="Compare")
    if compare.count():
        compare.click()
    _offer(frame, "matched").get_by_role("button", name="Show together").click()
    frame.get_by_test_id("pair-open").wait_for()
    settle(watched.page)
    return frame


def _begin(server: TensorBoardServer, shift: int | None) -> int:
    """When the first call of the module begins, as the server says of the pair of that shift."""
    (pair,) = (
        each
        for each in server.get("sources").json()["sources"]
        if each["pair"] and each["pair"]["shift_ns"] == shift
    )
    version = server.opened(pair["id"])["version"]
    question = {"source": pair["id"], "version": version, "device": "0"}
    found = server.get("trace.find", **question, find="nn.Module: Net", way="first").json()
    return int(found["span"]["begin"])


def test_what_is_of_one_process_is_offered_and_shown_as_one(
    watched: Watched, paired: TensorBoardServer, pictures: Any
) -> None:
    frame = _opened(watched, paired, "same", SNAPSHOT)
    assert frame.locator("[data-panel=host]").inner_text().count("no threads") == 1
    _offer(frame, "unread").get_by_role("button", name="Compare").click()
    said = _offer(frame, "matched").inner_text().replace("\u00a0", " ")
    assert "is of the same process" in said and "100 % of the trace's" in said
    assert "runs 12.00 ppm fast" in said
    pictures(watched.page, "offered")
    frame.get_by_role("navigation", name="Of the same process").get_by_role(
        "button", name="show together"
    ).click()
    frame.get_by_test_id("pair-open").wait_for()
    settle(watched.page)
    assert frame.locator("[data-panel=host] .trace-track").count() == 1
    words = words_of(settled_address(watched.page, "p.memory.with="))
    assert (words["source"], words["with"]) == (SNAPSHOT, TRACE)
    pictures(watched.page, "together")


def test_an_allocation_of_a_pair_leads_to_the_span_that_made_it(
    watched: Watched, paired: TensorBoardServer
) -> None:
    frame = _together(watched, paired)
    table = paired.get("sources").json()["sources"]
    (pair,) = (each for each in table if each["pair"] and each["pair"]["shift_ns"] is None)
    version = paired.opened(pair["id"])["version"]
    question = {"source": pair["id"], "version": version, "device": "0"}
    for id in range(100, 140):
        card = paired.get("allocation", **question, id=id).json()
        if card["made_in"] and card["freed_in"]:
            break
    else:
        pytest.fail("no allocation of the pair was made in a span")
    address = settled_address(watched.page, "p.memory.with=")
    watched.page.goto("about:blank")
    watched.page.goto(f"{address}&p.memory.allocation={id}")
    settle(watched.page)
    frame.get_by_role("button", name=card["made_in"]["name"]).first.wait_for()
    made = frame.locator(f"[data-arrow='made {card['made_in']['id']}']")
    made.wait_for()
    assert frame.locator(f"[data-arrow='freed {card['freed_in']['id']}']").count() == 1


def test_spans_are_shifted_by_exactly_that_and_back(
    watched: Watched, paired: TensorBoardServer
) -> None:
    frame = _together(watched, paired)
    before = _begin(paired, None)
    shift = frame.get_by_label("Shift of the trace")
    apply = frame.get_by_role("button", name="shift", exact=True)
    assert apply.is_disabled()
    shift.fill("soon")
    assert apply.is_disabled() and shift.get_attribute("aria-invalid") == "true"
    shift.fill("2.5")
    shift.press("Enter")
    words = words_of(settled_address(watched.page, "p.memory.shift="))
    assert words["shift"] == "2500000"
    settle(watched.page)
    assert _begin(paired, 2_500_000) == before + 2_500_000
    # Of shifts only the one that is looked at is in the list.
    frame.get_by_title("1 ms later").click()
    watched.page.wait_for_function("location.hash.includes('shift=3500000')")
    settle(watched.page)
    listed = frame.get_by_role("navigation", name="Recordings")
    assert listed.locator("button", has_text=f"{SNAPSHOT} + {TRACE}").count() == 2
    # The link opens the same for somebody else.
    address = watched.page.url
    watched.page.goto("about:blank")
    watched.page.goto(address)
    frame.get_by_test_id("pair-open").wait_for()
    assert shift.input_value() == "3.5"
    frame.get_by_role("button", name="reset", exact=True).click()
    watched.page.wait_for_function("!location.hash.includes('memory.shift')")
    settle(watched.page)
    assert shift.input_value() == "0"


def test_what_is_looked_at_stays_though_all_begins_earlier(
    watched: Watched, paired: TensorBoardServer
) -> None:
    """Spans that are shifted to before the first event move what times count from."""
    frame = _together(watched, paired)
    address = settled_address(watched.page, "p.memory.with=")
    watched.page.goto("about:blank")
    watched.page.goto(f"{address}&p.memory.window=10000000..20000000&p.memory.allocation=120")
    frame.get_by_test_id("pair-open").wait_for()
    settle(watched.page)
    frame.get_by_label("Unit of the shift").select_option("s")
    frame.get_by_label("Shift of the trace").fill("-1")
    frame.get_by_label("Shift of the trace").press("Enter")
    settled_address(watched.page, "p.memory.shift=-1000000000")
    frame.get_by_test_id("pair-open").wait_for()
    settle(watched.page)
    words = words_of(watched.page.url)
    pairs = [each for each in paired.get("sources").json()["sources"] if each["pair"]]
    origins = {
        each["pair"]["shift_ns"]: int(
            paired.get("summary", source=each["id"]).json()["time_origin"]
        )
        for each in pairs
        if each["pair"]["shift_ns"] in (None, -(10**9))
    }
    later = origins[None] - origins[-(10**9)]
    assert later > 900_000_000
    assert words["window"] == f"{10_000_000 + later}..{20_000_000 + later}"
    assert words["allocation"] == "120"


def test_one_of_both_is_shown_alone_again(watched: Watched, paired: TensorBoardServer) -> None:
    frame = _together(watched, paired)
    frame.get_by_test_id("pair-open").get_by_role("button", name=TRACE).click()
    watched.page.wait_for_function("!location.hash.includes('memory.with')")
    settle(watched.page)
    assert words_of(watched.page.url)["source"] == TRACE
    _offer(frame, "matched")
    watched.page.go_back()
    frame.get_by_test_id("pair-open").wait_for()
    settle(watched.page)


def test_what_is_of_two_processes_is_said_to_be(
    watched: Watched, paired: TensorBoardServer, pictures: Any
) -> None:
    frame = _opened(watched, paired, "apart", SNAPSHOT)
    _offer(frame, "unread").get_by_role("button", name="Compare").click()
    offer = _offer(frame, "different")
    assert "does not seem to be of the same process" in offer.inner_text()
    pictures(watched.page, "apart")
    offer.get_by_role("button", name="Show together by their clocks").click()
    said = frame.get_by_test_id("pair-open")
    said.wait_for()
    assert "Nothing that they allocated is the same" in said.inner_text()
    settle(watched.page)


def test_a_narrow_page_offers_it_in_every_view(watched: Watched, paired: TensorBoardServer) -> None:
    frame = _together(watched, paired)
    page = watched.page
    open_page(page, paired.url + link("same", SNAPSHOT, view="allocations"))
    settle(page)
    short = frame.get_by_role("button", name="show with its trace")
    frame.locator(".pair-short").wait_for(state="attached")
    assert short.count() == 0
    page.set_viewport_size({"width": 800, "height": 900})
    short.wait_for()
    (inside,) = (each for each in page.frames if "name=memory" in each.url)
    assert inside.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    settle(page)
    short.click()
    words = words_of(settled_address(page, "p.memory.with="))
    assert (words["view"], words["with"]) == ("allocations", TRACE)
    settle(page)
    assert short.count() == 0
