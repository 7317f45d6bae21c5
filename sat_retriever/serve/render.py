"""Pages as HTML, by the templates of this package; every text in them is escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from sat_retriever._extras import require
from sat_retriever.serve.addresses import sheet_url
from sat_retriever.serve.searchpage import SearchForm

try:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
except ModuleNotFoundError:
    require("jinja2", "serve")  # names the extra to install
    raise

_PAGES = Path(__file__).parent / "pages"
STATIC = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


def rendered(template: str, **shown: Any) -> bytes:
    """Return a page in UTF-8; what is no Unicode in a name becomes a question mark.

    Args:
        template: Name of its template, without ending.
        shown: What it shows.
    """
    text = _environment().get_template(f"{template}.html").render(**shown)
    return text.encode("utf-8", "replace")


def sign_in_page(target: str, wrong: bool) -> bytes:
    """Return the page on which a browser gives the token."""
    return rendered("signin", target=target, wrong=wrong)


@cache
def static_file(name: str) -> bytes:
    """Return one of the files in `STATIC`."""
    return (_PAGES / name).read_bytes()


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_PAGES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["number"] = lambda value: f"{value:,}"
    made.filters["sheet_url"] = sheet_url
    made.filters["search_url"] = lambda question: SearchForm(q=question).url()
    return made
