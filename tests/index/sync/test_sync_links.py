"""Links of an indexed folder through every kind of change."""

import os
import random
import time

import pytest
import xlsxwriter

from sat_retriever import Link, SheetIndex, SheetRecord
from sat_retriever.links.join.keys import BLOCK_LIMIT
from sat_retriever.records.sheets import Column
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
    with SheetIndex.create(tmp_path / "m.sat", HashedEncoder(), contents="names") as index:
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
        "sub/plan 2024.xlsx",
    ]
    (folder / "sub").mkdir()

    def content():
        other = draw.choice(names).rpartition("/")[2]
        ids = draw.sample(range(1000, 9000), 40)
        return {
            "Data": [["customer_id", "Amount"], *([n, n / 7] for n in ids)],
            draw.choice(["Sum", "Total"]): [
                ["x"],
                ["=SUM(Data!B2:B9)"],
                [f"='{draw.choice(['', 'sub/'])}[{other}]Data'!A1"],
                [f"=SUM('[{other}]Data:Total'!B2:B9)"],
            ],
        }

    def change(path, step):
        way = draw.random()
        if path.exists() and way < 0.3:
            path.unlink()
        elif path.exists() and way < 0.45:
            path.replace(folder / draw.choice(names))
        elif path.exists() and way < 0.55:
            path.write_bytes(b"PK\3\4 cut off")
            os.utime(path, (PAST + step, PAST + step))
        else:
            write(path, content(), PAST + step)

    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        for step in range(5):
            for name in draw.sample(names, 2):
                change(folder / name, step)
            if step == 0:  # a root that the folder above supersedes
                index.sync(folder / "sub")
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


def staff_and_log(book):
    """Sheets of one workbook; what the log's key means is settled by the staff beside it."""
    return [
        SheetRecord(f"{book}#s", "Staff", book, columns=(Column("staff_id"), Column("name"))),
        SheetRecord(f"{book}#l", "Log", book, columns=(Column("date"), Column("staff_id"))),
    ]


def test_records_of_a_workbook_that_come_in_several_calls_are_linked_as_those_of_one(tmp_path):
    records = [record for book in ("a", "b", "c") for record in staff_and_log(book)]
    with (
        SheetIndex.create(tmp_path / "one.sat", HashedEncoder()) as one,
        SheetIndex.create(tmp_path / "more.sat", HashedEncoder()) as more,
    ):
        one.add_records(records)
        for record in reversed(records):
            more.add_records([record])
        assert list(more.all_links()) == list(one.all_links())
        assert found(one, "join_key") == {(f"{b}#l", f"{b}#s", "join_key") for b in "abc"}


def test_records_added_again_with_other_headers_lose_their_links(index):
    index.add_records(staff_and_log("a"))
    assert found(index, "join_key")
    index.add_records([SheetRecord("a#l", "Log", "a", columns=(Column("date"),))])
    assert found(index, "join_key") == set()


def test_what_was_written_is_linked_when_the_records_break_off(index, monkeypatch):
    def broken():
        yield from staff_and_log("a")
        yield SheetRecord("3", "Budget_2023", columns=(Column("item"),))
        yield SheetRecord("4", "Budget_2024", columns=(Column("item"),))
        raise RuntimeError("the source broke off")

    monkeypatch.setattr("sat_retriever.index.sync.writer.AT_ONCE", 2)
    with pytest.raises(RuntimeError, match="broke off"):
        index.add_records(broken())
    assert ("a#l", "a#s", "join_key") in found(index)
    assert ("4", "3", "sibling_period") in found(index)


def test_a_block_that_is_crowded_joins_nothing_through_columns_found_by_another(tmp_path):
    def one(book, sheet, *headers):
        columns = tuple(map(Column, headers))
        return SheetRecord(f"{book}#{sheet}", sheet, f"book {book}", columns=columns)

    crowd = [one(str(n), "Log", "order_id") for n in range(BLOCK_LIMIT + 1)]
    # Both sheets have a column of the block "vendor site order", which is also one of the
    # crowded block "order"; the id of the sheet Orders is in the crowded one only.
    pair = [
        one("x", "Orders", "id", "vendor_site_order_id"),
        one("y", "Site Orders", "id", "site_id", "vendor_site_order_id"),
    ]
    for number, order in enumerate((pair, pair[::-1])):
        with SheetIndex.create(tmp_path / f"{number}.sat", HashedEncoder()) as index:
            index.add_records(crowd)
            for record in order:
                index.add_records([record])
            assert list(index.all_links()) == []


def test_an_interrupted_sync_is_settled_by_the_next(folder, index, monkeypatch):
    for year in (2021, 2022):
        write(folder / f"Sales {year}.xlsx", {"Data": [["Region", "Sales"], ["North", year]]})
    with monkeypatch.context() as killed:
        killed.setattr(index._store, "settle", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            index.sync(folder)
    assert found(index, "sibling_period") == set()
    report = index.sync(folder)
    assert report.unchanged == 2
    assert len(found(index, "sibling_period")) == 1
