"""Texts outside of tables: captions and notes."""

import datetime as dt

from sat_retriever.records.area import Area
from sat_retriever.workbook.tables.notes import MAX_NOTE, NOTE_ROOM, caption_of, texts_outside
from sat_retriever.workbook.values.cells import cells_of
from sat_retriever.workbook.values.grid import Grid

TABLE = Area(4, 0, 6, 2)  # 0-based


def outside(above=(), below=(), merges=()):
    """The caption of a table with three rows above and any below, and the notes' texts."""
    head = [list(row) for row in above]
    rows = [[]] * (4 - len(head)) + head + [["Name", "Age", "Town"], ["Ada", 1, "Riga"], ["Bo", 2]]
    cells = cells_of(Grid(rows + [list(row) for row in below]), merges)
    notes = texts_outside(cells, [TABLE])
    caption = caption_of(notes, cells, TABLE)
    return caption and caption.text, [note.text for note in notes]


def test_the_text_directly_above_is_the_caption():
    assert outside([["People"]])[0] == "People"
    assert outside([["People"], []])[0] == "People"
    assert outside([["People"], [], []])[0] is None


def test_of_several_rows_above_the_first_is_the_caption():
    assert outside([["People"], ["in persons"]])[0] == "People"
    assert outside([["ACME"], ["People"], ["in persons"], ["as planned"]])[0] == "People"
    assert outside([["ACME"], [], ["People"]])[0] == "People"


def test_a_numbered_text_is_the_caption_above_or_below():
    above = [["Table 3: People"], ["in persons"], ["rounded"], ["planned"]]
    assert outside(above)[0] == "Table 3: People"
    assert outside([["T30", "Tabelle 3: People"], ["in persons"]])[0] == "Tabelle 3: People"
    assert outside((), [[], ["Table 3: People"]])[0] == "Table 3: People"
    assert outside((), [["Source: survey"]])[0] is None
    assert outside([["tablets"], ["People"]])[0] == "tablets"


def test_an_address_of_a_page_is_no_caption():
    assert outside([["https://example.org/a"]])[0] is None
    assert outside([["People"], ["https://example.org/a"]])[0] == "People"


def test_a_merged_title_over_the_table_is_its_caption_and_a_text_far_right_is_not():
    assert outside([[None, "People"]], (), [Area(4, 2, 4, 3)])[0] == "People"
    assert outside([[None] * 5 + ["People"]])[0] is None


def test_texts_and_dates_outside_are_notes_once_each_and_numbers_are_not():
    below = [
        ["  Source:\nsurvey "],
        [dt.datetime(2020, 1, 2)],
        [7, 2020],
        ["Source: survey"],
        ["-"],
    ]
    assert outside((), below)[1] == ["Source: survey", "2020-01-02"]


def test_notes_are_cut_and_bounded():
    assert outside((), [["x" * 2000]])[1] == ["x" * MAX_NOTE]
    notes = outside((), [[f"remark {n} " * 9] for n in range(2000)])[1]
    assert 200 < len(notes) < 2000
    assert sum(map(len, notes)) < NOTE_ROOM
    assert any("remark 19" in text for text in notes)
