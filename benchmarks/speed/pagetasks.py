"""Three tasks of a person on the page over `nz_contents`, done by a script in chromium."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_WAIT_MS = 60_000  # reached only by a page that does not answer at all


class Person:
    """A window of a browser in which each step of a person is counted."""

    def __init__(self, page: Any, start: str) -> None:
        self.page, self.steps = page, 0
        page.goto(start)
        page.wait_for_selector("html[data-ready]", state="attached")

    def ask(self, question: str) -> None:
        """Type a question and press Enter: one step."""
        self.steps += 1
        self.page.fill("#q", question)
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(".hits")

    def click(self, what: str) -> None:
        """Follow a link or press a button: one step."""
        self.steps += 1
        self.page.locator(what).first.click()

    def save(self, what: str) -> bytes:
        """Save a file by its link, which is one step; return the file."""
        with self.page.expect_download() as coming:
            self.click(what)
        return Path(coming.value.path()).read_bytes()

    def see(self, what: str) -> None:
        """Wait for something that shows that a step was done."""
        self.page.wait_for_selector(what)


def find_and_open(person: Person) -> None:
    """Find the average age of light vehicles, and open its workbook."""
    person.ask("average age of light vehicles")
    person.click(".hits a.open")
    person.see("#cells tbody tr")
    saved = person.save("text=Download workbook")
    if not saved.startswith(b"PK"):
        raise RuntimeError("the file saved is no workbook")


def compare(person: Person) -> None:
    """See the reserves of gas of one year, and those of the next."""
    person.ask("gas and LPG combined reserves 1 January 2025")
    person.click(".hits a.open")
    person.see("h1 >> text=Gas and LPG Combined")
    person.click("a:has-text('petroleum-reserves-1-jan-2026.xlsx#Gas and LPG Combined')")
    person.see("nav.path >> text=petroleum-reserves-1-jan-2026.xlsx")
    person.see("#cells tbody tr")


def export(person: Person) -> None:
    """Save the table that was found as CSV."""
    person.ask("gas and LPG combined reserves 1 January 2025")
    saved = person.save(".hits a:has-text('CSV')").decode("utf-8-sig")
    if "Ultimate Recoverable" not in saved.partition("\n")[0]:
        raise RuntimeError("the file saved is another table")


TASKS: dict[str, Callable[[Person], None]] = {
    "find_and_open": find_and_open,
    "compare": compare,
    "export": export,
}


@contextmanager
def browsing() -> Iterator[Any]:
    """Start a browser without a window on a screen."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    with sync_playwright() as engine:
        browser = engine.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


def done(task: str, browser: Any, start: str) -> int:
    """Do a task in a new window; return the number of its steps."""
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    page.set_default_timeout(_WAIT_MS)
    person = Person(page, start)
    TASKS[task](person)
    page.close()
    return person.steps
