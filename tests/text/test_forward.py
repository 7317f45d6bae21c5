"""The forward index: stored and read back, matched as it was, and hostile ones refused."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import Column, IndexDamagedError, SheetRecord, Table
from sat_retriever.records.contents import CellText, SheetContents, TableContents, TextKind
from sat_retriever.text.forward import ForwardIndex, StoredContents
from sat_retriever.text.locate import QueryTerms, matches

_TEXT = st.text(st.sampled_from("aB1 +\n\t-_./ß销İ\u2028\x1f"), max_size=9)
_CELL = st.builds(CellText, st.sampled_from(["A1", "AB12", ""]), _TEXT)
_NOTE = st.builds(CellText, st.just("C3"), _TEXT, st.sampled_from(TextKind))
_TABLE = st.builds(
    TableContents, st.none() | _CELL, st.tuples(_CELL) | st.just(()), st.tuples(_CELL, _CELL)
)
_CONTENTS = st.builds(
    SheetContents, st.lists(_NOTE, max_size=2).map(tuple), st.lists(_TABLE, max_size=3).map(tuple)
)


def record(contents: SheetContents, tables: int = 2) -> SheetRecord:
    own = Table("A1:B9", 1, 1, False, 8, (Column("Net Sales", unit="EUR"), Column("ISO9001")))
    named = Table("D1:E9", 1, 1, False, 8, (Column("Kind"),), name="tblKinds")
    return SheetRecord("a#b", "b", tables=(own, named)[:tables], contents=contents)


@given(_CONTENTS, st.integers(0, 2), _TEXT)
def test_it_is_read_back_as_it_was_stored(contents, tables, question):
    own = record(contents, tables)
    texts = ForwardIndex.of(own)
    again = ForwardIndex.unpacked(texts.packed())
    assert again.contents() == contents == StoredContents(again)
    asked = QueryTerms.of(question)
    assert matches(asked, again) == matches(asked, texts)
    lines = texts.lines.split("\n") if texts.lines else []
    assert len(lines) == sum(texts.counts)
    every = [*contents.notes, *(each for table in contents.tables for each in table)]
    stored = [again.text(line) for line in range(len(lines))]
    assert [each for each in stored if each != CellText("", "")] == [
        each for each in every if each != CellText("", "")
    ]
    for place, table in enumerate(contents.tables):
        assert again.cells(place) == [each.cell for each in (*table.labels, *table.values)]


def test_names_and_headers_have_lines_but_no_cells():
    texts = ForwardIndex.of(record(SheetContents()))
    assert texts.lines.split("\n") == [
        " net sale eur ", " iso9001 + iso + 9001 ", " tbl kind ", " kind "
    ]  # fmt: skip
    assert {texts.text(line) for line in range(4)} == {CellText("", "")}


def test_stored_contents_are_like_others():
    plain = SheetContents((CellText("A9", "Source"),), (TableContents(),))
    stored = StoredContents(ForwardIndex.of(record(plain)))
    assert stored == plain
    assert plain == stored
    assert hash(stored) == hash(plain)
    assert repr(stored) == repr(plain)
    assert stored.to_json() == plain.to_json()
    assert type(pickle.loads(pickle.dumps(stored))) is SheetContents
    assert not StoredContents(ForwardIndex.of(record(SheetContents())))


@pytest.mark.parametrize(
    "plain",
    ['{}\n[1]\n', '{}\n[0]\n a ', '{}\n[2,-1,0,0,0,0]\n a ', '{}\n["a"]\n', '{}\n7\n', '{}\n['],
)  # fmt: skip
def test_words_that_do_not_fit_are_refused(plain):
    with pytest.raises((ValueError, TypeError)):
        ForwardIndex.unpacked(plain)


@pytest.mark.parametrize("texts", ["{}", "[", "[" * 100_000, '{"notes": [7], "tables": []}', "7"])
def test_texts_that_cannot_be_read_are_damage_when_they_are_looked_at(texts):
    hostile = ForwardIndex.unpacked(f"{texts}\n[1]\n a ")
    for look in (lambda: hostile.text(0), lambda: StoredContents(hostile).notes):
        with pytest.raises(IndexDamagedError, match="--verify"):
            look()
