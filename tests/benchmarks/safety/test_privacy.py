import sqlite3
import zlib
from contextlib import closing

import pytest

from benchmarks.safety.privacy import LEVELS, figures, steps
from benchmarks.safety.privacy_books import NAMED, Marks, write_books
from benchmarks.safety.privacy_bytes import found_marks, haystack, values
from sat_retriever import read_workbook


def test_a_mark_is_found_however_it_is_kept(tmp_path):
    marks = Marks()
    plain, packed, turned, wide = marks.row("text", 4)
    whole, broken = marks.number("number"), marks.number("number")
    marks.text("text")  # this one is nowhere
    with closing(sqlite3.connect(tmp_path / "a.sat")) as opened, opened:
        opened.execute("CREATE TABLE kept (value)")
        for value in (plain.upper(), zlib.compress(f"of {packed}".encode()), turned[::-1],
                      wide.encode("utf-16-le"), whole, broken + 0.25):  # fmt: skip
            opened.execute("INSERT INTO kept VALUES (?)", (value,))
    assert found_marks(haystack(tmp_path), marks) == {"text": 4, "number": 2}


def test_a_packed_part_that_is_cut_off_is_searched_up_to_there(tmp_path):
    marks = Marks()
    text = " ".join(marks.row("text", 400))
    packed = zlib.compress(text.encode())
    (tmp_path / "a").write_bytes(b"before" + packed[: len(packed) // 2])
    assert 0 < found_marks(haystack(tmp_path), marks)["text"] < 400


def test_words_and_rows_of_an_index_are_values(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.sat")) as opened, opened:
        opened.execute("CREATE TABLE sheets (name, size)")
        opened.execute("INSERT INTO sheets VALUES ('fares', 7)")
        for table in ("lexical", "content_words"):
            opened.execute(f"CREATE VIRTUAL TABLE {table} USING fts5 (words)")
            opened.execute(f"INSERT INTO {table} VALUES ('of {table}')")
    found = set(values(tmp_path / "a.sat"))
    assert {b"fares", b"7", b"lexical", b"content", b"of"} <= found


def test_every_file_that_can_be_read_has_its_marks_in_its_records(tmp_path):
    marks = write_books(tmp_path / "books", None)
    assert len({text for texts in marks.texts.values() for text in texts}) == sum(
        map(len, marks.texts.values())
    )
    read = [read_workbook(path) for path in sorted((tmp_path / "books").iterdir())]
    said = str([book.records for book in read])
    for kind in ("data", "header", "sheet", "hidden", "skipped", "caption", "unheaded", "note"):
        assert sum(text in said for text in marks.texts[kind]) > 0.9 * len(marks.texts[kind]), kind
    assert any(book.skipped for book in read)


@pytest.mark.slow
@pytest.mark.parametrize(("level", "kept"), [("names", False), ("all", True)])
def test_cells_are_found_at_all_and_not_at_names(level, kept, tmp_path):
    found = {step.name: figures(step) for step in steps(LEVELS[level], tmp_path / "w", None)}
    indexed = found["indexed"]
    assert (indexed["found_in_cells"] > 0, indexed["hashes_of_cells"] > 0) == (kept, kept)
    assert indexed["found_in_names"] > 0
    assert (indexed["found_unheaded"] > 0) == kept
    assert all(f"{kind}_found" in indexed for kind in NAMED)
    gone = found["removed_verified"]
    assert gone["found_in_cells"] == gone["found_in_names"] == gone["found_unheaded"] == 0
