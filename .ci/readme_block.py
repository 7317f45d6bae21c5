"""A block of the README between two markers, made anew or checked."""

from __future__ import annotations

import sys
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"


def write_or_check(name: str, block: str, called: str) -> None:
    """Put a block between its markers; with `--check` on the command line, only compare.

    Args:
        name: The block lies between the comments `name:start` and `name:end`.
        block: Its new text.
        called: What the block is, for the message.

    Raises:
        SystemExit: If the markers are missing, or a checked block is stale.
    """
    text = README.read_text(encoding="utf-8")
    new = _filled(text, f"<!-- {name}:start -->\n", f"<!-- {name}:end -->", block)
    if "--check" not in sys.argv[1:]:
        README.write_text(new, encoding="utf-8")
    elif new != text:
        sys.exit(f"README.md's {called} is stale; run: make tables")


def _filled(readme: str, start: str, end: str, block: str) -> str:
    before, _, rest = readme.partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"README.md has no {start.strip()} … {end}")
    return f"{before}{start}{block}{end}{after}"
