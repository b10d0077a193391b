"""What browser tests say to the page: open the tab, wait for a recording, read what it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Page

TAB = "#memory"
_PLUGIN = "p.memory."


def link(run: str, source: str, **words: object) -> str:
    """The part of an address from ``#`` on that shows a source: docs/page.md, "Links"."""
    named = {"run": run, "source": source, **words}
    return "&".join([TAB, *(f"{_PLUGIN}{key}={quote(str(value))}" for key, value in named.items())])


def words_of(address: str) -> dict[str, str]:
    """The plugin's words in an address, as :func:`link` takes them, still quoted."""
    parts = address.partition("#")[2].split("&")
    ours = [part.removeprefix(_PLUGIN) for part in parts if part.startswith(_PLUGIN)]
    return dict(part.split("=", 1) for part in ours)


def open_page(page: Page, address: str) -> FrameLocator:
    """Goes to an address of TensorBoard and answers the plugin's frame, once it is there."""
    page.goto(address)
    frame = page.frame_locator("iframe[src*='name=memory']")
    frame.locator(".shell").wait_for()
    return frame


def wait_for_table(frame: FrameLocator) -> None:
    """Waits until the selected recording is read and its breakdown is there."""
    import playwright.sync_api as playwright

    try:
        frame.locator("table.groups tr[data-row]").first.wait_for()
    except playwright.TimeoutError:
        said = frame.locator(".shell").inner_text()
        raise AssertionError(f"no table came; the page says:\n{said}") from None


def peak(frame: FrameLocator) -> str:
    """The number that answers first, such as ``1.23 GiB``."""
    return frame.locator(".numbers .big").first.inner_text().replace("\u00a0", " ")


#: Resolves once nothing has been under way for a few frames in a row: what a click begins when it
#: is drawn, such as a view that measures itself and then asks, has begun by then.
_SETTLED = """async ([frames, patience]) => {
  const end = performance.now() + patience;
  const busy = () => {
    const found = document.querySelector(".shell:not([data-underway='0']), [aria-busy='true']");
    return found && `${found.className}: ${found.dataset.underway ?? "busy"}`;
  };
  for (let quiet = 0; quiet < frames; ) {
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    quiet = busy() ? 0 : quiet + 1;
    if (performance.now() > end) throw new Error(`The page does not settle (${busy()})`);
  }
}"""


def settle(page: Page) -> None:
    """Waits until the page shows what it was asked for last, and its address says so."""
    (frame,) = (frame for frame in page.frames if "name=memory" in frame.url)
    frame.evaluate(_SETTLED, [5, 150_000])


def is_waiting(page: Page) -> bool:
    """Whether something is under way that the page shows."""
    (frame,) = (frame for frame in page.frames if "name=memory" in frame.url)
    return bool(frame.locator(".shell:not([data-underway='0']), [aria-busy='true']").count())


def wear(page: Page, theme: str) -> None:
    """Has TensorBoard ``light`` or ``dark``, and waits until what the page draws is so too."""
    page.evaluate("dark => document.body.classList.toggle('dark-mode', dark)", theme == "dark")
    settle(page)


def settled_address(page: Page, word: str) -> str:
    """The address once it has ``word`` in it: the page lets it settle before writing it."""
    page.wait_for_function("word => location.hash.includes(word)", arg=word)
    return page.url
