"""Take the pictures of `sat serve` that the docs show, at two sizes and in both colours.

python .ci/page_screenshots.py    write docs/images/serve-*

Each view is looked at by axe first; something serious ends the run. They show the invented
workbooks of the demo, in chromium.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from page_tour import ROOT, SCHEMES, SIZES, VIEWS, opened, seen, served
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import sync_playwright

IMAGES = ROOT / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LARGE = {
    ("sheets that were found", "desktop", "light"): "serve-desktop.png",
    ("sheets that were found", "phone", "dark"): "serve-phone.png",
    ("a sheet that a question led to", "desktop", "light"): "serve-sheet.png",
}
ROW, GAP, NAME = 430, 12, 26  # pixels: height of a picture in a sheet of them, around it, its name
Pictures = dict[tuple[str, str, str], Image.Image]  # by view, size, colours


def taken() -> Pictures:
    """Look at all views and return their pictures."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    found: Pictures = {}
    with (
        tempfile.TemporaryDirectory() as name,
        served(Path(name)) as url,
        sync_playwright() as engine,
    ):
        browser = engine.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        for size in SIZES:
            for scheme in SCHEMES:
                page = opened(browser, size, scheme)
                for view in (each for views in VIEWS.values() for each in views):
                    if wrong := seen(page, url, view):
                        sys.exit(f"{view.name}, {size}, {scheme}: {wrong}")
                    with Image.open(io.BytesIO(page.screenshot())) as shot:
                        found[view.name, size, scheme] = shot.convert("RGB")
                page.close()
        browser.close()
    return found


def sheet_of(names: Sequence[str], pictures: Pictures) -> Image.Image:
    """Return the pictures of some views below each other, each at both sizes in both colours."""
    columns = [(size, scheme) for size in SIZES for scheme in SCHEMES]
    widths = [ROW * SIZES[size][0] // SIZES[size][1] for size, _scheme in columns]
    width = sum(widths) + GAP * (len(columns) + 1)
    made = Image.new("RGB", (width, (ROW + GAP + NAME) * len(names) + GAP), (120, 126, 132))
    pen, font = ImageDraw.Draw(made), ImageFont.load_default(18)
    for place, name in enumerate(names):
        top, left = GAP + place * (ROW + GAP + NAME), GAP
        pen.text((left, top), name, (255, 255, 255), font)
        for (size, scheme), wide in zip(columns, widths, strict=True):
            small = pictures[name, size, scheme].resize((wide, ROW), Image.Resampling.LANCZOS)
            made.paste(small, (left, top + NAME))
            left += wide + GAP
    return made


def main() -> None:
    """Take and write all pictures."""
    pictures = taken()
    for shot, file in LARGE.items():
        few = pictures[shot].quantize(128, dither=Image.Dither.NONE)
        few.save(IMAGES / file, optimize=True)
    for name, views in VIEWS.items():
        sheet = sheet_of([each.name for each in views], pictures)
        sheet.save(IMAGES / f"serve-views-{name}.webp", quality=80, method=6)


if __name__ == "__main__":
    main()
