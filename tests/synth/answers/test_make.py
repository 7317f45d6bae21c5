"""The answers of a corpus: of all kinds, the same for the same options, and only if wanted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.answers.made_sql import same_rows
from sat_retriever.datasets.sheets import load_sheets
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.synth.answers.ask import KINDS
from sat_retriever.synth.answers.make import ANSWERS, read_answers
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import SynthOptions
from sat_retriever.tools.sql.query import query_over
from tests.fakes import HashedEncoder

OPTIONS = SynthOptions("60", seed=2, years="2023-2024", queries=10, answers=30)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with answers."""
    out = tmp_path_factory.mktemp("made") / "corpus"
    assert sum(synthesize(out, OPTIONS, workers=1).answers.values()) == OPTIONS.answers
    return out


def test_every_kind_is_asked_in_equal_parts(corpus):
    assert Counter(each["kind"] for each in read_answers(corpus / ANSWERS)) == {
        kind: OPTIONS.answers // len(KINDS) for kind in KINDS
    }


def test_every_answer_has_rows_and_names_sheets_of_the_corpus(corpus):
    ids = {f"{each.path}#{each.sheet}" for each in load_sheets(corpus / "sheets.json")}
    for each in read_answers(corpus / ANSWERS):
        assert each["rows"] and set(each["sheets"]) <= ids
        assert each["question"][-1] in "?." and each["sql"].startswith("SELECT ")
        if each["kind"] == "lookup":
            assert len(each["cells"]) == len(each["rows"]) == 1
        if each["kind"] == "unit":
            assert each["unit"]["unit"]
        if each["kind"] == "join":
            assert len(each["tables"]) == 2


def test_a_figure_of_all_lines_of_a_statement_counts_those_that_sum_up_others(corpus):
    root, out = corpus / "workbooks", corpus.parent / "read.sat"
    with SheetIndex.create(out, HashedEncoder()) as index:
        index.sync([root])
        told = [each for each in read_answers(corpus / ANSWERS) if "totals" in each]
        assert told and all(each["totals"] and each["kind"] != "lookup" for each in told)
        for each in told:
            found = query_over(index, each["tables"], totals=True).run(each["sql"])
            assert same_rows(each["rows"], found.rows, ordered=False)


def test_equal_options_give_equal_bytes_on_any_number_of_cores(corpus, tmp_path):
    synthesize(tmp_path / "again", OPTIONS, workers=2)
    for file in (path for path in corpus.rglob("*") if path.is_file()):
        assert (tmp_path / "again" / file.relative_to(corpus)).read_bytes() == file.read_bytes()


def test_without_answers_there_is_no_file_and_no_entry(tmp_path):
    report = synthesize(tmp_path / "own", SynthOptions("12", queries=2, years="2024"), workers=1)
    assert report.answers == {} and not (tmp_path / "own" / ANSWERS).exists()
    manifest = json.loads((tmp_path / "own" / "corpus.json").read_text(encoding="utf-8"))
    assert "answers" not in manifest and "answers" not in manifest["options"]


def test_a_corpus_that_is_made_again_without_answers_has_none_left(tmp_path):
    out = tmp_path / "own"
    synthesize(out, SynthOptions("12", queries=2, years="2024", answers=6), workers=1)
    assert (out / ANSWERS).exists()
    synthesize(out, SynthOptions("12", queries=2, years="2024"), workers=1, force=True)
    assert not (out / ANSWERS).exists()


@pytest.mark.parametrize(
    "options", [SynthOptions("paper-614", answers=5), SynthOptions("12", answers=-1)]
)
def test_what_cannot_be_answered_is_refused(options, tmp_path):
    with pytest.raises(InputError, match="answers"):
        synthesize(tmp_path / "own", options)
