"""Groups of copies in an index through every kind of change, and what answers make of them."""

import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sat_retriever import Filters, LinkReranker, SheetIndex, SheetRecord, SheetRetriever
from sat_retriever.index.store.copies import NEAREST
from sat_retriever.index.store.opening import create_store
from sat_retriever.index.store.rows import NewWorkbook, SheetRow, WorkbookState
from sat_retriever.links.claims import Claims, Discovery
from sat_retriever.links.copies.claims import copy_claims
from sat_retriever.records.structure import CellSketch
from sat_retriever.tools.sheettools import SheetTools
from tests.fakes import HashedEncoder

START = 1_700_000_000


def rows_of(seed, count=40):
    chance = random.Random(seed)
    return [f"item {seed} {n},{chance.randint(10, 9999)},{n * 7 + seed}" for n in range(count)]


def write(path, rows, day=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["Item,Units,Cost", *rows]))
    os.utime(path, (START + day * 86_400,) * 2)
    return path


@pytest.fixture
def folder(tmp_path):
    """Four versions of a plan, a series of years, and a list that nothing is like."""
    folder = tmp_path / "data"
    rows = rows_of(1)
    for number, mark in enumerate(("_draft", "_v1", "_v2", "_final")):
        write(folder / f"Plan{mark}.csv", [*rows, *rows_of(9, number)], number)
    for year in (2021, 2022):
        write(folder / f"Sales {year}.csv", rows_of(year))
    write(folder / "Staff.csv", rows_of(3))
    return folder


@pytest.fixture
def index(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder(512)) as opened:
        yield opened


def groups(index):
    """The groups of two sheets or more, as sets of paths."""
    found = index.copies(index.sheet_ids())
    sets = {frozenset((name, *copies.sheet_ids)) for name, copies in found.items()}
    return sorted(sorted(x.partition("#")[0] for x in each) for each in sets)


PLANS = ["Plan_draft.csv", "Plan_final.csv", "Plan_v1.csv", "Plan_v2.csv"]


def test_versions_are_one_group_and_a_series_is_none(index, folder):
    index.sync(folder)
    assert groups(index) == [PLANS]


def test_a_group_follows_the_files(index, folder):
    index.sync(folder)
    (folder / "Plan_v1.csv").unlink()
    write(folder / "Plan_v2.csv", rows_of(77), 9)  # not like the others any more
    write(folder / "Staff - Copy.csv", rows_of(3))
    index.sync(folder)
    assert groups(index) == [
        ["Plan_draft.csv", "Plan_final.csv"],
        ["Staff - Copy.csv", "Staff.csv"],
    ]
    write(folder / "Plan_v1.csv", rows_of(1))
    index.sync(folder)
    assert groups(index)[0] == ["Plan_draft.csv", "Plan_final.csv", "Plan_v1.csv"]
    index.remove(["Plan_final.csv#Plan_final", "Plan_draft.csv#Plan_draft"])
    assert groups(index) == [["Staff - Copy.csv", "Staff.csv"]]


def test_a_chain_of_exports_breaks_where_a_week_is_missing(index, tmp_path):
    rows = rows_of(1, 200)
    for week in range(5):
        part = rows[week * 30 : week * 30 + 60]
        write(tmp_path / "data" / f"Orders 2024-03-{1 + 7 * week:02}.csv", part)
    index.sync(tmp_path / "data")
    (whole,) = groups(index)
    assert len(whole) == 5
    (tmp_path / "data" / "Orders 2024-03-15.csv").unlink()
    index.sync(tmp_path / "data")
    assert [len(each) for each in groups(index)] == [2, 2]


def test_an_index_that_keeps_no_cells_groups_equal_files_alone(tmp_path, folder):
    write(folder / "old" / "Staff.csv", rows_of(3))
    with SheetIndex.create(tmp_path / "n.sat", HashedEncoder(), contents="names") as index:
        index.sync(folder)
        assert groups(index) == [["Staff.csv", "old/Staff.csv"]]


def test_equal_files_are_one_hit_and_the_others_are_named(index, tmp_path):
    rows = rows_of(1)
    for number, year in enumerate((2024, 2022, 2023)):
        write(tmp_path / "data" / f"{year}" / "Sales.csv", rows, number)
    write(tmp_path / "data" / "2021" / "Sales.csv", rows_of(2))
    index.sync(tmp_path / "data")
    retriever = SheetRetriever(index, None)

    def years(question):
        return [hit.sheet_id[:4] for hit in retriever.retrieve(question, 5)]

    assert sorted(years("sales")) == ["2021", "2023"]  # the file that was changed last
    assert years("sales of 2022")[0] == "2022"
    assert years("sales of 2024")[0] == "2024"
    assert len(years("sales of 2023")) == 2
    hit = next(x for x in retriever.retrieve("sales of 2022", 5) if x.copies)
    assert sorted(hit.copies.equal) == ["2023/Sales.csv#Sales", "2024/Sales.csv#Sales"]
    assert hit.copies.label == "and 2 equal copies"
    assert hit.to_dict()["copies"]["equal"] == list(hit.copies.equal)
    found = str(SheetTools(index, None).find_sheets("sales of 2022", 3))
    assert "and 2 equal copies: " in found and "2024/Sales.csv#Sales" in found


def test_equal_files_meet_among_many_sheets_that_have_the_same_numbers(index, tmp_path):
    folder = tmp_path / "data"
    for year in range(1900, 1900 + 8 * NEAREST):
        write(folder / f"{year}" / "Form.csv", [*rows_of(1), f"Signed by {year},,"])
    for year in (1900, 1910, 1950):
        write(folder / f"{year}" / "Form.csv", rows_of(1))
    index.sync(folder)
    assert groups(index) == [[f"{year}/Form.csv" for year in (1900, 1910, 1950)]]


def test_a_version_beside_an_equal_file_is_said_to_be_another(index, tmp_path):
    rows = rows_of(1)
    for number, name in enumerate(("Plan_v1.csv", "old/Plan_v1.csv", "Plan_v2.csv")):
        write(tmp_path / "data" / name, [*rows, *(["more,1,2"] * (number == 2))], number)
    index.sync(tmp_path / "data")
    copies = SheetRetriever(index, None).retrieve("plan v1", 1)[0].copies
    assert (copies.label, len(copies.equal)) == ("and 2 other copies, 1 equal", 1)


# ---- any order of changes

POOL = 5 * NEAREST  # more than a sheet is compared with


def discovered(number):
    """One of many workbooks: two names, and cells that some share, far apart in their order."""
    name = "Orders" if number % 9 == 0 else "Plan"
    path = f"{name}_v{number}.csv"
    record = SheetRecord(f"{path}#S", "S", workbook=path, path=path, content_hash=f"{number}")
    place = number * 3 % POOL  # those next to it are 27 versions away
    own = [1 + 3 * number, 2 + 3 * number, 3 + 3 * number]  # those of blocks are no other's
    shared = range(1000 + 4 * place, 1010 + 4 * place)
    cells = tuple(each << 16 for each in (*own, *shared))
    sketch = CellSketch("S", 0, len(cells), 0, cells)
    claims = Claims(copies=copy_claims([record], [sketch]))
    row = SheetRow(record, np.ones(4, dtype=np.float32) / 2)
    state = WorkbookState("/r", path, 1, START * 10**9, 0, f"{number}")
    return state, row, Discovery(claims=claims)


def made(folder, changes):
    """Groups after some changes: a number adds that workbook, or removes it if it is there."""
    store = create_store(Path(folder), {"fingerprint": "x"})
    there = set()
    try:
        for number, settle in changes:
            state, row, discovery = discovered(number)
            if number in there:
                store.remove_workbooks([(state.root, state.path)])
            else:
                store.replace_workbooks([NewWorkbook(state, [row], discovery)])
            there ^= {number}
            if settle:
                store.settle()
        store.settle()
        ids = store.all_sheet_ids()
        families = store.copies.families(ids)
        sets = {}
        for sheet_id, family in families.items():
            sets.setdefault(family, set()).add(sheet_id)
        return there, {frozenset(each) for each in sets.values()}
    finally:
        store.delete()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    changes=st.lists(
        st.tuples(st.integers(0, POOL - 1), st.booleans()), min_size=9, max_size=POOL // 2
    ),
    step=st.integers(2, 4),
)
def test_groups_depend_on_the_sheets_alone(tmp_path_factory, changes, step):
    folder = tmp_path_factory.mktemp("groups")
    changes = [*((number, number % 2 == 0) for number in range(0, POOL, step)), *changes]
    there, found = made(folder / "a.sat", changes)
    _there, expected = made(folder / "b.sat", [(number, False) for number in sorted(there)])
    assert found == expected


def test_made_workbooks_form_groups(tmp_path):
    _there, found = made(tmp_path / "a.sat", [(number, False) for number in range(0, POOL, 3)])
    assert found
    assert max(map(len, found)) > 2


# ---- answers


@pytest.fixture
def retriever(index, folder):
    index.sync(folder)
    return SheetRetriever(index, None)


def shown(hits):
    return [hit.sheet_id.partition(".csv")[0] for hit in hits]


def test_the_newest_stands_for_its_group_and_counts_the_others(retriever):
    hits = retriever.retrieve("plan", 3)
    assert shown(hits)[0] == "Plan_final"
    assert sum(name.startswith("Plan") for name in shown(hits)) == 1
    copies = hits[0].copies
    assert (copies.number, copies.newer, copies.label) == (3, 0, "and 3 older copies")
    assert [name.partition(".")[0] for name in copies.sheet_ids] == [
        "Plan_v2", "Plan_v1", "Plan_draft",
    ]  # fmt: skip
    assert hits[0].to_dict()["copies"]["number"] == 3
    assert not hits[1].copies


def test_all_copies_are_shown_on_demand(retriever):
    hits = retriever.retrieve("plan", 4, all_copies=True)
    assert sorted(shown(hits)) == ["Plan_draft", "Plan_final", "Plan_v1", "Plan_v2"]
    assert not any(hit.copies for hit in hits)
    assert len(retriever.retrieve_set("plan", 9, all_copies=True)) > 0


def test_a_question_that_names_a_version_gets_it(retriever):
    (hit,) = retriever.retrieve("v1 of the plan", 1)
    assert shown([hit]) == ["Plan_v1"]
    assert hit.copies.newer == 2
    assert hit.copies.label == "and 3 other copies"
    assert shown(retriever.retrieve("plan draft", 1)) == ["Plan_draft"]


def test_the_newest_is_the_newest_that_meets_the_filters(retriever):
    (hit,) = retriever.retrieve("plan", 1, Filters(path="*_v[12].csv"))
    assert shown([hit]) == ["Plan_v2"]
    assert hit.copies.number == 1


def test_copies_count_within_the_period_and_the_role_that_are_asked_for(index, tmp_path):
    rows = rows_of(1)
    for day in ("2023-12-25", "2024-01-01", "2024-01-08"):
        write(tmp_path / "data" / f"Orders {day}.csv", rows)
    index.sync(tmp_path / "data")
    [name] = [each for each in index.sheet_ids() if "2024-01-01.csv" in each]
    everywhere = index.copies([name])[name].number
    assert everywhere == 2
    counts = {"2024": 1, "2023 to 2024": 2}
    for period, number in counts.items():
        assert index.copies([name], Filters(period=period))[name].number == number
    assert index.copies([name], Filters(role="data"))[name].number == everywhere


def test_a_period_in_the_question_finds_the_copy_of_that_period(index, tmp_path):
    rows = rows_of(1)
    for day in ("2024-01-29", "2024-02-05", "2024-02-12"):
        write(tmp_path / "data" / f"Orders {day}.csv", rows)
    index.sync(tmp_path / "data")
    retriever = SheetRetriever(index, None)
    assert shown(retriever.retrieve("orders", 1)) == ["Orders 2024-02-12"]
    assert shown(retriever.retrieve("orders in January 2024", 1)) == ["Orders 2024-01-29"]
    assert shown(retriever.retrieve("orders in February 2024", 1)) == ["Orders 2024-02-12"]


def test_copies_take_no_places_from_other_sheets(index, tmp_path):
    rows = rows_of(1)
    for number in range(90):
        write(tmp_path / "data" / f"Plan_v{number}.csv", rows)
    for number in range(60):
        write(tmp_path / "data" / f"Other {number} thing.csv", rows_of(100 + number))
    index.sync(tmp_path / "data")
    question = index.question("plan")
    found = index.search.found(question, 50).candidates
    assert len(found) == 50
    assert [each.rank for each in found] == list(range(1, 51))
    assert sum(each.sheet_id.startswith("Plan") for each in found) == 1
    assert found[0].score == index.candidates(question, 1)[0].score
    assert len(index.search.found(question, 500)) == 61
    hit = SheetRetriever(index, LinkReranker()).retrieve("plan", 1)[0]
    assert hit.copies.number == 89
    assert len(hit.copies.sheet_ids) == 20
    assert hit.copies.sheet_ids[0] == "Plan_v88.csv#Plan_v88"


def test_a_ranking_keeps_its_candidates_where_nothing_has_a_copy(index, tmp_path):
    for number in range(4):
        write(tmp_path / "data" / f"Other {number}.csv", rows_of(number))
    index.sync(tmp_path / "data")
    question = index.question("other 2")
    assert list(index.search.found(question, 4).candidates) == index.candidates(question, 4)


# ---- tools


def test_tools_say_how_many_copies_there_are_and_list_them(index, folder):
    index.sync(folder)
    tools = SheetTools(index, None)
    found = tools.find_sheets("plan", 2)
    assert (found.sheets[0].copies, found.sheets[1].copies) == (3, 0)
    assert "and 3 older copies" in str(found)
    described = tools.describe_sheet("Plan_v2.csv#Plan_v2")
    assert described.copies.sheet_ids[0] == "Plan_final.csv#Plan_final"
    assert "Other versions, newest first (3): Plan_final.csv#Plan_final" in str(described)
