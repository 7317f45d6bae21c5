"""Plans: exact numbers for every scale, every category, and houses as many as it takes."""

from collections import Counter
from dataclasses import replace
from itertools import islice, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever.errors import InputError
from sat_retriever.questions.facts import SheetFacts
from sat_retriever.synth.book.model import Book, Column, Sheet, SheetAt, Take
from sat_retriever.synth.categories import CATEGORIES
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When
from sat_retriever.synth.plan import scales
from sat_retriever.synth.plan.plan import (
    OWNER_WORDS,
    Plan,
    Unit,
    house_names,
    kept,
)
from sat_retriever.synth.plan.scales import FEWEST_SHEETS_A_YEAR, Quota
from sat_retriever.synth.words.vocabulary import Vocabulary

WORDS = Vocabulary.load()
YEARS = tuple(range(2019, 2027))


def plan(scale, years=YEARS, companies=18):
    return Plan(scales.scale(scale), years, companies, 0, WORDS)


def made(unit):
    return list(CATEGORIES[unit.category].books(unit.house, unit.years))


# Sheets a category as the paper's tables have them; those of Synthetic Data as IndustryTab-1K's
# table counts them, which the smaller corpus has under its six enterprise categories.
PAPER_1K = {
    "financial": 284,
    "budget": 172,
    "Synthetic Data": 140,
    "inventory": 120,
    "hr": 64,
    "sales": 64,
    "stock": 56,
    "projects": 48,
    "institutions": 36,
    "indices": 12,
    "ratings": 4,
    "sentiment": 2,
}
PAPER_614_PAIRS = {
    "financial": 126,
    "sales": 28,
    "inventory": 60,
    "hr": 24,
    "projects": 18,
    "stock": 24,
    "institutions": 18,
    "indices": 6,
    "ratings": 2,
    "sentiment": 1,
}


def test_paper_1k_has_the_papers_sheets_in_every_category():
    counts = Counter()
    for unit in plan("paper-1k").units():
        counts[unit.quota.label or unit.category] += 2 * unit.sheets
    assert counts == PAPER_1K
    assert scales.scale("paper-1k").sheets == 1002
    assert scales.scale("paper-1k").fabricated


def test_paper_614_has_the_papers_pairs_in_every_category():
    counts = Counter()
    for unit in plan("paper-614").units():
        counts[unit.category] += unit.sheets
    assert counts == PAPER_614_PAIRS
    assert scales.scale("paper-614").sheets == 614


def test_synthetic_data_are_the_enterprise_templates_under_another_prefix():
    units = [unit for unit in plan("paper-1k").units() if unit.quota.label]
    assert sum(unit.sheets for unit in units) == 70
    for unit in units:
        path = unit.house.path(unit.category, "", When(2024))
        assert path.startswith("Synthetic_Data__")
        assert unit.house.name in WORDS.lists[CATEGORIES[unit.category].owner]


@given(st.integers(1, 3000), st.integers(1, 40), st.integers(1, 8))
@settings(max_examples=40)
def test_any_number_of_sheets_is_planned_exactly(sheets, companies, years):
    found = plan(str(sheets), YEARS[:years], companies)
    units = list(found.units())
    assert found.scale.sheets == sheets
    assert sum(unit.sheets for unit in units) == sheets
    assert all(unit.sheets > 0 for unit in units)
    if sheets >= len(CATEGORIES):
        assert {unit.category for unit in units} == set(CATEGORIES)
    for unit in units:
        assert unit.sheets <= FEWEST_SHEETS_A_YEAR[unit.category] * len(unit.years)
        assert set(unit.years) <= set(YEARS[:years])
    assert len({(unit.category, unit.house.name) for unit in units}) == len(units)


def test_a_hundred_thousand_sheets_are_planned_at_once_and_lazily():
    units = plan("100000").units()
    first = list(islice(units, len(CATEGORIES)))
    assert {unit.category for unit in first} == set(CATEGORIES)
    rest = list(units)
    assert sum(unit.sheets for unit in first + rest) == 100_000


def test_companies_are_as_many_as_asked_and_more_where_sheets_need_them():
    def companies(scale, asked):
        units = plan(scale, companies=asked).units()
        return len({u.house.name for u in units if CATEGORIES[u.category].owner == "companies"})

    assert companies("1000", 18) == 18
    assert companies("1000", 10) == 10
    assert companies("20000", 18) > 100
    assert companies("paper-1k", 18) == 18


def test_every_house_has_at_least_the_sheets_that_plans_count_on():
    for category, fewest in FEWEST_SHEETS_A_YEAR.items():
        for name in islice(house_names(CATEGORIES[category].owner, WORDS), 3):
            for years in ((2024,), (2023, 2024)):
                books = CATEGORIES[category].books(House(name, 3, WORDS), years)
                seen = sum(not sheet.hidden for book in books for sheet in book.sheets)
                assert seen >= fewest * len(years), (category, name)


def test_units_give_what_was_planned_and_no_path_twice():
    for scale in ("small", "60"):
        paths = []
        for unit in plan(scale).units():
            books = made(unit)
            found = kept(unit, books)
            tabs = {book.path: {s.name for s in book.sheets if not s.hidden} for book in books}
            visible = sum(len(tabs[path] & set(names)) for path, names in found.items())
            assert (visible if unit.sheets else len(found)) == (unit.sheets or unit.books)
            paths += [path.casefold() for path in found]
        assert len(set(paths)) == len(paths)


def test_small_has_twenty_to_forty_workbooks_of_all_categories_and_the_last_years():
    for companies in (1, 2, 18):
        units = list(plan("small", companies=companies).units())
        assert 20 <= sum(unit.books for unit in units) <= 40
        assert {unit.category for unit in units} == set(CATEGORIES)
        assert {unit.years for unit in units} == {(2025, 2026)}
    assert scales.scale("small").sheets is None


def small_features():
    for unit in plan("small").units():
        books = made(unit)
        found = kept(unit, books)
        for book in books:
            for name in found.get(book.path, ()):
                sheet = book.sheet(name)
                yield from ["hidden"] * sheet.hidden + ["chart"] * bool(sheet.charts)
                yield from ["choices"] * bool(sheet.choices) + ["pivot"] * bool(sheet.pivots)
                for column in sheet.columns:
                    yield from ["group"] * bool(column.group) + ["unit"] * bool(column.unit)
                    for cell in column.cells:
                        yield type(cell).__name__
                        if isinstance(at := getattr(cell, "at", None), SheetAt) and at.book:
                            yield "other workbook" if at.book in found else "dropped workbook"


def test_small_shows_every_feature():
    features = Counter(small_features())
    for feature in (
        "hidden chart choices pivot group unit Combine Own Take Total TotalWhere Lookup Through"
    ).split():
        assert features[feature], feature
    assert features["other workbook"]


def test_houses_have_endless_names_that_differ_by_more_than_case_and_signs():
    for owner in OWNER_WORDS:
        names = list(islice(house_names(owner, WORDS), 4000))
        signs = {"".join(filter(str.isalnum, name.casefold())) for name in names}
        assert len(signs) == len(names)
        assert tuple(names[: len(WORDS.lists[owner])]) == WORDS.lists[owner]


def test_made_up_names_are_none_of_the_listed_ones():
    first, second = (WORDS.lists[name][:2] for name in OWNER_WORDS["companies"])
    lists = dict(WORDS.lists) | {
        "companies": (f"{first[0]} {second[0]}", f"{first[1].upper()}-{second[1]}"),
        "company_first_words": first,
        "company_business_words": second,
    }
    names = list(islice(house_names("companies", replace(WORDS, lists=lists)), 4))
    assert sorted(names[2:]) == [f"{first[0]} {second[1]}", f"{first[1]} {second[0]}"]


def sheet(name, year=0, cells=(1,), *, hidden=False, facts=True):
    period = When(year).period("x") if year else None
    known = SheetFacts("", "c", "k", period=period) if facts else None
    return Sheet(name, (Column("a", "A", tuple(cells)),), known, hidden=hidden)


def unit_of(quota, sheets=0, books=0):
    return Unit("hr", House("Apex", 0, WORDS), (2023, 2024), quota, sheets, books)


def test_later_years_are_kept_first_and_what_they_refer_to_with_them():
    books = [
        Book("roster.xlsx", "c", (sheet("roster"),)),
        Book("2023.xlsx", "c", (sheet("a", 2023),)),
        Book("codes.xlsx", "c", (sheet("codes"),)),
        Book(
            "2024.xlsx", "c", (sheet("a", 2024, [Take(SheetAt("roster", "roster.xlsx"), "a", 0)]),)
        ),
    ]
    for count, paths in ((1, {"2024.xlsx"}), (2, {"2024.xlsx", "roster.xlsx"})):
        assert set(kept(unit_of(Quota("hr"), books=count), books)) == paths
        assert set(kept(unit_of(Quota("hr"), sheets=count), books)) == paths
    assert list(kept(unit_of(Quota("hr"), books=9), books)) == [book.path for book in books]


def test_hidden_sheets_stay_with_their_workbook_and_do_not_count():
    book = Book("a.xlsx", "c", (sheet("x"), sheet("lists", hidden=True, facts=False), sheet("y")))
    assert kept(unit_of(Quota("hr"), sheets=1), [book]) == {"a.xlsx": ("x", "lists")}
    assert kept(unit_of(Quota("hr", stems=True), sheets=1), [book]) == {"a.xlsx": ("x",)}


def test_quotas_by_year_take_one_sheet_of_every_year_before_a_second_one():
    books = [
        Book(f"{year}.xlsx", "c", (sheet("a", year), sheet("b", year)))
        for year in (2022, 2023, 2024)
    ]
    found = kept(unit_of(Quota("hr", by_year=True), sheets=4), books)
    assert found == {"2022.xlsx": ("a",), "2023.xlsx": ("a",), "2024.xlsx": ("a", "b")}


@pytest.mark.parametrize("text", ["", "medium", "0", "-5", "1.5", "10000001", "9" * 400, "paper"])
def test_a_scale_that_is_none_is_refused_and_the_known_ones_are_named(text):
    with pytest.raises(InputError, match="must be small, paper-614, paper-1k, or a number"):
        scales.scale(text)


@pytest.mark.parametrize(("text", "sheets"), [("1", 1), (" 10,000 ", 10_000), ("10000000", 10**7)])
def test_a_number_is_a_scale(text, sheets):
    assert scales.scale(text).sheets == sheets


@given(st.lists(st.integers(1980, 2039), min_size=1, max_size=6))
def test_years_are_read_as_lists_and_spans(found):
    wanted = tuple(sorted(set(found)))
    assert scales.years(",".join(map(str, found))) == wanted
    assert scales.years(f"{min(found)}-{max(found)}") == tuple(range(min(found), max(found) + 1))
    assert all(early < late for early, late in pairwise(scales.years(" , ".join(map(str, found)))))


@pytest.mark.parametrize(
    "text",
    ["", "soon", "2026-2019", "2019-", "-2019", "19-26", "1979", "2019;2020", "2019,", "²019"],
)
def test_years_that_are_none_are_refused(text):
    with pytest.raises(InputError, match="are not of the form 2019-2026, 2024 or 2019,2021"):
        scales.years(text)


def test_a_plan_without_companies_or_years_is_refused():
    with pytest.raises(InputError, match="at least one company and one year, not 0 and 8"):
        list(plan("small", companies=0).units())
    with pytest.raises(InputError, match="not 18 and 0"):
        list(plan("small", years=()).units())
