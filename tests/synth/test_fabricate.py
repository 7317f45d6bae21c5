"""Pairs of workbooks: what both halves keep, what is noisy, and the numbers of the release."""

import json
import math
import random
import re
from dataclasses import replace
from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.synth import fabricate as module
from sat_retriever.synth.book.model import Book, Column, Lookup, Sheet, Through, Total, TotalWhere
from sat_retriever.synth.book.restrict import Keep, restricted
from sat_retriever.synth.book.rewrite import leaves
from sat_retriever.synth.calculate.compile import compiled
from sat_retriever.synth.calculate.evaluate import RECIPES, Values
from sat_retriever.synth.categories import CATEGORIES
from sat_retriever.synth.fabricate import (
    NEIGHBOURS,
    cut_columns,
    cut_rows,
    fabricate,
    noised_column,
    noised_numbers,
    noised_text,
    side_path,
    with_placeholders,
)
from sat_retriever.synth.house.house import House
from sat_retriever.synth.words.vocabulary import Vocabulary
from tests.places import needs
from tests.synth.small_books import chance, sales, staff, unit

SPREAD = (0.1, 0.5)


def known(books):
    """Calculated cells by path, tab and column id."""
    values = Values({book.path: book for book in books}.get)
    return {
        (book.path, at.sheet.name, column.id): values.values(at, column.id)
        for book in books
        for at in values.add(book)
        for column in at.sheet.columns
    }


def recipes(book):
    cells = (cell for sheet in book.sheets for column in sheet.columns for cell in column.cells)
    return [leaf for cell in cells if isinstance(cell, RECIPES) for leaf in leaves(cell)]


def seeded(seed):
    return lambda *purpose: chance(seed, *purpose)


def compile_all(books):
    """Compile the books; the columns in which a lookup finds nothing."""
    by_path = {book.path: book for book in books}
    assert len(by_path) == len(books)
    values = Values(by_path.get)
    for book in books:
        compiled(book, by_path.get, values)
    return values.missed


@pytest.fixture(scope="module", params=CATEGORIES)
def category_unit(request):
    house = House("Apex Technologies", 3, Vocabulary.load())
    return tuple(CATEGORIES[request.param].books(house, (2023, 2024))), house


def test_sources_and_targets_of_every_category_can_be_written(category_unit):
    books, house = category_unit
    pairs = fabricate(books, house.chance)
    assert [pair.stem for pair in pairs] == [book.path for book in books]
    assert compile_all([pair.source for pair in pairs]) == set()
    assert compile_all([pair.target for pair in pairs]) == set()
    for pair in pairs:
        for one, other in zip(pair.source.sheets, pair.target.sheets, strict=True):
            shared = {c.id for c in one.columns} & {c.id for c in other.columns}
            assert one.name == other.name
            assert len(shared) >= min(2, len(one.columns))


def test_what_is_left_of_a_cut_can_be_written_with_the_values_it_had(category_unit):
    """Rows stay, so that no total changes."""
    books, _ = category_unit
    draw = random.Random(1)
    keep = {
        (book.path, sheet.name): Keep(
            frozenset(column.id for column in sheet.columns if draw.random() < 0.7)
        )
        for book in books
        for sheet in book.sheets
        if draw.random() < 0.7
    }
    left = restricted(books, {tab: kept for tab, kept in keep.items() if kept.columns})
    compile_all(left)
    before = known(books)
    for key, values in known(left).items():
        assert list(values) == list(before[key])


def test_each_side_takes_from_its_own_side():
    for side in ("source", "target"):
        taken = set()
        for seed in range(40):
            [_, pair] = fabricate(unit(9), seeded(seed))
            book = getattr(pair, side)
            assert book.path == f"sales/Acme_Sales_2024_{side}.xlsx"
            taken |= {leaf.at.book for leaf in recipes(book) if hasattr(leaf, "at")}
        assert taken == {"", f"hr/Acme_Staff_{side}.xlsx"}


def test_a_seed_gives_the_same_pairs_and_other_books_do_not_matter():
    both = fabricate(unit(), chance)
    assert fabricate(unit(), chance) == both
    assert fabricate([staff()], chance) == both[:1]
    assert fabricate(unit(), seeded(1)) != both
    with pytest.raises(ValueError, match="which does not exist"):
        fabricate([unit()[1]], chance)


def test_targets_have_the_values_and_keys_of_the_original_and_sources_neither():
    before = known(unit(9))
    for pair in fabricate(unit(9), chance):
        for sheet in pair.target.sheets:
            if key := sheet.column("id"):
                assert key.key == "Acme/employee"
                assert sheet.facts.keys == ("Employee ID",)
                owned = before[pair.stem, sheet.name, "id"]
                places = [owned.index(cell) for cell in key.cells]
                for column in sheet.columns:
                    if column.id in ("region", "day", "hours", "name"):
                        whole = before[pair.stem, sheet.name, column.id]
                        assert column.cells == tuple(whole[place] for place in places)
        assert {c.key for sheet in pair.source.sheets for c in sheet.columns} == {""}
        assert not any(sheet.choices for sheet in pair.source.sheets)
        assert not any(isinstance(leaf, Lookup | TotalWhere) for leaf in recipes(pair.source))


def test_formulas_of_a_source_are_calculated_from_noisy_cells():
    kinds = set()
    for seed in range(9):
        pairs = fabricate(unit(9), seeded(seed))
        found = known([pair.source for pair in pairs])
        source = pairs[1].source
        kinds |= {type(leaf) for leaf in recipes(source)}
        for month in ("Jan", "Feb", "Mar"):
            cells = {c.id: found[source.path, month, c.id] for c in source.sheet(month).columns}
            if {"hours", "rate", "pay"} <= cells.keys():
                pay = [h * r for h, r in zip(cells["hours"], cells["rate"], strict=True)]
                assert list(cells["pay"]) == pay
    assert Total in kinds


def test_sheets_of_equal_columns_are_cut_alike_and_sums_through_them_last():
    lasting = 0
    for seed in range(40):
        pair = fabricate(unit(), seeded(seed))[1]
        for book in (pair.source, pair.target):
            assert len({tuple(c.id for c in book.sheet(m).columns) for m in ("Jan", "Mar")}) == 1
            lasting += any(isinstance(leaf, Through) for leaf in recipes(book))
    assert lasting > 3


def test_facts_are_those_of_the_stem_but_for_schema_and_family(monkeypatch):
    monkeypatch.setattr(module, "_RENAMED", 1)
    _, pair = fabricate(unit(), chance)
    stem = unit()[1].sheet("Jan").facts
    for side, sheet in (("source", pair.source.sheet("Jan")), ("target", pair.target.sheet("Jan"))):
        assert sheet.facts.period.family == f"Acme/sales/month/{side}"
        assert sheet.facts.schema != stem.schema
        assert replace(sheet.facts, schema=stem.schema, period=stem.period) == stem
        assert sheet.column("id").header == f"{'Sales_' * (side == 'target')}Employee ID"
    taken = Column("a", "Amount", (1,)), Column("b", "Sales_Amount", (1,))
    book = Book("x.xlsx", "Sales", (Sheet("S", taken),))
    assert [c.header for c in fabricate([book], chance)[0].target.sheets[0].columns] == [
        "Amount",
        "Sales_Sales_Amount",
    ]


def test_about_as_many_targets_as_in_the_release_have_other_headers():
    found = [fabricate([staff()], seeded(seed))[0].target.sheets[0] for seed in range(300)]
    noised = sum(sheet.columns[0].header == "HR_Employee ID" for sheet in found)
    assert noised / 300 == pytest.approx(0.36, abs=0.08)


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("x/HR_ROSTER_2024.xlsx", "x/HR_ROSTER_2024_TARGET.xlsx"),
        ("2024/roster 2024.xlsx", "2024/roster 2024 target.xlsx"),
        ("Roster-2024.xlsx", "Roster-2024-Target.xlsx"),
        ("roster.xlsx", "roster_target.xlsx"),
    ],
)
def test_endings_follow_the_way_a_file_is_named(path, written):
    assert side_path(path, "target") == written


@given(st.integers(0, 40), st.sets(st.integers(0, 39)), st.floats(0, 1), st.integers(0, 2**32))
def test_columns_in_both_halves_are_the_share_asked_for(count, keys, overlap, seed):
    columns = [f"c{number}" for number in range(count)]
    keys = {f"c{number}" for number in keys if number < count}
    halves = cut_columns(columns, keys, overlap, random.Random(seed))
    source, target = map(set, halves)
    asked = max(math.floor(overlap * count + 1e-9), min(2, max(1, count - 1)), len(keys))
    assert len(source & target) == min(asked, count)
    assert source | target == {*columns}
    assert keys <= source & target
    assert 0 <= len(target) - len(source) <= 1
    for half in halves:
        assert [*half] == [column for column in columns if column in half]


@given(st.integers(1, 200), st.floats(0, 1), st.integers(0, 2**32))
def test_rows_in_both_halves_are_the_share_asked_for_of_the_source(count, overlap, seed):
    source, target = cut_rows(count, overlap, random.Random(seed))
    assert {*source, *target} == {*range(count)}
    assert len(source) == max(1, count // 2) and target
    if count > 1:
        assert len({*source} & {*target}) == math.floor(overlap * len(source) + 1e-9)
    assert [*source] == sorted(source) and [*target] == sorted(target)


def test_every_row_and_column_can_go_to_either_half():
    columns = [cut_columns("abcdef", {"a"}, 0.5, random.Random(seed)) for seed in range(60)]
    for half in (0, 1):
        assert {c for cut in columns for c in {*"abcdef"} - {*cut[half]}} == {*"bcdef"}
    rows = [cut_rows(6, 0.5, random.Random(seed))[0] for seed in range(60)]
    assert {row for source in rows for row in source} == {*range(6)}


def test_numbers_of_rows_and_columns_of_all_released_pairs_follow_the_rules():
    release = needs("data/industrytab_1k")
    sheets = json.loads((release / "sheets.json").read_text())
    pairs = [row for row in json.loads((release / "train.json").read_text()) if row["label"]]
    assert len(pairs) == 501
    for pair in pairs:
        source, target = (sheets[str(pair[f"sheet_id_{end}"])] for end in (1, 2))
        rows = source["num_rows"]
        cuts = [cut_rows(n, 0.5, random.Random(0)) for n in (2 * rows, 2 * rows + 1)]
        assert (rows, target["num_rows"]) in [tuple(map(len, cut)) for cut in cuts]
        counts = (source["num_cols"], target["num_cols"])
        whole = sum(counts) - len(pair["matched_columns"])
        columns = tuple(Column(str(n), str(n), ()) for n in range(whole))
        [made] = fabricate([Book("x.xlsx", "c", (Sheet("s", columns),))], chance)
        assert tuple(len(b.sheets[0].columns) for b in (made.source, made.target)) == counts


def test_neighbours_are_those_of_the_keyboard_and_mutual():
    assert len(NEIGHBOURS) == 36
    assert [set(NEIGHBOURS[key]) for key in "g5p"] == [{*"tyfhvb"}, {*"46"}, {*"ol"}]
    for key, near in NEIGHBOURS.items():
        assert near and key not in near
        assert all(key in NEIGHBOURS[other] for other in near)
        assert all(key.isdigit() == other.isdigit() for other in near)


@given(st.text(st.characters(max_codepoint=127)), st.floats(0, 1), st.integers(0, 2**32))
def test_slips_keep_length_case_and_marks(text, probability, seed):
    slipped = noised_text(text, probability, random.Random(seed))
    assert len(slipped) == len(text)
    for before, after in zip(text, slipped, strict=True):
        assert after == before or after.lower() in NEIGHBOURS[before.lower()]
        assert after.isupper() == before.isupper()


def test_one_letter_in_five_is_replaced_and_other_scripts_become_ascii():
    text = "Quarterly Revenue 2024 " * 2000
    slipped = noised_text(text, 0.2, random.Random(3))
    changed = sum(a != b for a, b in zip(text, slipped, strict=True))
    assert changed / sum(map(str.isalnum, text)) == pytest.approx(0.2, abs=0.01)
    assert noised_text("Łódź – 北京", 0, random.Random(1)).isascii()
    assert noised_text("Łódź", 0, random.Random(1)) == "Lodz"


@given(
    st.lists(st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6), max_size=40), st.integers(0, 99)
)
def test_noised_numbers_are_as_many_of_the_same_type_and_none_is_negative(values, seed):
    noised = noised_numbers(values, SPREAD, random.Random(seed))
    assert [type(number) for number in noised] == [type(number) for number in values]
    assert all(number >= 0 for number in noised)


def test_mean_and_deviation_are_off_by_a_tenth_to_a_half():
    draw = random.Random(5)
    values = [round(draw.gauss(1000, 50), 2) for _ in range(2000)]
    offs = []
    for seed in range(30):
        noised = noised_numbers(values, SPREAD, random.Random(seed))
        assert all(round(number, 2) == number for number in noised)
        offs.append((fmean(noised) / fmean(values) - 1, pstdev(noised) / pstdev(values) - 1))
        assert all(0.08 < abs(off) < 0.56 for off in offs[-1])
    assert len({(mean > 0, deviation > 0) for mean, deviation in offs}) == 4  # drawn apart
    assert len(set(noised_numbers([7.5] * 9, SPREAD, random.Random(1)))) == 1


def test_recipes_dates_and_truths_stay_and_texts_and_numbers_do_not():
    for column in (*sales().sheet("Jan").columns, Column("ok", "Ok", (True,) * 4)):
        noised = noised_column(column, random.Random(2))
        assert (noised == column) == (column.id in ("day", "rate", "pay", "ok"))


def film_book(cells, header="Film"):
    column = Column("film", header, cells, placeholder="Movie")
    return Book("a.xlsx", "Movie Ratings", (Sheet("Films", (column,)),))


def test_columns_with_a_noun_and_long_texts_hold_placeholders_equal_for_equal_texts():
    long = Book("b.xlsx", "x", (Sheet("s", (Column("c", "City", ("x" * 121, "y" * 120)),)),))
    books = [film_book(("Long Road", "Alien", "Long Road", None, 7)), film_book(("Alien",), "T")]
    one, other, notes = (
        book.sheets[0].columns[0].cells for book in with_placeholders([*books, long])
    )
    first, second, again, *rest = one
    assert re.fullmatch(r"Movie_\d{12}", first)
    assert first == again != second
    assert other == (second,)
    assert rest == [None, 7]
    assert re.fullmatch(r"Note_\d{12}", notes[0]) and notes[1] == "y" * 120
    assert with_placeholders([staff(12)]) == (staff(12),)
