"""Made corpora with groups, and the comparison that permissions are about.

What some groups see of an index must equal an index of only the sheets that they may see.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from sat_retriever import Column, Filters, Link, SheetIndex, SheetRecord, SheetRetriever
from sat_retriever.records.contents import CellText, Role, SheetContents, TableContents
from tests.fakes import HashedEncoder

GROUPS = ("finance", "hr", "plant", "sales")
WORDS = (
    *("Revenue", "Costs", "Fleet", "Staffing", "Rent", "Fuel", "Stock", "Orders", "Emission"),
    *("Emissions", "Salary", "Salaries", "Überschuß", "NOx", "PM2.5", "Budget", "Supplier"),
)
FILTERS = (
    None,
    Filters(path="a/*"),
    Filters(metadata={"year": 2023}),
    Filters(period="2023"),
    Filters(role=Role.DOCUMENTATION),
)


def corpus(seed: int, count: int = 40) -> tuple[list[SheetRecord], dict[str, tuple[str, ...]]]:
    """Made records, and the groups that may see each; some are nobody's, some everyone's."""
    draw = random.Random(seed)
    records = [_record(draw, number) for number in range(count)]
    sets = [(), ("*",), *(tuple(sorted(draw.sample(GROUPS, draw.randint(1, 3)))) for _ in range(4))]
    return records, {record.sheet_id: draw.choice(sets) for record in records}


def _record(draw: random.Random, number: int) -> SheetRecord:
    own = "".join(draw.choice("bcdfghklmnprst") + draw.choice("aeiou") for _ in range(5))
    book = f"{draw.choice(WORDS)} {draw.choice((2022, 2023, 2024))} {own}.xlsx"
    cells = tuple(
        CellText(f"A{row}", f"{draw.choice(WORDS)} {own} {draw.randint(800, 805)}")
        for row in range(draw.randint(0, 6))
    )
    return SheetRecord(
        f"{number:03}/{book}#{draw.choice(WORDS)}",
        draw.choice(WORDS),
        workbook=book,
        path=f"{draw.choice('ab')}/{number:03}/{book}",
        format="xlsx",
        role=draw.choice((Role.DATA, Role.DATA, Role.DOCUMENTATION)),
        columns=tuple(Column(draw.choice(WORDS)) for _ in range(draw.randint(1, 4))),
        metadata=draw.choice(({}, {"year": 2023}, {f"field_{own}": "x"})),
        contents=SheetContents(cells[:2], (TableContents(values=cells[2:]),)) if cells else None,
    )


def links_among(draw: random.Random, ids: Sequence[str]) -> list[Link]:
    """Random links between sheets."""
    pairs = {tuple(draw.sample(ids, 2)) for _ in range(2 * len(ids))}
    return [Link(a, b, "formula", draw.choice((0.5, 0.9)), "A1") for a, b in sorted(pairs)]


def visible(
    records: Sequence[SheetRecord],
    groups: Mapping[str, Sequence[str]],
    principals: Sequence[str],
) -> list[SheetRecord]:
    """The records that some groups may see, by the definition."""
    return [x for x in records if set(groups[x.sheet_id]) & {*principals, "*"}]


def alone(place: object, records: Sequence[SheetRecord], links: Sequence[Link]) -> SheetIndex:
    """An index of only some records, and the links among them."""
    ids = {record.sheet_id for record in records}
    index = SheetIndex.create(place, HashedEncoder())
    index.add_records(
        records,
        [link for link in links if {link.source, link.target} <= ids],
        find_links=False,
    )
    return index


def misspelt(word: str, draw: random.Random) -> str:
    """A word with two of its inner letters swapped, or one left out."""
    at = draw.randint(1, max(1, len(word) - 3))
    return word[:at] + draw.choice((word[at + 1] + word[at], "")) + word[at + 2 :]


def queries(draw: random.Random, records: Sequence[SheetRecord], count: int) -> list[str]:
    """Questions with words, years, phrases, and names of any sheet, some of them misspelt."""
    made = []
    for _ in range(count):
        own = draw.choice(records).workbook.split()[2].removesuffix(".xlsx")
        words = draw.choices((*WORDS, "2023", "803", own, misspelt(own, draw)), k=3)
        words += [misspelt(draw.choice(WORDS), draw)]
        made.append(draw.choice((" ".join(words), f'"{words[0]}" {words[1]} {own}')))
    return made


def assert_equal_views(one: SheetIndex, other: SheetIndex, asked: Sequence[str]) -> None:
    """The same sheets, links, counts and answers, with the same scores."""
    ids = one.sheet_ids()
    assert other.sheet_ids() == ids
    assert len(one) == len(other)
    assert one.records(ids, contents=True) == other.records(ids, contents=True)
    assert one.paths() == other.paths()
    assert [*one.all_links()] == [*other.all_links()]
    hidden = {"index", "bytes"}
    status, same = one.status(), other.status()
    assert {k: v for k, v in status.items() if k not in hidden} == {
        k: v for k, v in same.items() if k not in hidden
    }
    retrievers = [SheetRetriever(each, "links") for each in (one, other)]
    for query in asked:
        question, again = one.question(query), other.question(query)
        assert question.read_as == again.read_as
        for filters in FILTERS:
            if filters and filters.metadata and not other.search.count():
                continue
            found, same_found = (
                index.candidates(each, 99, filters)
                for index, each in ((one, question), (other, again))
            )
            assert found == same_found, query
            assert one.search.count(filters) == other.search.count(filters)
            assert one.search.evidence(question, filters) == other.search.evidence(again, filters)
        hits, same_hits = (each.retrieve(query, 10) for each in retrievers)
        assert list(hits) == list(same_hits)
        assert hits.confidence == same_hits.confidence and hits.note == same_hits.note
