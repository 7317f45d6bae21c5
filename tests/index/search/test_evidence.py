"""What speaks for an answer: against a slow loop, with filters, phrases and unknown words."""

import math

import numpy as np
import pytest

from sat_retriever import Filters, SheetIndex, SheetRecord
from sat_retriever.index.search.scores import NO_EVIDENCE, Evidence, evidence
from sat_retriever.records.contents import CellText, SheetContents, TableContents
from sat_retriever.text.lexical import rarity
from tests.fakes import HashedEncoder


def sheet(sheet_id, name, *texts):
    """A sheet with values in its cells."""
    cells = tuple(CellText(f"A{n}", text) for n, text in enumerate(texts, 1))
    contents = SheetContents((), (TableContents(values=cells),)) if texts else None
    return SheetRecord(sheet_id, name, workbook=f"{sheet_id}.xlsx", contents=contents)


RECORDS = [
    sheet("a", "Ridership", "Kaunas", "Vilnius", "X-1042"),
    sheet("b", "Fares", "Kaunas", "Riga"),
    sheet("c", "Payroll Kaunas"),
    sheet("d", "Budget", "Travel to Riga", "Kaunas bus"),
]


@pytest.fixture
def index(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as opened:
        opened.add_records(RECORDS)
        yield opened


def by_hand(scores, rows):
    """Both numbers, word by word and sheet by sheet."""
    found = scores.matches.found
    total = sum(rarity(word.word) for word in found)
    mean = float(np.mean(scores.dense[rows]))
    fits, surprises = [], []
    for row in rows:
        covered = surprise = 0.0
        for word in found:
            places = list(filter(None, (word.names, word.contents)))
            shares = [
                float(score) / place.limit
                for place in places
                for at, score in zip(place.rows, place.scores, strict=True)
                if at == row
            ]
            having = {int(at) for place in places for at in place.rows} & set(rows)
            covered += rarity(word.word) * max(shares, default=0.0)
            surprise += math.log(len(rows) / len(having)) if shares else 0.0
        fits.append(covered / total + float(scores.dense[row]) - mean)
        surprises.append(surprise)
    best = int(np.argmax(fits))
    chance = math.log(max(2, len(rows)))
    return fits[best], surprises[best] / chance - 1


@pytest.mark.parametrize("query", ["ridership of Kaunas", "X-1042", "Kaunas Riga bus", "penguins"])
@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [1, 3], [2]])
def test_evidence_is_what_a_slow_loop_finds(index, query, rows):
    scores = index.question(query).scores
    found = evidence(scores, np.array(rows))
    assert (found.fit, found.surprise) == pytest.approx(by_hand(scores, rows), abs=1e-5)


def test_without_sheets_nothing_speaks_for_an_answer(index, tmp_path):
    with SheetIndex.create(tmp_path / "empty.sat", HashedEncoder()) as empty:
        assert empty.search.evidence(empty.question("Kaunas")) == NO_EVIDENCE
    nowhere = Filters(workbook="none.xlsx")
    assert index.search.evidence(index.question("Kaunas"), nowhere) == NO_EVIDENCE


def test_only_sheets_that_meet_the_filters_speak_for_an_answer(index):
    question = index.question("ridership of Vilnius")
    of_a, of_c = (index.search.evidence(question, Filters(workbook=f"{x}.xlsx")) for x in "ac")
    assert index.search.evidence(question) == evidence(question.scores, np.arange(4))
    assert of_a.fit > of_c.fit


def test_a_name_that_no_sheet_has_takes_more_than_a_common_word(index):
    fit = [
        index.search.evidence(index.question(f"Kaunas {word}")).fit for word in ("time", "Tallinn")
    ]
    assert fit[0] > fit[1]


def test_a_phrase_that_a_sheet_holds_covers_the_whole_question(index):
    quoted = index.question('penguins "travel to riga"').scores
    assert evidence(quoted, np.array([3])).fit == pytest.approx(1.0)
    assert evidence(index.question("penguins travel to riga").scores, np.array([3])).fit < 1


def test_evidence_is_of_the_sheets_that_there_are_now(index):
    question = index.question("ridership of Vilnius")
    before = index.search.evidence(question)
    index.remove(["a"])
    assert index.search.evidence(question).fit < before.fit
    assert isinstance(before, Evidence)
