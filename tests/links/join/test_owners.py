"""Which of the sheets that have a column's values it refers to."""

import pytest

from sat_retriever import Column, SheetRecord
from sat_retriever.links.join.joins import joins_between, workbook_joins
from sat_retriever.links.join.keys import workbook_keys
from sat_retriever.links.join.pairs import Formulas
from sat_retriever.links.join.sketches import value_hash
from sat_retriever.records.sheets import ColumnType
from sat_retriever.records.structure import SKETCH_SIZE, ColumnProfile

TYPES = {int: ColumnType.INTEGER, str: ColumnType.TEXT, float: ColumnType.NUMBER}
CODES = [f"C-{n * 7919 % 99991:05d}" for n in range(400)]


def sheet(name, columns, *, workbook="hr.xlsx"):
    """A record and the profiles of its columns; a number of columns stands for other ones."""
    described, profiles = [], []
    for place, (header, values) in enumerate(columns.items()):
        described.append(Column(header, type=TYPES[type(values[0])]))
        texts = {str(value) for value in values}
        if isinstance(values[0], float) or len(texts) < 2:
            continue
        sketch = tuple(sorted(map(value_hash, texts)))[:SKETCH_SIZE]
        profiles.append(ColumnProfile(name, 0, place, len(values), len(texts), sketch))
    found = SheetRecord(f"{workbook}#{name}", name, workbook, workbook, columns=tuple(described))
    return found, profiles


def texts(*headers):
    return {header: ["x"] for header in headers}


def figures(count):
    return {f"figure {n}": [0.5] for n in range(count)}


def joined(*sheets, formulas=Formulas()):  # noqa: B008 - frozen
    records = [record for record, _ in sheets]
    profiles = [profile for _, own in sheets for profile in own]
    links = workbook_joins(records, profiles, formulas)
    return {(link.source.split("#")[1], link.target.split("#")[1]) for link in links}


def across(one, other):
    return joins_between(*(workbook_keys([record], own) for record, own in (one, other)))


LEAVE = sheet("Leave", {"Day": [1, 2] * 30, "Staff ID": CODES[:20] * 3, **figures(1)})


@pytest.mark.parametrize(
    ("tab", "found"), [("Staff 2024", True), ("Staff 2023", False), ("Staff", True)]
)
def test_a_sheet_does_not_refer_to_a_list_of_another_time(tab, found):
    columns = {"Staff ID": CODES[:30], **texts("Name", "City")}
    pay = {"Line": [1, 2] * 20, "Staff ID": CODES[:20] * 2}
    assert joined(sheet("Pay 2024-05", pay), sheet(tab, columns)) == (
        {("Pay 2024-05", tab)} if found else set()
    )
    there = sheet(tab, columns, workbook="lists.xlsx")
    assert bool(across(sheet("Pay 2024-05", pay), there)) is found


def test_a_year_does_not_refer_to_the_list_of_one_of_its_months():
    pay = sheet("Pay 2024", {"Line": [1, 2] * 20, "Staff ID": CODES[:20] * 2})
    staff = {"Staff ID": CODES[:30], **texts("Name")}
    assert joined(pay, sheet("Staff May 2024", staff)) == set()


def test_a_report_of_figures_is_no_list_that_a_column_refers_to():
    report = {"Person no": CODES[:30], **figures(5)}
    described = {"Person no": CODES[:30], **texts("Name", "City", "Team"), **figures(3)}
    orders = {"Line": [1, 2] * 20, "Person no": CODES[:20] * 2}
    for owner, expected in ((report, set()), (described, {("Visits", "Overview")})):
        assert joined(sheet("Visits", orders), sheet("Overview", owner)) == expected
        there = sheet("Overview", owner, workbook="b.xlsx")
        assert bool(across(sheet("Visits", orders), there)) is bool(expected)


def test_a_sheet_that_gathers_by_formulas_is_no_list_even_if_it_is_named_so():
    orders = sheet("Orders", {"Line": [1, 2] * 20, "Product no": CODES[:20] * 2})
    sums = sheet("Products", {"Product no": CODES[:30], **texts("Name"), **figures(2)})
    gathering = Formulas(gathering={sums[0].sheet_id})
    assert joined(orders, sums) == {("Orders", "Products")}
    assert joined(orders, sums, formulas=gathering) == set()
    list_ = {"Product no": CODES[:30], **texts("Name", "Size", "Colour"), **figures(2)}
    assert joined(orders, sheet("Products", list_), formulas=gathering) == {("Orders", "Products")}


def test_of_two_lists_of_the_same_things_only_the_better_described_one_is_referred_to():
    pay = sheet("Pay", {"Person no": CODES[:30], **texts("Name"), **figures(8)})
    staff = sheet(
        "Roster", {"Person no": CODES[:30], **texts("Name", "City", "Team"), **figures(2)}
    )
    assert joined(pay, staff) == {("Pay", "Roster")}
    alike = sheet("Hours", {"Person no": CODES[:30], **texts("Name"), **figures(2)})
    assert joined(pay, alike) == set()


def test_long_lists_may_refer_to_each_other_row_labels_do_not():
    def lists(count):
        one = sheet("Sent", {"To": CODES[:count], "Paid": [1.5]})
        other = {"Legal name": CODES[: count + 20], "Since": [0.5]}
        return across(one, sheet("Partners", other, workbook="crm.xlsx"))

    assert len(lists(60)) == 1
    assert lists(40) == []


def test_a_list_that_looks_something_up_does_not_own_what_it_is_looked_up_in():
    ledger = sheet("Ledger", {"Item code": CODES[:20], **texts("Name"), **figures(2)})
    count = sheet("Count", {"Item code": CODES[:20], **texts("Name", "Bin", "By"), **figures(2)})
    assert joined(ledger, count) == {("Ledger", "Count")}
    looked_up = Formulas(looked_up={(count[0].sheet_id, ledger[0].sheet_id)})
    assert joined(ledger, count, formulas=looked_up) == set()


def test_of_several_owners_those_that_describe_things_worse_are_left_out():
    staff = sheet("Roster", {"Person no": CODES[:30], **texts("Name", "City", "Team", "Level")})
    pay = sheet("Wages", {"Person no": CODES[:30], **texts("Name", "City"), **figures(2)})
    visits = sheet("Visits", {"Line": [1, 2] * 20, "Person no": CODES[:20] * 2})
    assert joined(visits, pay) == {("Visits", "Wages")}
    assert ("Visits", "Wages") not in joined(visits, pay, staff)
    assert ("Visits", "Roster") in joined(visits, pay, staff)


def test_workbooks_whose_names_have_nothing_in_common_join_less():
    visits = {"Line": [1, 2] * 20, "Person no": CODES[:20] * 2}
    staff = {"Person no": CODES[:30], **texts("Name", "City")}

    def weight(one, other):
        links = across(sheet("Visits", visits, workbook=one), sheet("List", staff, workbook=other))
        return links[0].weight if links else 0.0

    near = weight("Acme Foods/Visits 2024.xlsx", "Acme Foods Staff.xlsx")
    assert near == weight("visits.xlsx", "staff.xlsx") > 0.5
    half = weight("Acme Foods/Visits.xlsx", "Acme Motors/Staff.xlsx")
    assert near > half > weight("Acme Foods/Visits.xlsx", "Blue Motors/Staff.xlsx")


def test_few_values_join_workbooks_if_headers_agree_and_all_are_found():
    quotes = sheet("Prices", {"Day": [1, 2] * 9, "Ticker": CODES[:3] * 6})
    listed = {"Ticker": CODES[:15], **texts("Name", "Branch"), **figures(2)}
    assert len(across(quotes, sheet("Shares", listed, workbook="b.xlsx"))) == 1
    other = sheet("Shares", {**listed, "Ticker": CODES[2:15]}, workbook="b.xlsx")
    assert across(quotes, other) == []


def test_a_header_that_says_too_little_joins_a_first_column_with_all_the_values():
    notes = sheet("Explanations", {"Ref": list(range(1, 13)), **texts("Title", "Text")})
    lines = sheet("Balance", {"Item": CODES[:20], "Ref": [3, 4, 7, 9], **figures(2)})
    assert joined(lines, notes) == {("Balance", "Explanations")}
    more = sheet("Balance", {"Item": CODES[:20], "Ref": [3, 4, 17, 19], **figures(2)})
    assert joined(more, notes) == set()
    years = sheet("Events", {"Year": list(range(2001, 2013)), **texts("What")})
    built = sheet("Sites", {"Site": CODES[:20], "Year": [2003, 2004] * 10})
    assert joined(built, years) == set()


def test_a_sheet_by_regions_is_no_list_of_regions():
    orders = sheet("Orders", {"Line": [1, 2] * 20, "Region": CODES[:4] * 10})
    assert joined(orders, sheet("Regions", {"Region": CODES[:4], **figures(3)})) == {
        ("Orders", "Regions")
    }
    assert joined(orders, sheet("Sales by Region", {"Region": CODES[:4], **figures(3)})) == set()
