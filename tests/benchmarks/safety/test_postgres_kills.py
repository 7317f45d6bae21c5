"""The check after a kill calls whole what is whole, and sees each part that is of another state."""

from contextlib import closing

import pytest

from benchmarks.safety import postgres_kills
from benchmarks.safety.postgres_kills import WIDTH, fault, replace, word_of
from sat_retriever.index.store import write
from sat_retriever.index.store.opening import create_store
from sat_retriever.index.store.place import place_of
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.text.lexical import sheet_words


@pytest.fixture
def store(tmp_path):
    with closing(create_store(place_of(tmp_path / "a.sat"), {"width": str(WIDTH)})) as made:
        yield made


def test_the_word_of_a_state_is_searched_as_it_stands():
    for state in range(0, 20_000, 7):
        word = word_of(state)
        record = SheetRecord("a#b", "b", columns=(Column("plan_id"), Column(word)))
        assert any(word in words for words in sheet_words(record)), state


@pytest.mark.parametrize("state", [0, 2, 77, 177, 999, 1000, 1077])
def test_a_whole_workbook_has_no_fault(store, state):
    replace(store, state)
    assert fault(store) is None


@pytest.mark.parametrize(
    ("module", "part", "other", "named"),
    [
        (postgres_kills, "word_of", lambda state: f"{word_of(state)}a", "records"),
        (write, "sheet_words", lambda record: sheet_words(SheetRecord("a#b", "b")), "names"),
    ],
)
def test_a_workbook_in_parts_has_one(store, monkeypatch, module, part, other, named):
    with monkeypatch.context() as patched:
        patched.setattr(module, part, other)
        replace(store, 3)
    assert fault(store) == named
