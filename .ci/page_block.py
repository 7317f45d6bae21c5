"""Write or check a block of a page between two markers."""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def write_or_check(page: str, name: str, block: str) -> None:
    """Write a block between its markers; with `--check` on the command line, only compare.

    Args:
        page: The page, below `docs/`.
        name: Name of the block, which lies between the comments `name:start` and `name:end`.
        block: Its new text.

    Raises:
        SystemExit: If the markers are missing, or a checked block is stale.
    """
    path = DOCS / page
    text = path.read_text(encoding="utf-8")
    new = _filled(text, page, name, block)
    if "--check" not in sys.argv[1:]:
        path.write_text(new, encoding="utf-8")
    elif new != text:
        sys.exit(f"docs/{page} is stale between its marks of {name!r}; run: make tables")


def _filled(text: str, page: str, name: str, block: str) -> str:
    start, end = f"<!-- {name}:start -->\n", f"<!-- {name}:end -->"
    before, _, rest = text.partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"docs/{page} has no {start.strip()} … {end}")
    return f"{before}{start}\n{block.strip()}\n\n{end}{after}"
