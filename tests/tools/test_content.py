import shutil
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sat_retriever import Answer, Content, InputError, SheetIndex, SheetRetriever, hit_text
from sat_retriever.records.contents import CellText
from sat_retriever.records.hits import NOTHING
from sat_retriever.tools.cells import cell_table, cell_text, estimated_tokens, shortened
from sat_retriever.tools.content import answer_readers
from tests.builders import indexed as indexed_folder
from tests.builders import save_book, transit
from tests.fakes import HashedEncoder

ROWS = [["Region", "Note"], ["North", "a|b\nc"], ["South", "<b>"]]


@pytest.fixture
def indexed(tmp_path):
    rows = [["A long title of the report"], [], *ROWS, *[[f"R{n}", n] for n in range(300)]]
    save_book(tmp_path / "books" / "Sales.xlsx", Q1=rows)
    with indexed_folder(tmp_path / "books", tmp_path / "i.sat") as index:
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


@example([[""], [""], [""] * 7], 186, "html", set(), 1)
@given(
    st.lists(st.lists(st.text(max_size=30) | st.integers(), min_size=1, max_size=9), max_size=9),
    st.integers(40, 400),
    st.sampled_from(["markdown", "html"]),
    st.sets(st.integers(20, 40)),
    st.integers(1, 5),
)
def test_no_table_is_longer_than_asked_for_unless_one_cell_is(rows, most, form, wanted, least):
    table = cell_table(
        rows, top=998, left=25, form=form, max_tokens=most, wanted=wanted, least_rows=least
    )
    assert estimated_tokens(table.text) <= most or (table.rows, table.columns) == (1, 1)
    assert table.rows <= len(rows)


def test_of_a_wide_table_the_columns_and_rows_that_match_are_shown(tmp_path):
    rows = [["Fuel", *(f"Year {year}" for year in range(1900, 2050))]]
    for number, fuel in enumerate(("Coal", "Peat", "Wood", "Gas", "Oil", "Hydrogen", "Wind")):
        rows.append([fuel, *(1_000_000 * number + year for year in range(1900, 2050))])
    save_book(tmp_path / "books" / "use.xlsx", Sheet=rows)
    with indexed_folder(tmp_path / "books", tmp_path / "i.sat") as index:
        [hit] = SheetRetriever(index).retrieve("hydrogen use in year 2041", 1)
        text = hit_text(index, hit)
    lines = text.splitlines()
    assert "Year 2041" in text and "5002041" in text
    assert [line[:15] for line in lines[-2:]] == ["| 7 | Hydrogen ", "| 8 | Wind | 60"]
    assert estimated_tokens(text) <= 512


@pytest.mark.parametrize("columns", [8, 20, 40, 100])
@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_wide_sheet_still_shows_its_first_columns(tmp_path, columns, form):
    rows = [[row * n for n in range(columns)] for row in range(20)]
    save_book(tmp_path / "books" / "a.xlsx", Sheet=[[f"Header {n}" for n in range(columns)], *rows])
    with indexed_folder(tmp_path / "books", tmp_path / "i.sat") as index:
        [record] = index.records(index.sheet_ids()).values()
        text = hit_text(index, record, Content(form))
    assert "Header 0" in text and text.startswith("a.xlsx#Sheet!A1:")
    assert estimated_tokens(text) <= 512


def test_long_texts_are_cut_and_say_so():
    assert len(cell_text("x" * 900)) == 200
    assert shortened("one two three four", 2).endswith("…")
    assert estimated_tokens(shortened("word " * 99, 20)) <= 20


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """An index that keeps contents."""
    with SheetIndex.open(transit(tmp_path_factory.mktemp("kept")), HashedEncoder()) as index:
        yield index


def hit(index, question, sheet):
    found = SheetRetriever(index, None).retrieve(question, 5)
    return next(each for each in found if each.record.sheet == sheet)


def test_by_default_a_model_reads_the_table_that_answers(kept):
    lines = hit_text(kept, hit(kept, "trips of MTA New York City Transit", "Data")).splitlines()
    assert lines[0] == "Transit.xlsx#Data!A2:B5"
    assert lines[4:] == ["| 2 | Operator | Trips |", "| 3 | MTA New York City Transit | 3 |",
                         "| 4 | Metro North | 4 |", "| 5 | LIRR | 9 |"]  # fmt: skip


@pytest.mark.parametrize("more", [-1, 0, 400])
def test_the_first_text_says_if_nothing_seems_to_answer_within_its_tokens(kept, more):
    most = 16 + estimated_tokens(f"{NOTHING}\n\n") + more
    answer = SheetRetriever(kept, None).retrieve("trips of MTA New York City Transit", 3)
    content = Content(max_tokens=most)
    plain = [hit_text(kept, each, content) for each in answer]
    assert [read() for read in answer_readers(kept, answer, content)] == plain
    answer.answered = False
    first, *rest = [read() for read in answer_readers(kept, answer, content)]
    assert rest == plain[1:]
    assert estimated_tokens(first) <= most
    assert first.startswith(NOTHING) == (more >= 0)
    assert first.removeprefix(f"{NOTHING}\n\n")
    assert answer_readers(kept, Answer(answered=False), content) == []


def test_of_a_long_table_a_model_reads_the_matched_rows_below_the_headers(kept):
    found = hit(kept, "people of town 444", "Cities")
    lines = hit_text(kept, found, Content(max_tokens=190)).splitlines()
    assert lines[4:6] == ["| 1 | Code | City | People |", "| 444 | C-0442 | Town 442 | 442 |"]
    assert "| 446 | C-0444 | Town 444 | 444 |" in lines
    whole = hit_text(kept, found, Content(max_tokens=700)).splitlines()
    assert whole[5].startswith("| 436 |") and whole[-1].startswith("| 456 |")


def test_rows_far_down_a_table_that_is_cited_whole_are_shown(kept):
    found = hit(kept, "which codes are there of towns 5000", "Cities")
    assert found.part is None
    far = replace(found, why=replace(found.why, cells=(CellText("B446", "Town 444"),)))
    assert "| 446 | C-0444 | Town 444 | 444 |" in hit_text(kept, far, Content(max_tokens=190))
    near = replace(found, why=replace(found.why, cells=(CellText("B46", "Town 44"),)))
    assert "| 46 | C-0044 | Town 44 | 44 |" in hit_text(kept, near, Content(max_tokens=190))


def test_headers_alone_are_an_option(kept):
    found = hit(kept, "cost of a ferry", "Data")
    text = hit_text(kept, found, Content("record"))
    assert text.startswith("name: Transit__Data ; shape: 13 x 2") and "Ferry" not in text


@pytest.mark.parametrize("question", ["people of town 444", "cost of a ferry", "trips", "C-0003"])
@pytest.mark.parametrize("form", ["answer", "html"])
@pytest.mark.parametrize("most", [16, 40, 90, 512])
def test_answers_have_no_more_tokens_than_asked_for(kept, question, form, most):
    for found in SheetRetriever(kept, None).retrieve(question, 5):
        assert 0 < estimated_tokens(hit_text(kept, found, Content(form, most))) <= most


def test_a_sheet_without_contents_is_its_record_by_default(tmp_path):
    with SheetIndex.open(transit(tmp_path, contents="examples"), HashedEncoder()) as index:
        found = hit(index, "cost of a ferry", "Data")
        text = hit_text(index, found)
        assert text.startswith("name: Transit__Data ; shape: 13 x 2")
        assert text == hit_text(index, found.record) == hit_text(index, found, Content("record"))
