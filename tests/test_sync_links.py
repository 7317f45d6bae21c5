"""Links of an indexed folder through every kind of change."""

import os
import random
import time

import pytest
import xlsxwriter

from sat_retriever import Link, SheetIndex, SheetRecord
from sat_retriever.links.join.keys import BLOCK_LIMIT
from sat_retriever.types import Column
from tests.fakes import HashedEncoder

PAST = time.time() - 3600


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def index(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as opened:
        yield opened


def write(path, sheets, mtime=PAST):
    """A workbook of sheets, each a list of rows; texts with "=" first are formulas."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with xlsxwriter.Workbook(path) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    os.utime(path, (mtime, mtime))
    return path


def found(index, *types):
    return {
        (link.source, link.target, link.type)
        for link in index.all_links()
        if not types or link.type in types
    }


ACTUALS = {"Costs": [["Item", "Cost"], ["Rent", 5], ["Power", 7]]}
PLAN = {"Plan": [["Item", "Cost"], ["Rent", "=[actuals.xlsx]Costs!B2"]]}
REFERENCE = ("plan.xlsx#Plan", "actuals.xlsx#Costs", "formula_reference")


def test_formulas_of_one_workbook_become_links_with_evidence(folder, index):
    rows = [["Total"], ["=SUM(Q1!B2:B9)"]]
    write(folder / "a.xlsx", {"Summary": rows, "Q1": ACTUALS["Costs"]})
    index.sync(folder)
    kinds = {link.type: link for link in index.links(["a.xlsx#Summary"])}
    assert set(kinds) == {"formula_reference", "aggregation"}
    assert kinds["aggregation"].target == "a.xlsx#Q1"
    assert kinds["aggregation"].evidence == "Summary!A2 =SUM(Q1!B2:B9)"


def test_a_reference_to_a_missing_workbook_is_kept_and_resolved_when_it_appears(folder, index):
    write(folder / "plan.xlsx", PLAN)
    index.sync(folder)
    assert found(index, "formula_reference") == set()
    assert index.status()["unresolved"] == {"actuals.xlsx": 1}
    write(folder / "actuals.xlsx", ACTUALS)
    index.sync(folder)
    assert found(index, "formula_reference") == {REFERENCE}
    assert index.status()["unresolved"] == {}


def test_a_link_goes_with_its_target_and_comes_back_with_it(folder, index):
    write(folder / "plan.xlsx", PLAN)
    target = write(folder / "actuals.xlsx", ACTUALS)
    index.sync(folder)
    assert REFERENCE in found(index)
    target.unlink()
    index.sync(folder)
    assert found(index, "formula_reference") == set()
    write(folder / "actuals.xlsx", ACTUALS)
    index.sync(folder)
    assert REFERENCE in found(index)


def test_a_changed_target_keeps_the_links_that_point_at_it(folder, index):
    write(folder / "plan.xlsx", PLAN)
    write(folder / "actuals.xlsx", ACTUALS)
    index.sync(folder)
    write(
        folder / "actuals.xlsx", {"Costs": [["Item", "Cost", "Year"], ["Rent", 6, 2024]]}, PAST + 9
    )
    index.sync(folder)
    assert REFERENCE in found(index)
    write(folder / "actuals.xlsx", {"Renamed": ACTUALS["Costs"]}, PAST + 20)
    index.sync(folder)
    assert found(index, "formula_reference") == set()


def test_a_changed_workbook_replaces_its_own_links(folder, index):
    sheets = {"S": [["x"], ["=A!A1"]], "A": [["x"], [1]], "B": [["x"], [1]]}
    write(folder / "a.xlsx", sheets)
    index.sync(folder)
    assert ("a.xlsx#S", "a.xlsx#A", "formula_reference") in found(index)
    write(folder / "a.xlsx", {**sheets, "S": [["x"], ["=B!A1"]]}, PAST + 9)
    index.sync(folder)
    assert found(index, "formula_reference") == {("a.xlsx#S", "a.xlsx#B", "formula_reference")}


def test_of_two_workbooks_of_one_name_the_one_in_the_own_folder_is_meant(folder, index):
    write(folder / "north" / "actuals.xlsx", ACTUALS)
    write(folder / "south" / "actuals.xlsx", ACTUALS)
    write(folder / "south" / "plan.xlsx", PLAN)
    index.sync(folder)
    assert found(index, "formula_reference") == {
        ("south/plan.xlsx#Plan", "south/actuals.xlsx#Costs", "formula_reference")
    }
    (folder / "south" / "actuals.xlsx").unlink()
    index.sync(folder)
    assert found(index, "formula_reference") == {
        ("south/plan.xlsx#Plan", "north/actuals.xlsx#Costs", "formula_reference")
    }


def test_periods_are_linked_across_files_and_closed_again_when_one_goes(folder, index):
    for year in (2021, 2022, 2023):
        write(folder / f"Sales {year}.xlsx", {"Data": [["Region", "Sales"], ["North", year]]})
    index.sync(folder)
    links = found(index, "sibling_period")
    assert ("Sales 2022.xlsx#Data", "Sales 2021.xlsx#Data", "sibling_period") in links
    assert ("Sales 2023.xlsx#Data", "Sales 2022.xlsx#Data", "sibling_period") in links
    (folder / "Sales 2022.xlsx").unlink()
    index.sync(folder)
    assert found(index, "sibling_period") == {
        ("Sales 2023.xlsx#Data", "Sales 2021.xlsx#Data", "sibling_period")
    }


def test_given_links_survive_every_sync(folder, index):
    write(folder / "a.xlsx", {"S": [["x"], ["=A!A1"]], "A": [["x"], [1]]})
    index.sync(folder)
    given = Link("a.xlsx#S", "a.xlsx#A", "formula_reference", 0.5, "by hand")
    index.add_records([], [given])
    write(folder / "a.xlsx", {"S": [["y"], ["=A!A1"]], "A": [["x"], [2]]}, PAST + 9)
    index.sync(folder)
    assert [link for link in index.all_links() if link.type == given.type] == [given]
    assert found(index) == {(x.source, x.target, x.type) for x in index.links(["a.xlsx#S"])}


def test_a_removed_sheet_leaves_no_found_link_behind(folder, index):
    write(folder / "a.xlsx", {"S": [["x"], ["=A!A1"]], "A": [["x"], [1]]})
    index.sync(folder)
    index.remove(["a.xlsx#A"])
    assert found(index) == set()


def test_values_stay_out_of_the_evidence_of_an_index_without_examples(folder, tmp_path):
    secret = '=IF(A!A1="Miller",SUM(A!B1:B9)*4711,0)'
    write(folder / "a.xlsx", {"S": [["x"], [secret]], "A": [["Name", "Pay"], ["Miller", 3]]})
    with SheetIndex.create(tmp_path / "m.sat", HashedEncoder(), examples=False) as index:
        index.sync(folder)
        links = list(index.all_links())
        assert links and all("A!" in link.evidence or "A.x" for link in links)
        assert not any("Miller" in x.evidence or "4711" in x.evidence for x in links)
    content = (tmp_path / "m.sat").read_bytes()
    assert b"Miller" not in content and b"4711" not in content


def test_records_without_files_are_linked_by_headers_and_names(index):
    index.add_records(
        [
            SheetRecord("1", "orders", "shop", columns=(Column("order_id"), Column("customer_id"))),
            SheetRecord("2", "customers", "shop", columns=(Column("customer_id"), Column("city"))),
            SheetRecord("3", "Budget_2023", columns=(Column("item"),)),
            SheetRecord("4", "Budget_2024", columns=(Column("item"),)),
        ]
    )
    assert ("1", "2", "join_key") in found(index)
    assert ("4", "3", "sibling_period") in found(index)
    index.remove(["2", "3"])
    assert found(index) == set()


def test_finding_links_can_be_left_out(index):
    names = [SheetRecord(str(n), f"Budget_{n}", columns=(Column("item"),)) for n in (2023, 2024)]
    index.add_records(names, find_links=False)
    assert found(index) == set()


@pytest.mark.parametrize("seed", range(6))
def test_any_history_of_changes_leaves_the_links_of_a_fresh_index(folder, tmp_path, seed):
    draw = random.Random(seed)
    names = [
        "plan 2023.xlsx",
        "plan 2024.xlsx",
        "plan 2025.xlsx",
        "customers.xlsx",
        "sub/orders.xlsx",
    ]

    def content():
        other = draw.choice(names).rpartition("/")[2]
        ids = draw.sample(range(1000, 9000), 40)
        return {
            "Data": [["customer_id", "Amount"], *([n, n / 7] for n in ids)],
            draw.choice(["Sum", "Total"]): [["x"], ["=SUM(Data!B2:B9)"], [f"='[{other}]Data'!A1"]],
        }

    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        for step in range(5):
            for name in draw.sample(names, 2):
                path = folder / name
                if path.exists() and draw.random() < 0.4:
                    path.unlink()
                else:
                    write(path, content(), PAST + step)
            index.sync(folder)
        kept = list(index.all_links())
    with SheetIndex.create(tmp_path / "fresh.sat", HashedEncoder()) as fresh:
        fresh.sync(folder)
        assert list(fresh.all_links()) == kept
        assert kept


def test_a_sheet_whose_id_is_taken_claims_nothing_for_the_other_one(tmp_path, index):
    for place in ("one", "two"):
        path = tmp_path / place / "plan 2024.xlsx"
        write(path, {"Plan": [["a", "b"], [1, f"=[{place}.xlsx]X!A1"]], "P": [["=Plan!A1"]]})
        index.sync(tmp_path / place)
    assert index.status()["unresolved"] == {"one.xlsx": 1}
    assert ("plan 2024.xlsx#P", "plan 2024.xlsx#Plan", "formula_reference") in found(index)


@pytest.mark.parametrize("backwards", [False, True])
def test_a_header_that_too_many_workbooks_have_joins_none_of_them_in_any_order(index, backwards):
    keys = (Column("ticket_id"), Column("weight"))
    records = [SheetRecord("0", "Tickets", "book 0", columns=keys)]
    records += [
        SheetRecord(str(n), "Cargo", f"book {n}", columns=keys[::-1])
        for n in range(1, BLOCK_LIMIT + 2)
    ]
    few = records[: BLOCK_LIMIT - 1]
    index.add_records(reversed(few) if backwards else few)
    joined = found(index, "join_key")
    assert joined
    index.add_records(records[BLOCK_LIMIT - 1 :])
    assert found(index, "join_key") == set()
    index.remove([record.sheet_id for record in records[BLOCK_LIMIT - 1 :]])
    assert found(index, "join_key") == joined
