"""Why a sheet was found: in one plain sentence, and in the numbers that it was ranked by."""

from __future__ import annotations

from collections.abc import Iterator

from sat_retriever.records.hits import Hit
from sat_retriever.serve.grid import Mark, Segment, joined
from sat_retriever.serve.request import Related
from sat_retriever.text.oneline import short
from sat_retriever.text.segment import stems

_WORDS, _PLACES = 8, 4


def plain_reason(hit: Hit, mark: Mark) -> list[Segment]:
    """Return the words of the question that a sheet has, and where; the words are to be marked."""
    found: list[Segment] = []
    for words, where in list(_words_by_place(hit, mark))[:_PLACES]:
        found.append((", " if found else "", False))
        for word in words[:_WORDS]:
            found += [(word, True), (", ", False)]
        found[-1] = (f" in {where}", False)
    if not found and hit.why.via:
        seen = Related.of(hit.sheet_id, hit.why.via)
        return [(f"{seen.way} {seen.name_beside(hit.record.path)}", False)]
    if hit.why.period:
        found.append((f"{', ' if found else ''}of {hit.why.period}", False))
    return [each for each in found if each[0]] or [("alike in meaning", False)]


def _words_by_place(hit: Hit, mark: Mark) -> Iterator[tuple[list[str], str]]:
    """Yield marked words of the names, headers and cells of a sheet, each at its first place."""
    record, said = hit.record, set[str]()
    places = [
        ("the sheet's name", record.sheet),
        ("the file name", record.workbook_name),
        ("the folder", record.path.rpartition("/")[0]),
        ("a header", " ".join(hit.why.headers)),
        *((each.place, each.text) for each in hit.why.cells),
    ]
    for where, text in places:
        words = []
        for word, is_marked in mark(text):
            forms = set(stems(word)) if is_marked else set[str]()
            if forms and said.isdisjoint(forms):
                said |= forms
                words.append(word.lower())
        if words:
            yield words, where


def ranking_of(hit: Hit) -> tuple[tuple[str, str], ...]:
    """Return what a sheet was ranked by, each a label and a text."""
    why = hit.why
    found = [
        ("words", why.common(_WORDS) or "none in common"),
        ("headers", joined(map(short, why.headers), _WORDS)),
        ("meaning", f"{why.dense:.2f} (rank {why.dense_rank:,})"),
        ("cells", f"{why.contents:.2f} (rank {why.contents_rank:,})" if why.contents_rank else ""),
        ("time", why.period or ""),
        ("same file", joined(hit.copies.equal, _WORDS)),
    ]
    if why.via:
        seen = Related.of(hit.sheet_id, why.via)
        found.append(("link", f"{seen.way} {seen.name_beside(hit.record.path)}"))
    found.append(("score", f"{hit.score:.2f}"))
    return tuple((label, text) for label, text in found if text)
