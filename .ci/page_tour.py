"""Every view of the served page, at two sizes and in both colours, looked at by axe.

`.ci/page_screenshots.py` takes the pictures; a test looks at the same views. They show the invented
workbooks of the demo. A model that is written down beforehand answers in words.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from sat_retriever.serve.request import graph_url
from tests.modelserver import Reaction, openai

ROOT = Path(__file__).resolve().parents[1]
SIZES = {"desktop": (1280, 860), "phone": (390, 844)}
SCHEMES = ("light", "dark")
_URL = re.compile(r"http://127\.0\.0\.1:\d+")
_WAIT_MS = 60_000  # reached only by a page that does not answer at all

QUESTION = {"q": "sales in the South in February"}
REVENUE = {"q": "revenue of each product in the South in February", "folder": "sales"}
FEBRUARY = "sales/Sales South 2024.xlsx#February"
STOCK = "warehouse/Stock movements.xlsx#January"
LEAVE = "hr/Urlaubskonto 2024.csv"
SQL = (
    "SELECT product, sum(revenue) AS revenue FROM sales_south_2024_february "
    "GROUP BY product ORDER BY revenue DESC"
)
WORDS = "Ball valves brought in most of the revenue of the South in February 2024."


@dataclass(frozen=True, slots=True)
class View:
    """What people see at an address, after they have done something there."""

    name: str
    address: str
    act: Callable[[Page], object] = lambda page: None


def _address(path: str, **given: str) -> str:
    return f"{path}?{urlencode(given)}"


def _filters(page: Page) -> None:
    """Open what narrows a search: a button does on a phone."""
    if page.locator("#narrow").is_visible():
        page.click("#narrow")
    page.click(".tree summary >> nth=0")


def _answer(page: Page) -> None:
    page.click("text=Answer in words")
    page.wait_for_selector("#answer details", timeout=_WAIT_MS)
    page.click("#answer summary")


def _why(page: Page) -> None:
    page.click(".why summary >> nth=0")
    page.evaluate("document.querySelector('.why').scrollIntoView({ block: 'center' })")


def _lower(page: Page) -> None:
    page.evaluate("document.querySelector('.about').scrollIntoView()")


def _graph(page: Page) -> None:
    page.wait_for_selector("#panel", state="visible", timeout=_WAIT_MS)


VIEWS = {
    "search": (
        View("the start page", "/"),
        View("sheets that were found", _address("/", **QUESTION)),
        View("nothing answers", _address("/", q="penguins on the southern ice")),
        View("filters in use", _address("/", **QUESTION, format="xlsx"), _filters),
    ),
    "sheet": (
        View(
            "a sheet that a question led to",
            _address("/sheet", id=FEBRUARY, cells="B6", **QUESTION),
        ),
        View(
            "a cell asked for by its address",
            _address("/sheet", id=FEBRUARY, cell="E9", **QUESTION),
        ),
        View("its tables and links", _address("/sheet", id=FEBRUARY), _lower),
        View("a workbook that is gone", _address("/sheet", id=f"{LEAVE}#Urlaubskonto 2024")),
    ),
    "more": (
        View("why a sheet was found", _address("/", **QUESTION), _why),
        View("an answer in words", _address("/", **REVENUE), _answer),
        View("the graph around a sheet", graph_url(STOCK), _graph),
        View("help", _address("/", **QUESTION), lambda page: page.click(".ask-help")),
    ),
}  # by picture


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Index the demo's workbooks, serve them with all buttons, and give the page's address."""
    sat = [sys.executable, "-m", "sat_retriever"]
    books, index = folder / "workbooks", folder / "reports.sat"
    made = [sys.executable, str(ROOT / "examples" / "demo_workbooks.py"), str(books)]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*sat, "index", str(books), "--index", str(index)], check=True,
                   capture_output=True)  # fmt: skip
    (books / LEAVE).unlink()
    desktop = folder / "xdg-open"  # so that the page offers to open workbooks
    desktop.touch(mode=0o700)
    env = {**os.environ, "DISPLAY": ":0", "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    replies = (Reaction(f"```sql\n{SQL}\n```"), Reaction(WORDS))
    with openai(lambda _request, number: replies[number % 2]) as model:
        line = [*sat, "serve", "--index", str(index), "--port", "0", "--rate", "0"]
        line += ["--llm", "openai:small", "--llm-url", model.v1]
        with subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=env) as server:
            try:
                said = server.stderr.readline() if server.stderr else ""
                found = _URL.search(said)
                if found is None:
                    raise SystemExit(f"the server did not start: {said}")
                yield found[0]
            finally:
                server.terminate()


def opened(browser: Browser, size: str, scheme: str) -> Page:
    """Return a new window of a size, in a colour scheme."""
    width, height = SIZES[size]
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.set_default_timeout(_WAIT_MS)
    return page


def seen(page: Page, url: str, view: View) -> list[str]:
    """Show a view in a window; return what is wrong with it, in words."""
    page.goto(url + view.address)
    page.wait_for_selector("html[data-ready]", state="attached")
    view.act(page)
    page.wait_for_load_state("networkidle")
    found = Axe().run(page).response["violations"]
    wrong = [
        f"{each['id']}: {each['nodes'][0]['html']}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
    width = page.viewport_size["width"] if page.viewport_size else 0
    wide = page.evaluate("document.documentElement.scrollWidth")
    return wrong + ([f"{wide} pixels wide in a window of {width}"] if wide > width else [])
