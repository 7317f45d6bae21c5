"""Comments on the cells of a sheet: notes, and threads of comments."""

from __future__ import annotations

import re

from sat_retriever.records.area import split_ref
from sat_retriever.records.contents import CellText, TextKind
from sat_retriever.workbook.formats.xlsx.book import unescaped
from sat_retriever.workbook.formats.xlsx.smallpart import PartReader, read_part
from sat_retriever.workbook.limits import Budget, Refused
from sat_retriever.workbook.opening.package import Attributes, Package

_MAX_PARTS = 16  # of each kind and sheet
# What a note that repeats a thread begins with, in any language: a name of the kind, advice that
# ends with an address, a heading.
_ADVICE = re.compile(r"\A\[[^\]\n]{1,80}\]\n\n[^\n]{1,600}://[^\s]{1,200}\n\n[^\n]{1,60}:\n")
_THREADS, _NOTES = "threadedComment", "comments"


def read_comments(
    package: Package, sheet_part: str, budget: Budget
) -> tuple[list[CellText], Refused | None]:
    """The comments of a sheet, and the reason if a part of them could not be read.

    A cell has either a thread or a note; a note on a cell with a thread repeats it for older
    programs, and is left out.
    """
    links = [each for each in package.relationships(sheet_part).values() if not each.external]
    found: list[CellText] = []
    why: Refused | None = None
    for kind in (_THREADS, _NOTES):
        parts = dict.fromkeys(each.target for each in links if each.type == kind)
        threads = {each.cell for each in found}
        for part in list(parts)[:_MAX_PARTS]:
            reader = _ThreadReader() if kind == _THREADS else _NoteReader()
            refused = read_part(package, part, reader, budget)
            why = why or refused
            found += (each for each in reader.found if each.cell not in threads)
    return found, why


class _CommentReader(PartReader):
    element = ""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[CellText] = []
        self._on: Attributes | None = None
        self._pieces: list[str] = []

    def begin(self, tag: str, attributes: Attributes) -> None:
        if tag == self.element:
            self._on, self._pieces = attributes, []

    def finish(self, tag: str) -> None:
        if tag != self.element or self._on is None:
            return
        cell, text = self._on.get("ref", "").replace("$", ""), self.text(self._on)
        if text and split_ref(cell) is not None:
            self.found.append(CellText(cell, text, TextKind.COMMENT))
        self._on = None

    def text(self, attributes: Attributes) -> str:
        return unescaped("".join(self._pieces)).strip()


class _ThreadReader(_CommentReader):
    element, tags = "threadedComment", frozenset(("threadedComment", "text"))

    def begin(self, tag: str, attributes: Attributes) -> None:
        super().begin(tag, attributes)
        if tag == "text":
            self.hold()

    def finish(self, tag: str) -> None:
        if tag == "text":
            self._pieces.append(self.held())
        super().finish(tag)


class _NoteReader(_CommentReader):
    """Reader of notes: the runs of each, without the author's name before them."""

    element, tags = "comment", frozenset(("comment", "author", "t", "rPh"))

    def __init__(self) -> None:
        super().__init__()
        self._authors: list[str] = []
        self._spoken = False  # in how a text is said, which repeats it

    def begin(self, tag: str, attributes: Attributes) -> None:
        super().begin(tag, attributes)
        if tag == "rPh":  # nothing is held within it
            self._spoken = True
        elif tag == "author" or (tag == "t" and not self._spoken):
            self.hold()

    def finish(self, tag: str) -> None:
        if tag == "author":
            self._authors.append(self.held())
        elif tag == "t":
            self._pieces.append(self.held())
        elif tag == "rPh":
            self._spoken = False
        super().finish(tag)

    def text(self, attributes: Attributes) -> str:
        """The text of the note that ends; of one that repeats a thread without its advice."""
        text, number = super().text(attributes), attributes.get("authorId", "")
        known = number.isascii() and number.isdigit() and int(number) < len(self._authors)
        author = self._authors[int(number)].strip() if known else ""
        text = _ADVICE.sub("", text.replace("\r\n", "\n"), count=1)
        return text.removeprefix(f"{author}:").strip() if author else text.strip()
