"""Periods in the names of sheets, files and folders, and the links between siblings."""

import random
import re
from collections import defaultdict
from dataclasses import replace
from datetime import date

import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever import SheetIndex, SheetRecord
from sat_retriever.datasets.dataset import load_industrytab
from sat_retriever.datasets.splits import family
from sat_retriever.text.period.periods import Grain, SheetPeriod, period_of, sibling_links
from tests.builders import indexed
from tests.fakes import HashedEncoder
from tests.places import needs
from tests.tables import table


def at(path, sheet="Data"):
    return SheetRecord(f"{path}#{sheet}", sheet, workbook=path.rpartition("/")[2], path=path)


def label(sheet):
    period = period_of(SheetRecord("x", sheet))
    return period.label if period else ""


@pytest.mark.parametrize(
    ("name", "expected"), [*table("text/period/names.tsv", 2), ("", ""), (" ", "")]
)
def test_a_name_is_read_as_its_period(name, expected):
    assert label(name) == expected


@pytest.mark.parametrize(
    ("path", "sheet", "family_name", "expected"),
    [
        ("Budget 2024.xlsx", "Jan", "budget#", "2024-01"),
        ("Budget 2024.xlsx", "Costs", "budget#costs", "2024"),
        ("2024/03 March.xlsx", "W1", "#", "2024-03 W1"),
        ("2024/03/sales.xlsx", "Data", "sales#data", "2024-03"),
        ("2024/sales.xlsx", "01", "sales#", "2024-01"),
        ("2024/sales.xlsx", "T3", "sales#", "2024 Q3"),
        ("2024/sales.xlsx", "s2", "sales#", "2024 H2"),
        ("2024/sales.xlsx", "W7", "sales#", "2024 W7"),
        ("March 2024.xlsx", "5", "#", "2024-03-05"),
        ("March 2024.xlsx", "Day 5", "#", "2024-03-05"),
        ("2023-02.xlsx", "29", "#", "2023-02"),
        ("2024-02.xlsx", "29", "#", "2024-02-29"),
        ("2023.xlsx", "29 Feb", "#", "2023-02"),
        ("hr/2023/Pay Q2.xlsx", "Staff", "hr/pay#staff", "2023 Q2"),
        ("hr/2023/Pay.xlsx", "Staff", "hr/pay#staff", "2023"),
        ("Report 2024-03-31.xlsx", "Q1", "report#", "2024 Q1"),
        ("Report 2024-03-31.xlsx", "2023", "report#", "2023"),
        ("FY24/Actuals.xlsx", "Q1", "actuals#", "FY2024 Q1"),
        ("Sales.xlsx", "2024", "sales#", "2024"),
        ("Version 3/Table 12.xlsx", "2024", "version 3/table 12#", "2024"),
        ("2024/Stock Apr final.xlsx", "Data", "stock final#data", "2024-04"),
        ("2024/Stock May final.xlsx", "Data", "stock final#data", "2024-05"),
        ("Stock May final.xlsx", "2024", "stock may final#", "2024"),
        ("Project Office 2019/Costs.xlsx", "Data", "project office/costs#data", "2019"),
    ],
)
def test_folder_file_and_sheet_together_name_the_period(path, sheet, family_name, expected):
    period = period_of(at(path, sheet))
    assert (period.family, period.label) == (family_name, expected)


def test_a_family_is_the_same_in_chinese_too():
    paths = ["销售2024年3月.xlsx", "2024年三月销售.xlsx", "销售202403.xlsx", "2023年/销售.xlsx"]
    assert {period_of(at(path, "北方")).family for path in paths} == {"销售#北方"}


def test_a_family_is_the_same_wherever_its_period_stands():
    paths = [
        "2024/Sales.xlsx",
        "2025/Sales.xlsx",
        "Sales 2023.xlsx",
        "Sales_2022.ods",
        "FY21 Sales.xls",
    ]
    assert {period_of(at(path, "North")).family for path in paths} == {"sales#north"}


def test_digits_that_are_no_period_keep_families_apart():
    assert period_of(at("Table 12 2024.xlsx")).family != period_of(at("Table 13 2024.xlsx")).family


@pytest.mark.parametrize(
    "names",
    [
        [f"{month} 2024" for month in "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()],
        [
            f"{month} 23"
            for month in "janv févr mars avr mai juin juil août sept oct nov déc".split()
        ],
        "Januar Februar März April Mai Juni Juli August September Oktober November Dez.".split(),
        "ene feb mar abr may jun jul ago sep oct nov dic".split(),
        [f"2024-{month:02d}" for month in range(1, 13)],
        [f"Q{quarter} {year}" for year in (2022, 2023) for quarter in range(1, 5)],
        [f"2024-W{week:02d}" for week in range(1, 53)],
        [f"2024-02-{day:02d}" for day in range(1, 30)],
    ],
)
def test_names_in_order_of_time_give_periods_in_that_order(names):
    periods = [period_of(SheetRecord("x", name)) for name in names]
    places = [(period.year, period.part) for period in periods]
    assert len({period.grain for period in periods}) == 1
    assert places == sorted(set(places))


@given(
    st.dates(date(1900, 1, 1), date(2099, 12, 31)),
    st.sampled_from(
        [
            "{0:%Y}-{0:%m}-{0:%d}",
            "{0:%Y}{0:%m}{0:%d}",
            "{0:%d}.{0:%m}.{0:%Y}",
            "{0.day} {0:%B} {0:%Y}",
        ]
    ),
    st.sampled_from(["Stock", "Umsatz (netto)", "在庫", "a_b"]),
)
@settings(max_examples=150)
def test_every_day_of_this_and_the_last_century_is_read_in_every_form(day, form, name):
    period = period_of(SheetRecord("x", f"{name} {form.format(day)}"))
    assert period.label == f"{day:%Y-%m-%d}"
    assert period.family == period_of(SheetRecord("x", f"{name} 2024")).family


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=300)
def test_any_names_give_a_sound_period_or_none(file, sheet):
    period = period_of(SheetRecord("x", sheet, workbook=file, path=f"a/{file}"))
    if period is not None:
        assert period == period_of(SheetRecord("y", sheet, workbook=file, path=f"a/{file}"))
        assert period.label
        assert period.year == 0 or 1900 <= period.year <= 2099
        assert len(period.family) <= 240


@given(st.text(alphabet="0123456789QqWwTtHhSsFfYy '-./_年月日MarchJn", max_size=40))
@settings(max_examples=500)
def test_numbers_and_letters_of_periods_in_any_order_do_no_harm(name):
    period = period_of(SheetRecord("x", name))
    if period is not None:
        assert (
            len(sibling_links([("a", period), ("b", replace(period, part=period.part + 1))])) <= 1
        )


def test_very_long_names_are_cut_and_quick():
    assert period_of(SheetRecord("x", "2024 " + "Q1" * 5000)).year == 2024
    assert period_of(SheetRecord("x", "1 " * 5000)) is None
    assert period_of(SheetRecord("x", "a" * 5000 + " 2024")) is None


def members(*labels, name="sales#"):
    periods = [(text, period_of(SheetRecord("x", text))) for text in labels]
    return [(text, replace(period, family=name)) for text, period in periods]


def links(*labels, **options):
    found = sibling_links(members(*labels), **options)
    return {(link.source, link.target): (link.weight, link.evidence) for link in found}


def test_a_sheet_is_linked_with_the_period_before_and_the_year_before():
    assert links("Q1 2024", "Q4 2023", "Q1 2023") == {
        ("Q1 2024", "Q4 2023"): (1.0, "2024 Q1 -> 2023 Q4"),
        ("Q1 2024", "Q1 2023"): (1.0, "2024 Q1 -> 2023 Q1"),
        ("Q4 2023", "Q1 2023"): (0.3333, "2023 Q4 -> 2023 Q1"),
    }


def test_weights_fall_with_the_distance():
    assert links("2020", "2021", "2024") == {
        ("2021", "2020"): (1.0, "2021 -> 2020"),
        ("2024", "2021"): (0.3333, "2024 -> 2021"),
    }
    assert links("2024-01-31", "2024-01-29") == {
        ("2024-01-31", "2024-01-29"): (0.5, "2024-01-31 -> 2024-01-29")
    }


def test_only_equal_families_and_lengths_are_linked():
    assert links("2024", "Q1 2024", "2024-03", "Q2") == {}
    apart = members("2024") + members("2023", name="costs#")
    assert sibling_links(apart) == []


def test_a_likeness_of_sheets_scales_the_weight_and_can_forbid_a_link():
    assert links("2022", "2023", "2024", alike=lambda one, other: 0.5 * ("2024" in one)) == {
        ("2024", "2023"): (0.5, "2024 -> 2023")
    }


def test_sheets_that_share_a_period_do_not_multiply():
    year = [SheetPeriod("f", Grain.YEAR, year, 0, str(year)) for year in (2022, 2023, 2024)]
    crowd = [(f"{period.label}-{n:04d}", period) for period in year for n in range(1500)]
    found = sibling_links(crowd)
    assert len(found) == 3000
    assert {(link.source[-4:], link.target[-4:]) for link in found} == {
        (f"{n:04d}", f"{n:04d}") for n in range(1500)
    }


def test_months_amid_the_names_of_files_below_a_years_folder_are_linked(tmp_path):
    names = [f"2024/Stock {month} final.xlsx" for month in ("Apr", "May", "Jun")]
    names += ["Project Office 2023.xlsx", "Project Office 2024.xlsx"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        with xlsxwriter.Workbook(tmp_path / name) as book:
            book.add_worksheet("Data").write_column(0, 0, ["Item", "bolt", "nut"])
    with SheetIndex.create(tmp_path / "made.sat", HashedEncoder()) as index:
        index.sync(tmp_path, workers=1)
        found = {(link.source, link.target) for link in index.all_links()}
    assert found == {
        ("2024/Stock May final.xlsx#Data", "2024/Stock Apr final.xlsx#Data"),
        ("2024/Stock Jun final.xlsx#Data", "2024/Stock May final.xlsx#Data"),
        ("Project Office 2024.xlsx#Data", "Project Office 2023.xlsx#Data"),
    }


LEVELS = st.sampled_from(
    ["2023", "2024-02", "April 2023", "Feb", "29 Feb", "30", "31", "Day 31", "W5", "Q2", "a", "99"]
)


@given(st.lists(st.tuples(LEVELS, LEVELS, LEVELS), min_size=2, max_size=12))
@settings(max_examples=300)
def test_names_that_together_say_no_day_of_a_calendar_do_no_harm(names):
    found = [
        (f"{number}", period_of(at(f"{folder}/{file}.xlsx", sheet)))
        for number, (folder, file, sheet) in enumerate(names)
    ]
    for _, period in found:
        if period is not None and period.grain is Grain.DAY:
            date(period.year or 2000, *divmod(period.part, 100))
    sibling_links([(sheet, period) for sheet, period in found if period is not None])


def test_days_that_older_indexes_hold_and_no_calendar_has_can_be_linked():
    days = [SheetPeriod("a#", Grain.DAY, 2023, part, f"{part}") for part in (228, 230, 301)]
    found = sibling_links([(day.label, day) for day in days])
    assert [(link.source, link.target, link.weight) for link in found] == [
        ("230", "228", 0.5), ("301", "230", 1.0),
    ]  # fmt: skip


def test_a_workbook_of_a_tab_a_day_does_not_stop_an_index(tmp_path):
    book = xlsxwriter.Workbook(str(tmp_path / "2023-02.xlsx"))
    for day in range(1, 32):
        book.add_worksheet(f"{day}").write_row(0, 0, ["Item", "Amount"])
        book.get_worksheet_by_name(f"{day}").write_row(1, 0, ["tea", day])
    book.close()
    with indexed(tmp_path, tmp_path / "days.sat") as index:
        assert len(index) == 31
        assert any(link.type == "sibling_period" for link in index.all_links())


def test_links_do_not_depend_on_the_order_of_sheets():
    given_first = members(*(f"Q{q} {y}" for y in range(2010, 2025) for q in range(1, 5)))
    shuffled = list(given_first)
    random.Random(3).shuffle(shuffled)
    found = sibling_links(given_first)
    assert found == sibling_links(shuffled)
    assert len(found) <= 2 * len(given_first)
    assert all(0 < link.weight <= 1 and link.type == "sibling_period" for link in found)


def test_families_of_industrytab_are_those_of_the_released_grouping():
    folder = needs("data/industrytab_1k")
    ours, theirs = defaultdict(set), defaultdict(set)
    for record in load_industrytab(folder).records:
        period = period_of(replace(record, sheet=_without_naming_habits(record.sheet)))
        assert (period is None) == ("YEAR" not in family(record.sheet))
        if period is not None:
            ours[period.family].add(record.sheet_id)
            theirs[family(record.sheet)].add(record.sheet_id)
    assert sorted(map(sorted, ours.values())) == sorted(map(sorted, theirs.values()))
    assert len(ours) == 63


def _without_naming_habits(name):
    """The name without what the release calls one thing in two ways; periods stay."""
    name = re.sub(r"^Synthetic_Data__|_(source|target)$", "", name)
    name = re.sub(r"^Stock_Market__", "Stock_Market_Data__", name)
    name = re.sub(r"(Inventory_Check)_(?!Records)", r"\1_Records_", name)
    return re.sub(r"(Warehouse_(?:Entry|Exit))_(?!Details)", r"\1_Details_", name)
