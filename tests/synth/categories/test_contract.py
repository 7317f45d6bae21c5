"""What holds for every category: sheets are whole, references exist, files are read as meant."""

import json
from collections import defaultdict
from dataclasses import replace
from itertools import islice

import pytest

from sat_retriever import SheetIndex
from sat_retriever.records.sheets import ColumnType
from sat_retriever.synth.calculate.compile import compiled
from sat_retriever.synth.calculate.evaluate import Values
from sat_retriever.synth.categories import CATEGORIES, category
from sat_retriever.synth.categories.tables import forms
from sat_retriever.synth.house.house import House
from sat_retriever.synth.plan.plan import house_names
from sat_retriever.synth.truth.links import true_links, true_siblings
from sat_retriever.synth.truth.records import true_records
from sat_retriever.synth.words.vocabulary import PACKAGED, Vocabulary
from sat_retriever.synth.write.xlsx import write_xlsx
from tests.fakes import HashedEncoder
from tests.synth.categories.checks import (
    SEEDS,
    YEARS,
    calculated,
    check_references,
    check_sheets,
    grids,
    made,
    records,
    sheets,
)

YEARLY = {
    "financial": ("income_statement", "balance_sheet", "cash_flow", "key_figures"),
    "budget": ("annual", "summary", "quarterly"),
    "sales": ("orders", "prices", "annual", "annual_regions", "targets"),
    "inventory": ("entry", "exit", "ledger", "stocktake", "annual"),
    "hr": ("roster", "payroll", "attendance", "training", "leave", "headcount"),
    "projects": ("budget", "progress", "registry", "milestones"),
    "stock": ("daily", "summary", "watch"),
    "indices": (),  # its sheets of levels are one family a market
    "institutions": ("hierarchy", "indicators"),
    "ratings": ("ratings", "averages"),
    "sentiment": ("train", "test", "summary"),
}
"""Kinds with a sheet in every year."""
NAMED = {
    "employee_id": ("name",),
    "material_code": ("material_name", "specification", "unit_name"),
    "project_id": ("project_name", "project"),
    "code": ("stock_name",),
    "ticker": ("market", "country", "currency"),
    "entity_id": ("entity_name", "subsidiary"),
    "movie_id": ("title", "type"),
    "user_id": ("handle",),
    "customer": ("customer_name",),
    "product": ("product_name",),
}
"""Columns of which a key has one value in all workbooks of a house."""
VARIETY = {  # a kind, the fewest sets of its columns, and numbers of workbooks of a year
    "financial": ("balance_sheet", 6, {1, 4, 5, 6}),
    "budget": ("annual", 4, {1, 2, 4, 7}),
    "sales": ("orders", 8, {1, 2, 5, 6}),
    "inventory": ("entry", 8, {2, 5, 14, 50}),
    "hr": ("roster", 8, {1, 6, 28}),
    "projects": ("registry", 8, {1, 4}),
    "stock": ("watch", 8, {1, 3, 6}),
    "indices": ("overview", 6, {2, 5, 8, 29, 33}),
    "institutions": ("indicators", 8, {1, 6, 7, 8, 9}),
    "ratings": ("movies", 8, {1, 3, 4}),
    "sentiment": ("train", 5, {2, 4}),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CATEGORIES)
def test_sheets_are_whole_and_take_only_from_what_is_there(name, seed):
    books = made(name, seed)

    check_sheets(books)
    across = check_references(books)
    assert across >= {"financial": 3, "budget": 3, "inventory": 1}.get(name, 0)
    for kind in YEARLY[name]:
        periods = [sheet.facts.period for _, sheet in sheets(books, kind)]
        assert {period.year for period in periods} == set(YEARS[name])
        assert len({period.family for period in periods}) == 1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CATEGORIES)
def test_a_key_is_known_to_its_owner_and_has_one_name(name, seed):
    owned, used, names = defaultdict(set), defaultdict(set), {}
    every = [(book.path, sheet) for book in made(name, seed) for sheet in book.sheets]
    for path, sheet in every:
        grid = calculated(name, seed)[path, sheet.name]
        for column in sheet.columns:
            if column.key:
                values = {value for value in grid[column.id] if value is not None}
                (owned if column.unique else used)[column.key] |= values
            for of in NAMED.get(column.id, ()):
                for row in records(grid) if of in grid else ():
                    known = names.setdefault((row[column.id], of), row[of])
                    assert known == row[of], (path, sheet.name)
    for key, values in used.items():
        assert values <= owned.get(key, values), key


@pytest.mark.parametrize("name", CATEGORIES)
def test_equal_seeds_give_equal_books_and_others_do_not(name):
    made.cache_clear()
    books = made(name, 3)
    made.cache_clear()

    assert made(name, 3) == books
    assert made(name, 4) != books


@pytest.mark.parametrize("name", CATEGORIES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nothing_is_taken_from_a_year_that_was_left_out(name, seed):
    books = made(name, seed, (2024, 2019, 2021, 2022))
    check_references(books)
    grids(books)  # calculates every cell


@pytest.mark.parametrize("name", CATEGORIES)
def test_houses_differ_in_columns_and_workbooks_and_use_every_declared_sheet(name):
    kind, fewest, numbers = VARIETY[name]
    every = [made(name, seed, (2022,)) for seed in range(20)]
    layouts = {
        tuple(column.id for column in sheet.columns)
        for books in every
        for _, sheet in sheets(books, kind)
    }
    filled = {
        (sheet.facts.schema.split("/")[1] if sheet.facts else "lists", column.id)
        for books in [*every, *(made(name, seed) for seed in SEEDS)]
        for book in books
        for sheet in book.sheets
        for column in sheet.columns
    }
    declared = {
        (head.split(":")[0], column.id)
        for head, form in forms(name).items()
        for column in form.columns
    }

    assert len(layouts) >= fewest
    assert numbers <= {len(books) for books in every}
    assert declared <= filled
    assert {kind for kind, _ in declared} == {kind for kind, _ in filled}


@pytest.mark.parametrize("name", ["budget", "hr"])
def test_choices_are_of_hidden_lists(name):
    found = 0
    for seed in SEEDS:
        for book in made(name, seed):
            for sheet in book.sheets:
                for choice in sheet.choices:
                    there = book.sheet(choice.at.sheet)
                    assert there.hidden and there.facts is None
                    allowed = set(there.column(choice.source).cells)
                    assert set(sheet.column(choice.column).cells) <= allowed
                    found += 1
    assert found >= 5


def test_free_text_says_which_placeholder_it_may_become():
    nouns = {
        column.id: column.placeholder
        for name in CATEGORIES
        for book in made(name, 0)
        for sheet in book.sheets
        for column in sheet.columns
        if column.placeholder
    }
    assert nouns == {
        "title": "Movie", "director": "Director", "actors": "Actor", "handle": "User",
        "note": "Note", "text": "Post", "author": "Author",
    }  # fmt: skip


KINDS = ("formula_reference", "aggregation", "summary_source", "sibling_period")
"""Joins are left out: values show many that no formula does."""
OTHERWISE = {ColumnType.TEXT: (ColumnType.INTEGER,), ColumnType.INTEGER: (ColumnType.EMPTY,)}


@pytest.mark.parametrize(
    ("name", "seed"),
    [(name, seed) for name in CATEGORIES for seed in {
        "financial": (1, 5, 13), "budget": (0, 4, 14), "sales": (1, 3)
    }.get(name, (2, 17))],
)  # fmt: skip
def test_an_index_of_the_files_has_the_records_and_links_that_were_meant(tmp_path, name, seed):
    books = made(name, seed, (2023,) if name in {"inventory", "indices"} else (2022, 2023))
    by_path = {book.path: book for book in books}
    values = Values(by_path.get)
    meant, links, facts = [], [], []
    for book in books:
        ready = compiled(book, by_path.get, values)
        write_xlsx(ready, tmp_path / "books" / book.path)
        own = true_records(ready)
        meant += own
        links += true_links(ready)
        told = [(s.facts, r) for s, r in zip(book.sheets, own, strict=True) if s.facts]
        facts += [replace(each, sheet_id=r.sheet_id, workbook=book.path) for each, r in told]
    with SheetIndex.create(tmp_path / "index.sat", HashedEncoder()) as index:
        assert index.sync(tmp_path / "books", workers=1).skipped == ()
        found = index.records([record.sheet_id for record in meant])
        every = list(index.all_links())
    silent = {record.sheet_id for record in meant} - {each.sheet_id for each in facts}
    for record in meant:
        # A list of choices is words without any number: nothing tells its header from them.
        if record.sheet_id not in silent or name == "budget":
            assert _seen(found[record.sheet_id], record) == _seen(record, record)
    wanted = {(link.source, link.target, str(link.type)) for link in links + true_siblings(facts)}
    read = {
        (link.source, link.target, str(link.type))
        for link in every
        if not (link.type == "sibling_period" and link.source in silent)
    }
    for kind in KINDS:
        assert {ends for ends in read if ends[2] == kind} == {
            ends for ends in wanted if ends[2] == kind
        }


def _seen(record, meant):
    """Names, place, headers, types and units.

    The number of data rows is left out: the reader takes the sums of a statement for totals, the
    truth for lines of it, and either may be said. A column that only such lines fill is then empty,
    and texts of whole numbers that recur are integers.
    """
    columns = [
        (column.name, own.type if column.type in OTHERWISE.get(own.type, ()) else column.type,
         column.unit)
        for column, own in zip(record.columns, meant.columns, strict=True)
    ]  # fmt: skip
    main = record.tables[0]
    table = (main.range, main.header_row, main.header_height, main.name)
    shape = (record.range, record.num_rows, record.num_cols, record.visibility, record.formulas)
    return record.sheet, record.path, columns, table, shape


ODD = {
    "companies": ['O\'Brien & Söhne / GmbH: "Ltd"?', "株式会社山田製作所", "A" * 180, "CON"],
    "markets": ["Börse 'Süd'"],
    "institutions": ["Банк/1"],
    "sources": ["源"],
    "materials": ["Wash*er~|x?|pcs", "ボルト|M8|pcs"],
    "regions": ["Nord/Ost", "O'Süd", "北", "R1C1", "true", "A1"],
    "warehouses": ["[Lager]", "*"],
    "departments": ["F&E", "007", "1e3"],
    "sentiments": ["very good", "very bad"],
    "given_names": ["Zoë"],
    "family_names": ["D'Arc"],
    "indices": ["TSX/60", "日経"],
    "projects": ["P?1", "P*2"],
}


@pytest.fixture(scope="module")
def odd_words(tmp_path_factory):
    """Odd lists, all others of one entry; one variant of every category."""
    folder = tmp_path_factory.mktemp("words")
    for path in PACKAGED.glob("category_*.json"):
        content = json.loads(path.read_text("utf-8"))
        for words in (content, *content["kinds"].values()):
            words["names"], words["asked"] = words["names"][:1], words["asked"][:1]
        for kind in content["kinds"].values():
            kind["columns"] = {column: headers[:1] for column, headers in kind["columns"].items()}
        (folder / path.name).write_text(json.dumps(content), encoding="utf-8")
    packaged = json.loads((PACKAGED / "lists.json").read_text("utf-8"))
    lists = {name: entries[:1] for name, entries in packaged.items()} | ODD
    (folder / "lists.json").write_text(json.dumps(lists), encoding="utf-8")
    return Vocabulary.load(folder)


@pytest.mark.parametrize("name", CATEGORIES)
@pytest.mark.parametrize("seed", range(4))
def test_a_users_few_odd_words_are_enough(name, seed, odd_words):
    owner = category(name).owner
    house = House([*islice(house_names(owner, odd_words), 4)][seed], seed, odd_words)
    books = list(category(name).books(house, (2023, 2024)))
    assert len({book.path.casefold() for book in books}) == len(books)
    check_references(books)
    cells = grids(books)
    for book in books:
        for sheet in book.sheets:
            assert 0 < len(sheet.name) <= 31
            for column in (column for column in sheet.columns if column.unique):
                values = [v for v in cells[book.path, sheet.name][column.id] if v is not None]
                assert len(values) == len(set(values)), (book.path, sheet.name, column.id)
