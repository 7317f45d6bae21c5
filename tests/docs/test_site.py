"""The built site: no warning, no request to elsewhere, no page that scrolls sideways."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

PHONE, DESK = 390, 1280


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for module in ("mkdocs", "material", "mkdocstrings"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed; run: pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_no_page_asks_elsewhere_or_scrolls_sideways(site, browser):
    asked: list[str] = []
    too_wide = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    for file in sorted(site.rglob("*.html")):
        page.goto(file.as_uri())
        for width in (PHONE, DESK):
            page.set_viewport_size({"width": width, "height": 900})
            if page.evaluate("document.documentElement.scrollWidth") > width:
                too_wide.append((file.relative_to(site), width))
    page.close()
    assert [url for url in asked if not url.startswith("file:")] == []
    assert too_wide == []
