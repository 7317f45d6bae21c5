from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever.synth.book.model import Lookup, Through, Total, TotalWhere
from sat_retriever.synth.book.rewrite import leaves
from sat_retriever.synth.calculate.evaluate import RECIPES, Values
from sat_retriever.synth.fabricate.pair import fabricated, fabricated_unit, side_path
from sat_retriever.synth.fabricate.split import PAPER, FabricateOptions
from tests.synth.fabricate.books import chance, staff, unit

CLEAN = FabricateOptions(schema_noise=(), string_noise=0, numeric_noise=None)
WHOLE = replace(CLEAN, columns=None, rows=None)


def known(pairs, side):
    books = {getattr(pair, side).path: getattr(pair, side) for pair in pairs}
    values = Values(books.get)
    return {
        (pair.stem, at.sheet.name, column.id): values.values(at, column.id)
        for pair in pairs
        for at in values.add(getattr(pair, side))
        for column in at.sheet.columns
    }


def recipes(book):
    return [
        leaf
        for sheet in book.sheets
        for column in sheet.columns
        for cell in column.cells
        if isinstance(cell, RECIPES)
        for leaf in leaves(cell)
    ]


def seeded(seed):
    return lambda *purpose: chance(seed, *purpose)


def test_source_and_target_of_nothing_cut_are_the_stem_at_other_paths():
    pairs = fabricated_unit(unit(), WHOLE, chance)
    for pair, book in zip(pairs, unit(), strict=True):
        assert pair.stem == book.path
        assert [sheet.name for sheet in pair.source.sheets] == [s.name for s in book.sheets]
        assert pair.source.path == book.path.replace(".xlsx", "_source.xlsx")
        assert pair.target.path == book.path.replace(".xlsx", "_target.xlsx")
    stems = {(b.path, s.name, c.id): c for b in unit() for s in b.sheets for c in s.columns}
    for side in ("source", "target"):
        cells = known(pairs, side)
        assert cells.keys() == stems.keys()
    assert known(pairs, "source") == known(pairs, "target")


def test_each_side_takes_from_its_own_side():
    _, pair = fabricated_unit(unit(), WHOLE, chance)
    for side in ("source", "target"):
        books = {leaf.at.book for leaf in recipes(getattr(pair, side)) if hasattr(leaf, "at")}
        assert books == {"", f"hr/Acme_Staff_{side}.xlsx"}


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(4, 9))
def test_aligned_columns_have_equal_values_in_the_rows_both_have(seed, rows):
    """Without noise; rows are told apart by their keys."""
    pairs = fabricated_unit(unit(rows), CLEAN, seeded(seed))
    source, target = known(pairs, "source"), known(pairs, "target")
    for pair in pairs:
        for sheet in pair.alignments:
            if sheet.sheet in ("Summary", "Lists"):
                continue
            left, right = (
                {key: row for row, key in enumerate(side[pair.stem, sheet.sheet, "id"])}
                for side in (source, target)
            )
            both = left.keys() & right.keys()
            assert len(both) == (rows // 2) // 2
            for column in sheet.columns:
                a = source[pair.stem, sheet.sheet, column.id]
                b = target[pair.stem, sheet.sheet, column.id]
                assert [a[left[key]] for key in both] == [b[right[key]] for key in both]


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([FabricateOptions(), PAPER, CLEAN]))
def test_an_alignment_is_the_columns_that_both_have(seed, options):
    for pair in fabricated_unit(unit(), options, seeded(seed)):
        for found in pair.alignments:
            source, target = (
                {c.id: c.header for c in book.sheet(found.sheet).columns}
                for book in (pair.source, pair.target)
            )
            aligned = {(c.id, c.source, c.target) for c in found.columns}
            assert aligned == {(c, source[c], target[c]) for c in source.keys() & target.keys()}


def test_a_seed_gives_the_same_pairs_and_other_books_do_not_matter():
    both = fabricated_unit(unit(), FabricateOptions(), chance)
    assert fabricated_unit(unit(), FabricateOptions(), chance) == both
    assert fabricated(staff(), FabricateOptions(), chance) == both[0]
    assert fabricated_unit(unit(), FabricateOptions(), seeded(1)) != both


def test_keys_survive_in_both_and_join_as_before():
    for pair in fabricated_unit(unit(9), FabricateOptions(), chance):
        for book in (pair.source, pair.target):
            for sheet in book.sheets:
                if sheet.column("id"):
                    assert sheet.column("id").key == "Acme/employee"
                    assert all(cell.startswith("E0") for cell in sheet.column("id").cells)
                    assert sheet.facts.keys == ("Employee ID",)


def test_what_matches_is_spared_so_that_sums_still_find_it():
    options = FabricateOptions(columns=None, rows=None, string_noise=1)
    pair = fabricated_unit(unit(), options, chance)[1]
    assert any(isinstance(leaf, TotalWhere) for leaf in recipes(pair.source))
    found = known(fabricated_unit(unit(), options, chance), "source")
    stem = pair.stem
    assert all(total > 0 for total in found[stem, "Summary", "of"])
    assert sum(found[stem, "Summary", "of"]) == sum(found[stem, "Mar", "hours"])
    assert 0 not in found[stem, "Jan", "rate"]


def test_what_others_match_by_is_spared_even_if_nothing_else_says_so():
    first, second = unit()
    months = (replace(sheet, choices=()) for sheet in second.sheets)
    books = (first, replace(second, sheets=tuple(months)))
    pair = fabricated_unit(books, FabricateOptions(columns=None, string_noise=1), chance)[1]
    assert set(pair.source.sheet("Mar").column("region").cells) <= {"North", "South"}
    assert set(pair.source.sheet("Jan").column("region").cells).isdisjoint({"North", "South"})


def test_the_papers_options_noise_keys_and_leave_no_lookup():
    first, pair = fabricated_unit(
        unit(), replace(PAPER, string_noise=1, rows=None, columns=None), chance
    )
    assert not any(isinstance(leaf, Lookup | TotalWhere) for leaf in recipes(pair.source))
    assert any(isinstance(leaf, Total) for leaf in recipes(pair.source))
    assert {c.key for s in first.source.sheets for c in s.columns} == {""}
    assert set(first.source.sheet("Staff").column("id").cells).isdisjoint(
        staff().sheet("Staff").column("id").cells
    )
    assert any(isinstance(leaf, Lookup) for leaf in recipes(pair.target))
    assert {c.key for s in first.target.sheets for c in s.columns} == {"", "Acme/employee"}


def test_computed_cells_are_computed_from_noised_ones():
    options = FabricateOptions(columns=None, rows=None)
    pairs = fabricated_unit(unit(), options, chance)
    found, before = known(pairs, "source"), known(fabricated_unit(unit(), WHOLE, chance), "source")
    stem = pairs[1].stem
    pay = [
        h * r for h, r in zip(found[stem, "Jan", "hours"], found[stem, "Jan", "rate"], strict=True)
    ]
    assert found[stem, "Jan", "pay"] == pay
    assert found[stem, "Jan", "pay"] != before[stem, "Jan", "pay"]
    assert all(isinstance(hours, int) for hours in found[stem, "Jan", "hours"])


def test_sheets_of_equal_columns_are_cut_alike_and_sums_through_them_last():
    lasting = 0
    for seed in range(40):
        pair = fabricated_unit(unit(), FabricateOptions(), seeded(seed))[1]
        for book in (pair.source, pair.target):
            assert len({tuple(c.id for c in book.sheet(m).columns) for m in ("Jan", "Mar")}) == 1
            lasting += any(isinstance(leaf, Through) for leaf in recipes(book))
    assert lasting > 8


def test_facts_are_those_of_the_stem_but_for_schema_and_family():
    _, pair = fabricated_unit(unit(), FabricateOptions(schema_share=1), chance)
    stem = unit()[1].sheet("Jan").facts
    source, target = (book.sheet("Jan").facts for book in (pair.source, pair.target))
    assert (source.period.family, target.period.family) == (
        "Acme/sales/month/source",
        "Acme/sales/month/target",
    )
    assert len({stem.schema, source.schema, target.schema}) == 3
    for facts in (source, target):
        assert replace(facts, schema=stem.schema, period=stem.period) == stem
    assert pair.target.sheet("Jan").column("id").header == "Sales_Employee ID"
    assert pair.source.sheet("Jan").column("id").header == "Employee ID"


def test_about_as_many_targets_as_in_the_release_have_other_headers():
    noised = sum(
        column.source != column.target
        for seed in range(300)
        for column in fabricated(staff(), FabricateOptions(), seeded(seed))
        .alignments[0]
        .columns[:1]
    )
    assert noised / 300 == pytest.approx(0.36, abs=0.08)


def test_endings_follow_the_way_a_file_is_named():
    assert side_path("x/HR_ROSTER_2024.xlsx", "target") == "x/HR_ROSTER_2024_TARGET.xlsx"
    assert side_path("2024/roster 2024.xlsx", "source") == "2024/roster 2024 source.xlsx"
    assert side_path("Roster-2024.xlsx", "source") == "Roster-2024-Source.xlsx"
    assert side_path("roster.xlsx", "source") == "roster_source.xlsx"


def test_a_workbook_that_takes_from_another_is_not_fabricated_alone():
    with pytest.raises(ValueError, match="which does not exist"):
        fabricated(unit()[1], FabricateOptions(), chance)
