"""Take the screenshots of `sat serve` that the docs show, at two sizes.

python .ci/page_screenshots.py    write docs/images/serve-*.png

They show the invented workbooks of the demo, in chromium.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ASKED = {"q": "sales in the South in February"}
QUESTION = urlencode(ASKED)
SHEET = urlencode({"id": "sales/Sales South 2024.xlsx#February", "cells": "B6", **ASKED})
DESKTOP, PHONE = (1280, 860), (390, 844)
SHOTS = {
    "serve-desktop.png": (f"/?{QUESTION}", DESKTOP, "light"),
    "serve-phone.png": (f"/?{QUESTION}", PHONE, "dark"),
    "serve-sheet.png": (f"/sheet?{SHEET}", DESKTOP, "light"),
}
_URL = re.compile(r"http://127\.0\.0\.1:\d+")


@contextmanager
def served() -> Iterator[str]:
    """Index the demo's workbooks, serve them, and give the address of the page."""
    sat = [sys.executable, "-m", "sat_retriever"]
    with tempfile.TemporaryDirectory() as name:
        books, index = Path(name, "workbooks"), Path(name, "reports.sat")
        made = [sys.executable, str(ROOT / "examples" / "demo_workbooks.py"), str(books)]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*sat, "index", str(books), "--index", str(index)], check=True,
                       capture_output=True)  # fmt: skip
        line = [*sat, "serve", "--index", str(index), "--port", "0"]
        desktop = Path(name, "xdg-open")  # so that the page offers to open workbooks
        desktop.touch(mode=0o700)
        env = {**os.environ, "DISPLAY": ":0", "PATH": f"{name}{os.pathsep}{os.environ['PATH']}"}
        with subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=env) as server:
            try:
                said = server.stderr.readline() if server.stderr else ""
                found = _URL.search(said)
                if found is None:
                    raise SystemExit(f"the server did not start: {said}")
                yield found[0]
            finally:
                server.terminate()


def shoot(browser: Browser, url: str, path: Path, size: tuple[int, int], scheme: str) -> None:
    """Write one screenshot, with few colours."""
    width, height = size
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.goto(url)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=path)
    page.close()
    with Image.open(path) as taken:
        taken.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    """Take all screenshots."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    with served() as url, sync_playwright() as engine:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = engine.chromium.launch(executable_path=program, args=flags)
        for name, (address, size, scheme) in SHOTS.items():
            shoot(browser, url + address, IMAGES / name, size, scheme)
        browser.close()


if __name__ == "__main__":
    main()
