"""Write the docs' table of skip codes from the enumeration and its docstrings.

python .ci/skip_codes.py            write it between its markers
python .ci/skip_codes.py --check    fail if it is stale
"""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

from page_block import write_or_check

SHEETS = Path(__file__).resolve().parents[1] / "sat_retriever" / "records" / "sheets.py"


def skip_codes() -> str:
    """Return one row per code, with its meaning."""
    tree = ast.parse(SHEETS.read_text(encoding="utf-8"))
    reasons = next(
        node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "SkipReason"
    )
    rows = [
        f"| `{member.value.value}` | {' '.join(meaning.value.value.split())} |"
        for member, meaning in pairwise(reasons.body)
        if isinstance(member, ast.Assign)
    ]
    return "\n".join(["| code | meaning |", "|---|---|", *rows])


if __name__ == "__main__":
    write_or_check("reference/formats.md", "skip-codes", skip_codes())
