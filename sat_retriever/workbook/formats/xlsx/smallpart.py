"""Reading of the small parts around a sheet: comments, drawings, charts."""

from __future__ import annotations

from collections.abc import Iterator

from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import MIB, SMALL, Budget, CutShort, Refused
from sat_retriever.workbook.opening.package import (
    Attributes,
    BadXmlError,
    Package,
    feed,
    guarded_parser,
    too_deep,
)

MAX_PART = 8 * MIB  # bytes of a part that are read; what is behind them is told to be missing
_MAX_HELD = 1 << 16  # characters of one text that are held while parsing


class PartReader:
    """Handlers of some elements of a part, which can hold the text of each."""

    tags: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._held: list[str] | None = None
        self._left = 0

    def begin(self, tag: str, attributes: Attributes) -> None:
        """Handle the start of an element, by its local name."""

    def finish(self, tag: str) -> None:
        """Handle the end of an element."""

    def hold(self) -> None:
        """Keep the characters from here on, until `held` is called."""
        self._held, self._left = [], _MAX_HELD

    def held(self) -> str:
        """The characters since `hold`, which are then no longer kept; "" without any."""
        text, self._held = "".join(self._held or ()), None
        return text

    def characters(self, text: str) -> None:
        """Handle characters."""
        if self._held is not None and self._left > 0:
            self._left -= len(text)
            self._held.append(text)


def read_part(package: Package, part: str, reader: PartReader, budget: Budget) -> Refused | None:
    """Pass a part to a reader; return why not all of it could be read. What it got stays valid."""
    parser = guarded_parser(part)
    tags, most, depth = reader.tags, package.limits.xml_depth, 0

    # Most elements of a drawing are of no use, so a look at the name is all that they cost.
    def start(name: str, attributes: Attributes) -> None:
        nonlocal depth
        depth += 1
        if depth > most:
            raise too_deep(part)
        tag = name.rpartition(" ")[2]
        if tag in tags:
            reader.begin(tag, attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        tag = name.rpartition(" ")[2]
        if tag in tags:
            reader.finish(tag)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = reader.characters
    try:
        feed(parser, _bounded(package.chunks(part), budget))
    except Refused as refused:
        return refused
    except BadXmlError as error:
        return Refused(SkipReason.DAMAGED, f"Part {part} cannot be read to its end: {error}.")
    except CutShort as cut:
        why = budget.limits.why_cut(cut.reason)
        if cut.reason is SkipReason.TOO_LARGE:
            most = budget.limits.xml_bytes // SMALL // MIB
            why = (
                f"the limit is {MAX_PART // MIB} MiB, and {most:,} MiB for all comments, drawings"
                " and charts of a workbook"
            )
        return Refused(cut.reason, f"Part {part} was not read to its end: {why}.")
    return None


def _bounded(chunks: Iterator[bytes], budget: Budget) -> Iterator[bytes]:
    left = MAX_PART
    for chunk in chunks:
        if len(chunk) > min(left, budget.small_bytes):
            raise CutShort(SkipReason.TOO_LARGE)
        if budget.late():
            raise CutShort(SkipReason.TIMEOUT)
        left -= len(chunk)
        budget.small_bytes -= len(chunk)
        yield chunk
