"""The pages that users read, taken apart into their code blocks.

A block is run unless a comment right above it says why not. The comments are:

    <!-- not run: REASON -->         only its commands and options are checked
    <!-- output varies: REASON -->   run, but its output is not compared
    <!-- desk: workbooks -->         from here on in a fresh folder that holds workbooks alone
    <!-- desk: index -->             the same, with an index of them and some labels
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.places import DISTRIBUTIONS, ROOT

DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = (README, *sorted(DOCS.rglob("*.md")), *(each / "README.md" for each in DISTRIBUTIONS))
_MARK = re.compile(r"<!-- (not run|output varies|desk): (.+?) -->")
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One code block of a page, with the marks above it and the output below it."""

    page: Path
    line: int
    language: str
    text: str
    marks: dict[str, str]
    output: str | None = None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def runs(self) -> bool:
        return "not run" not in self.marks

    def commands(self) -> list[tuple[list[str], str]]:
        """Each command of a block of the shell, and the output that is shown below it."""
        steps = [step.partition("\n") for step in f"\n{self.text}".split("\n$ ")[1:]]
        return [(shlex.split(line, comments=True), shown.strip()) for line, _, shown in steps]


def blocks(page: Path) -> Iterator[Block]:
    """Code blocks of a page in order; one of text is the output of the Python above it."""
    text = page.read_text(encoding="utf-8")
    found = list(_FENCE.finditer(text))
    taken = set()
    for number, fence in enumerate(found):
        if number in taken:
            continue
        output = None
        if fence[1] == "python" and number + 1 < len(found):
            after = found[number + 1]
            if after[1] == "text" and not text[fence.end() : after.start()].strip():
                output = after[2]
                taken.add(number + 1)
        line = text.count("\n", 0, fence.start()) + 1
        yield Block(page, line, fence[1], fence[2], _marks(text[: fence.start()]), output)


def steps_of(block: Block) -> Iterator[tuple[dict, str | None]]:
    """The steps of a block, each with the output that the page shows; None where it shows none."""
    if block.language == "python":
        yield {"python": block.text}, block.output or ""
        return
    for (program, *arguments), output in block.commands():
        assert program == "sat", f"{block}: mark it as not run"
        yield {"sat": arguments}, output or None


def steady(text: str) -> list[str]:
    """Lines without times and without the blanks that fill a table up."""
    lines = [line.rstrip() for line in text.strip().splitlines()]
    return [re.sub(r"in [\d.]+ s, \d+ workbooks?/(s|min)", "in … s", line) for line in lines]


def _marks(before: str) -> dict[str, str]:
    """The comments that stand directly above a block."""
    marks = {}
    for line in reversed(before.splitlines()):
        found = _MARK.fullmatch(line)
        if found is None:
            break
        marks[found[1]] = found[2]
    return marks
