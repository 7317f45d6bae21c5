"""How properties are tried, which files come first, what child processes inherit, a browser.

Properties are never judged by the clock, and CI tries the same examples in every run; a run of
one's own tries new ones each time, and shows how to repeat a failure.
"""

import gc
import os
import shutil
import signal
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from benchmarks.pgserver import Server, UnavailableError, shared_server
from sat_retriever import SheetIndex
from sat_retriever.workbook.process.pool import close_idle
from tests.devices import no_cuda
from tests.fakes import HashedEncoder
from tests.s3server import Bucket, running

if TYPE_CHECKING:
    from tests.cloudserver import Cloud

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run")

# A shell starts what it runs in the background deaf to Ctrl-C, and so would be all it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("own", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "own")


def pytest_configure() -> None:
    """Give each process of several a core of its own, and let no garbage be sought for a while.

    What starts a thread or a process for each core would otherwise start as many in each. What is
    imported and collected stays to the end, so that looking through it again and again is in vain.
    """
    gc.disable()
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        os.environ.pop(name, None)  # the servers of the tests are on this machine
    for name in ("OLLAMA_HOST", "OLLAMA_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        os.environ.pop(name, None)
    number = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if number and hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(number) % len(cores)]})


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with slow tests first, so that none of them still runs when all else is done."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test of a GPU with the reason why there is none for it."""
    for marker in item.iter_markers("gpu"):
        reason = no_cuda(marker.args[0])
        if reason:
            pytest.skip(reason)


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
def browser_page(browser) -> Iterator[object]:
    """One window for all tests of a module: to open one takes longer than most of them."""
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(60_000)  # reached only by a page that does not answer at all
    yield page
    context.close()


@pytest.fixture
def visit(browser_page, tmp_path: Path) -> Iterator[Callable]:
    """Opens a page from a file; at the end nothing may have been fetched, kept or complained of."""
    asked, said = [], []
    file = tmp_path / "page.html"
    heard = {
        "request": lambda request: asked.append(request.url.partition("#")[0]),
        "console": lambda message: said.append(message.text),
        "pageerror": lambda error: said.append(str(error)),
    }

    def open_page(text: str, fragment: str = "", size: tuple[int, int] = (1200, 800)):
        file.write_text(text, encoding="utf-8", newline="\n")
        browser_page.set_viewport_size({"width": size[0], "height": size[1]})
        browser_page.emulate_media(color_scheme="light")
        browser_page.mouse.move(0, 0)
        browser_page.goto(f"{file.as_uri()}{fragment}")
        browser_page.wait_for_selector("html[data-ready]", state="attached")
        return browser_page

    for event, listener in heard.items():
        browser_page.on(event, listener)
    yield open_page
    for event, listener in heard.items():
        browser_page.remove_listener(event, listener)
    kept = browser_page.context.storage_state()
    browser_page.goto("about:blank")
    assert set(asked) == {file.as_uri()}
    assert said == []
    assert kept == {"cookies": [], "origins": []}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SheetIndex]:
    """An empty index, by hashed words; a test module that needs sheets in it adds them."""
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as made:
        yield made


@pytest.fixture(scope="session")
def s3_server() -> Iterator[tuple[object, object]]:
    with running() as started:
        yield started


@pytest.fixture
def bucket(s3_server, monkeypatch, tmp_path: Path) -> Iterator[Bucket]:
    """An empty bucket of a real S3 server; copies are kept below the test's own folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    server, client = s3_server
    yield Bucket(server, client)
    server.spoil = lambda *_: None


@pytest.fixture(params=["Graph", "Drive"])
def cloud(request, monkeypatch, tmp_path: Path) -> Iterator["Cloud"]:
    """An empty library of SharePoint, or folder of Google Drive; what is waited for is noted."""
    pytest.importorskip("httpx")
    pytest.importorskip("joserfc")
    from sat_retriever.workbook.remote import rest
    from tests import cloudserver

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with cloudserver.served(getattr(cloudserver, request.param)()) as made:
        monkeypatch.setattr(rest, "sleep", made.slept.append)
        for name, value in made.environment(tmp_path).items():
            monkeypatch.setenv(name, value)
        yield made


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of PostgreSQL with pgvector; a test that needs it skips where there is none."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    try:
        with shared_server(shared) as server:
            yield server
    except UnavailableError as reason:
        pytest.skip(str(reason))


@pytest.fixture
def url(postgres: Server) -> str:
    """The URL of an index that does not exist yet, in a schema of the test's own."""
    return postgres.url(f"t{uuid.uuid4().hex}")
