"""How properties are tried, which files come first, what child processes inherit, a browser.

Properties are never judged by the clock, and CI tries the same examples in every run; a run of
one's own tries new ones each time, and shows how to repeat a failure.
"""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from sat_retriever.workbook.process.pool import close_idle

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run")

# A shell starts what it runs in the background deaf to Ctrl-C, and so would be all it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("own", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "own")


def pytest_configure() -> None:
    """Give each process of several a core of its own.

    What starts a thread or a process for each core would otherwise start as many in each.
    """
    number = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if number and hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(number) % len(cores)]})


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with slow tests first, so that none of them still runs when all else is done."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session", autouse=True)
def no_reading_process_is_left_behind() -> Iterator[None]:
    yield
    close_idle()


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"no chromium: none of {', '.join(BROWSERS)} is installed")
    with playwright.sync_playwright() as engine:
        started = engine.chromium.launch(executable_path=program, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture(scope="module")
def windows(browser) -> Iterator[object]:
    """Opens windows of one browser; a page that keeps nothing needs no fresh one for each test."""
    context = browser.new_context(viewport={"width": 1200, "height": 800}, reduced_motion="reduce")
    yield context
    context.close()


@pytest.fixture
def visit(windows, tmp_path: Path) -> Iterator[Callable]:
    """Opens a page from a file; at the end nothing may have been fetched or complained of."""
    asked, said, opened = [], [], []
    file = tmp_path / "page.html"

    def open_page(text: str, fragment: str = "", size: tuple[int, int] | None = None):
        file.write_text(text, encoding="utf-8", newline="\n")
        page = windows.new_page()
        opened.append(page)
        page.set_default_timeout(60_000)  # reached only by a page that does not answer at all
        if size is not None:
            page.set_viewport_size({"width": size[0], "height": size[1]})
        page.on("request", lambda request: asked.append(request.url.partition("#")[0]))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{file.as_uri()}{fragment}")
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield open_page
    assert windows.storage_state() == {"cookies": [], "origins": []}
    for page in opened:
        page.close()
    assert set(asked) == {file.as_uri()}
    assert said == []
