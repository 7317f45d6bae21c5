"""Made workbooks of eight categories, read by the real reader, against the truth about them."""

from dataclasses import replace

import pytest

from sat_retriever import SheetIndex
from sat_retriever.synth.calculate.compile import compiled
from sat_retriever.synth.calculate.evaluate import Values
from sat_retriever.synth.truth.links import true_links, true_siblings
from sat_retriever.synth.truth.records import true_records
from sat_retriever.synth.write.xlsx import write_xlsx
from tests.fakes import HashedEncoder
from tests.synth.categories.checks import made
from tests.synth.categories.read_back import OTHERWISE

CATEGORIES = {
    "inventory": (2023,),
    "hr": (2022, 2023),
    "projects": (2022, 2023),
    "stock": (2022, 2023),
    "indices": (2023,),
    "institutions": (2022, 2023),
    "ratings": (2022, 2023),
    "sentiment": (2022, 2023),
}
FROM_NAMES_AND_FORMULAS = {
    "formula_reference",
    "aggregation",
    "summary_source",
    "sibling_period",
}
"""Joins are left out: values show many that no formula does."""


def written(folder, name, seed):
    """True records and links of a category, its workbooks written into a folder."""
    books = made(name, seed, CATEGORIES[name])
    by_path = {book.path: book for book in books}
    values = Values(by_path.get)
    records, links, facts = [], [], []
    for book in books:
        ready = compiled(book, by_path.get, values)
        write_xlsx(ready, folder / book.path)
        found = true_records(ready)
        records += found
        links += true_links(ready)
        for sheet, record in zip(book.sheets, found, strict=True):
            if sheet.facts:
                facts.append(replace(sheet.facts, sheet_id=record.sheet_id, workbook=book.path))
    return records, links + true_siblings(facts)


def seen(record, meant):
    """What the name, place, headers, types and units of a sheet's table are."""
    columns = [
        (column.name, own.type if column.type in OTHERWISE.get(own.type, ()) else column.type,
         column.unit)
        for column, own in zip(record.columns, meant.columns, strict=True)
    ]  # fmt: skip
    main = record.tables[0]
    table = (main.range, main.header_row, main.header_height, main.num_rows, main.name)
    shape = (record.range, record.num_rows, record.num_cols, record.visibility, record.formulas)
    return record.sheet, record.path, columns, table, shape


@pytest.mark.parametrize("seed", [2, 17])
def test_reading_finds_the_records_and_links_that_were_meant(tmp_path, seed):
    records, links = [], []
    for name in CATEGORIES:
        own_records, own_links = written(tmp_path / "books", name, seed)
        records += own_records
        links += own_links
    with SheetIndex.create(tmp_path / "index.sat", HashedEncoder()) as index:
        report = index.sync(tmp_path / "books", workers=1)
        found = index.records([record.sheet_id for record in records])
        every = list(index.all_links())

    assert report.skipped == ()
    hidden = {r.sheet_id for r in records if r.visibility == "hidden"}
    for record in records:
        # A list of choices is words without any number: nothing tells its header from them.
        if record.sheet_id not in hidden:
            assert seen(found[record.sheet_id], record) == seen(record, record)
    wanted = {(link.source, link.target, link.type) for link in links}
    read = {
        (link.source, link.target, str(link.type))
        for link in every
        if not (link.type == "sibling_period" and link.source in hidden)
    }
    for kind in sorted(FROM_NAMES_AND_FORMULAS):
        assert {ends for ends in read if ends[2] == kind} == {
            ends for ends in wanted if ends[2] == kind
        }
