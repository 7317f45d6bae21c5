import shutil

import openpyxl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sat_retriever import Content, SheetIndex, hit_text
from sat_retriever.errors import InputError
from sat_retriever.tools.cells import cell_table, cell_text, estimated_tokens, shortened
from tests.fakes import HashedEncoder

ROWS = [["Region", "Note"], ["North", "a|b\nc"], ["South", "<b>"]]


@pytest.fixture
def indexed(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "Q1"
    for row in [["A long title of the report"], [], *ROWS, *[[f"R{n}", n] for n in range(300)]]:
        book.active.append(row)
    (tmp_path / "books").mkdir()
    book.save(tmp_path / "books" / "Sales.xlsx")
    with SheetIndex.create(tmp_path / "i.sat", HashedEncoder()) as index:
        index.sync(tmp_path / "books")
        [(_sheet_id, record)] = index.records(index.sheet_ids()).items()
        yield index, record


def test_the_record_is_the_text_that_the_encoder_reads(indexed):
    index, record = indexed
    assert hit_text(index, record) == "name: Sales__Q1 ; shape: 305 x 2 ; columns: Region | Note"


def test_rows_begin_at_the_header_and_keep_their_numbers(indexed):
    index, record = indexed
    lines = hit_text(index, record, Content("markdown", 200)).splitlines()
    assert lines[0] == record.citation == "Sales.xlsx#Q1!A3:B305"
    assert lines[2:6] == ["|  | A | B |", "|---|---|---|", "| 3 | Region | Note |",
                          r"| 4 | North | a\|b c |"]  # fmt: skip
    html = hit_text(index, record, Content("html", 200))
    assert "<tr><td>5</td><td>South</td><td>&lt;b&gt;</td></tr>" in html


@pytest.mark.parametrize("form", ["record", "markdown", "html"])
@pytest.mark.parametrize("most", [16, 60, 512])
def test_no_text_has_more_tokens_than_asked_for(indexed, form, most):
    index, record = indexed
    text = hit_text(index, record, Content(form, most))
    assert 0 < estimated_tokens(text) <= most
    if form != "record" and most == 512:
        assert estimated_tokens(text) > most - 40  # as many rows as fit


def test_a_file_that_is_gone_or_moved_outside_gives_the_record(indexed, tmp_path):
    index, record = indexed
    file = tmp_path / "books" / "Sales.xlsx"
    shutil.move(file, tmp_path / "elsewhere.xlsx")
    assert hit_text(index, record, Content("markdown")) == hit_text(index, record)
    file.symlink_to(tmp_path / "elsewhere.xlsx")
    assert hit_text(index, record, Content("markdown")) == hit_text(index, record)
    with pytest.raises(InputError, match="outside the folder that was indexed"):
        index.file_of(record.sheet_id)


def test_unknown_forms_and_too_few_tokens_are_refused():
    with pytest.raises(InputError, match="choose one of: answer, record, markdown, html"):
        Content("xml")
    with pytest.raises(InputError, match="give 16 or more"):
        Content(max_tokens=15)


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_the_first_cell_is_there_whatever_its_length(form):
    rows = [["word " * 30] * 3] * 4
    one = cell_table(rows, top=1, left=1, form=form, max_tokens=10)
    assert (one.rows, one.columns) == (1, 1)
    three = cell_table(rows, top=1, left=1, form=form, max_tokens=600)
    assert (three.rows > 1, three.columns) == (True, 3)
    nothing = cell_table([], top=1, left=1, form=form, max_tokens=9)
    assert (nothing.rows, nothing.columns) == (0, 0)


@example([[""], [""], [""] * 7], 186, "html")
@given(
    st.lists(st.lists(st.text(max_size=30) | st.integers(), min_size=1, max_size=9), max_size=9),
    st.integers(40, 400),
    st.sampled_from(["markdown", "html"]),
)
def test_no_table_is_longer_than_asked_for_unless_one_cell_is(rows, most, form):
    table = cell_table(rows, top=998, left=25, form=form, max_tokens=most)
    assert estimated_tokens(table.text) <= most or (table.rows, table.columns) == (1, 1)
    assert table.rows <= len(rows)


@pytest.mark.parametrize("columns", [8, 20, 40, 100])
@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_wide_sheet_still_shows_its_first_columns(tmp_path, columns, form):
    book = openpyxl.Workbook()
    book.active.append([f"Header {n}" for n in range(columns)])
    for row in range(20):
        book.active.append([row * n for n in range(columns)])
    (tmp_path / "books").mkdir()
    book.save(tmp_path / "books" / "a.xlsx")
    with SheetIndex.create(tmp_path / "i.sat", HashedEncoder()) as index:
        index.sync(tmp_path / "books")
        [record] = index.records(index.sheet_ids()).values()
        text = hit_text(index, record, Content(form))
    assert "Header 0" in text and text.startswith("a.xlsx#Sheet!A1:")
    assert estimated_tokens(text) <= 512


def test_long_texts_are_cut_and_say_so():
    assert len(cell_text("x" * 900)) == 200
    assert shortened("one two three four", 2).endswith("…")
    assert estimated_tokens(shortened("word " * 99, 20)) <= 20
