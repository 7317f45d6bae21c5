"""Write the docs' reference of the `sat` command from its help, with typer's own generator.

python .ci/command_reference.py            write it between its markers
python .ci/command_reference.py --check    fail if it is stale
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

from page_block import write_or_check

ROOT = Path(__file__).resolve().parents[1]
_EXAMPLES = re.compile(r"^\[bold\]Examples\[/bold\]\n((?:\n(?!\*\*|#).+\n)+)", re.MULTILINE)
_USAGE = re.compile(r"^\*\*Usage\*\*:\n\n```console\n\$ (.+)\n```", re.MULTILINE)
_COLOUR = re.compile(r"</?span[^>]*>")
_LABEL = re.compile(r"^\* `(.+?)`", re.MULTILINE)


def command_reference() -> str:
    """Return every subcommand with its arguments, options, defaults and examples."""
    made = subprocess.run(
        [sys.executable, "-m", "typer", "sat_retriever.cli", "utils", "docs", "--name", "sat"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    ).stdout
    text = made.partition("**Usage**")[2]
    text = _USAGE.sub(r"**Usage**: `\1`", f"**Usage**{text}")
    text = _EXAMPLES.sub(_examples, text)
    text = _LABEL.sub(lambda found: f"* `{html.unescape(found[1])}`", text)
    text = _COLOUR.sub("", text)
    return text.replace(r"\[", "[")


def _examples(found: re.Match[str]) -> str:
    """Return the examples of a help page as one shell block."""
    lines = [html.unescape(line) for line in found[1].splitlines() if line]
    block = "\n".join(line.replace(r"\[", "[") for line in lines)
    return f"**Examples**:\n\n<!-- not run: examples of a help page -->\n```console\n{block}\n```\n"


if __name__ == "__main__":
    write_or_check("reference/commands.md", "commands", command_reference())
