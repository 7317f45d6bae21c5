"""Two sheets of real files compared: versions of one, or sheets that only look alike."""

import random

import openpyxl
import pytest

from sat_retriever import read_workbook
from sat_retriever.links.copies.claims import claim_from_text, claim_to_text, copy_claims
from sat_retriever.links.copies.likeness import are_copies, contained
from tests.builders import save_book

REGIONS = ("North", "South", "East", "West", "Centre", "Islands", "Coast", "Hills")
HEADER = ["Region", "Units", "Revenue", "Cost"]


def rows_of(seed, count=60):
    chance = random.Random(seed)
    return [
        [f"{chance.choice(REGIONS)} {number}", *(chance.randint(10, 99_999) for _ in range(3))]
        for number in range(count)
    ]


@pytest.fixture
def claim(tmp_path):
    """Writes a workbook and gives the claims of its sheets."""

    def made(path, **tabs):
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        book = openpyxl.Workbook()
        book.properties.title = path  # so that no two files have the same bytes
        book.remove(book.active)
        for name, rows in tabs.items():
            sheet = book.create_sheet(name)
            for row in rows:
                sheet.append(row)
        book.save(place)
        read = read_workbook(place, root=tmp_path)
        claims = copy_claims(read.records, read.sketches)
        stored = [claim_from_text(each.sheet_id, claim_to_text(each)) for each in claims]
        return stored[0] if len(stored) == 1 else stored

    return made


def test_a_sheet_with_new_rows_and_corrected_cells_is_a_copy(claim):
    rows = rows_of(1)
    later = [*rows_of(1), *rows_of(2, 20)]
    later[3][1] += 5
    one, other = claim("Plan_v1.xlsx", S=[HEADER, *rows]), claim("Plan_v2.xlsx", S=[HEADER, *later])
    assert are_copies(one, other)
    assert are_copies(other, one)


def test_a_column_more_leaves_a_copy(claim):
    rows = rows_of(1)
    wide = [[*row, number / 7] for number, row in enumerate(rows)]
    one = claim("Plan.xlsx", S=[HEADER, *rows])
    assert are_copies(one, claim("Plan (2).xlsx", S=[[*HEADER, "Check"], *wide]))


def test_the_same_form_with_other_numbers_is_no_copy(claim):
    rows = rows_of(1)
    other = [[row[0], *(n * 1.37 for n in row[1:])] for row in rows]
    one = claim("Plan_v1.xlsx", S=[HEADER, *rows])
    assert not are_copies(one, claim("Plan_v2.xlsx", S=[HEADER, *other]))


def test_a_series_by_period_is_none_even_with_equal_cells(claim):
    table = [HEADER, *rows_of(1)]
    assert not are_copies(claim("Sales 2021.xlsx", S=table), claim("Sales 2022.xlsx", S=table))
    assert not are_copies(
        claim("2024/03/Sales.xlsx", S=table), claim("2024/04/Sales.xlsx", S=table)
    )


def test_folders_and_files_that_are_numbered_are_a_series(claim):
    table = [HEADER, *rows_of(1)]
    assert not are_copies(claim("01/Form.xlsx", S=table), claim("02/Form.xlsx", S=table))
    assert not are_copies(claim("Form 1.xlsx", S=table), claim("Form 2.xlsx", S=table))
    assert are_copies(claim("a/Form.xlsx", S=table), claim("b/Form.xlsx", S=table))


def test_weekly_exports_are_copies_as_far_as_their_rows_are_the_same(claim):
    rows = rows_of(1)
    one = claim("Orders 2024-03-04.xlsx", S=[HEADER, *rows])
    later = claim("Orders 2024-03-11.xlsx", S=[HEADER, *rows[10:], *rows_of(2, 10)])
    other = claim("Orders 2024-03-18.xlsx", S=[HEADER, *rows_of(3)])
    assert are_copies(one, later)
    assert not are_copies(one, other)


def test_a_sheet_renamed_between_two_versions_is_a_copy_but_its_twin_is_not(claim):
    rows = rows_of(1)
    other_rows = rows_of(2)
    first = claim("Plan_v1.xlsx", Freight=[HEADER, *rows], Other=[HEADER, *other_rows])
    renamed = claim("Plan_v2.xlsx", Goods=[HEADER, *rows], Other=[HEADER, *other_rows])
    twins = claim("Plan_v3.xlsx", Freight=[HEADER, *rows], Persons=[HEADER, *rows])
    assert are_copies(first[0], renamed[0])
    assert not are_copies(first[0], twins[1])
    assert not are_copies(*twins)


def test_a_list_in_many_workbooks_is_no_copy_but_a_renamed_workbook_is(claim):
    codes = [["Code", "Account"], *([f"A{n}", 1000 + 7 * n] for n in range(40))]
    plan, costs = [HEADER, *rows_of(1)], [HEADER, *rows_of(2)]
    first = claim("Plan.xlsx", S=plan, Codes=codes)
    assert not are_copies(first[1], claim("Costs.xlsx", S=costs, Codes=codes)[1])
    assert are_copies(first[1], claim("mail/For you.xlsx", S=plan, Codes=codes)[1])


def test_empty_forms_with_other_names_in_them_are_no_copies(claim):
    form = [["Item", "Hours"], *([f"Task {n}", None] for n in range(12))]
    anna = claim("Hours Anna.xlsx", S=[["Name", "Anna"], [], *form])
    assert not are_copies(anna, claim("Hours Ben.xlsx", S=[["Name", "Ben"], [], *form]))


def test_without_cells_only_sheets_of_equal_files_are_copies(tmp_path):
    def claims(folder, content):
        place = tmp_path / folder / "Plan.csv"
        place.parent.mkdir()
        place.write_text(content)
        read = read_workbook(place, root=tmp_path, contents="names")
        assert read.sketches == ()
        return copy_claims(read.records, read.sketches)[0]

    one, same = claims("a", "Region,Units\nNorth,5\n"), claims("b", "Region,Units\nNorth,5\n")
    assert are_copies(one, same)
    assert not are_copies(one, claims("c", "Region,Units\nNorth,6\n"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2023/Plan.csv", "2024/Plan.csv"),
        ("Plan 2023.csv", "Plan 2024.csv"),
        ("01/Plan.csv", "02/Plan.csv"),
        ("Plan March 2023.csv", "mail/Re budget.csv"),
        ("2023/Plan.xlsx", "2024/Plan.xlsx"),
        ("Plan 2023.xlsx", "Sheet.xlsx"),
    ],
)
@pytest.mark.parametrize("contents", ["all", "names"])
def test_sheets_of_equal_files_are_copies_whatever_their_paths_say(tmp_path, one, other, contents):
    first = tmp_path / one
    first.parent.mkdir(exist_ok=True)
    if one.endswith("csv"):
        first.write_text("\n".join(["Region,Units", "North,5", "South,6"]))
    else:
        save_book(first, Sheet=[["Region", "Units"], ["North", 5]])
    (tmp_path / other).parent.mkdir(exist_ok=True)
    (tmp_path / other).write_bytes(first.read_bytes())
    read = [read_workbook(tmp_path / x, root=tmp_path, contents=contents) for x in (one, other)]
    left, right = (copy_claims(each.records, each.sketches)[0] for each in read)
    left, right = (claim_from_text(each.sheet_id, claim_to_text(each)) for each in (left, right))
    assert are_copies(left, right) and are_copies(right, left)
    assert {name for name, _ in left.blocks()} & {name for name, _ in right.blocks()}


def test_long_sheets_are_compared_by_the_same_rows_as_short_ones(tmp_path):
    def sketch(name, count):
        lines = [f"row {n},{n * 13 % 7919 + 1},{n * 29 % 7907 + 1}" for n in range(count)]
        place = tmp_path / f"{name}.csv"
        place.write_text("\n".join(["Name,Units,Cost", *lines]))
        return read_workbook(place).sketches[0]

    short, long = sketch("a", 6_000), sketch("b", 24_000)
    assert short.step < long.step
    held, holds = contained(short, long)
    assert held == 1
    assert holds == pytest.approx(0.25, abs=0.2)
