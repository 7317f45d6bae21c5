import argparse
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import results
from benchmarks.paper.trained import is_done, training_results
from benchmarks.training import corpus as train_corpus
from benchmarks.training.plan import Corpus

SETTINGS = {"links": "given", "walk": False}


@pytest.fixture
def stored(tmp_path):
    """A result of the data in a file."""
    data = tmp_path / "query.json"
    data.write_text("[1]", encoding="utf-8")
    content = {
        "metrics": {"settings": SETTINGS},
        "provenance": {"data_hash": results.data_hash([data])},
    }
    return content, data


def test_a_result_of_the_same_settings_and_data_is_there_already(stored, capsys):
    assert is_done("r", stored[0], SETTINGS, [stored[1]])
    assert capsys.readouterr().out == "r is there already\n"


def test_a_result_of_other_data_is_made_again(stored):
    stored[1].write_text("[2]", encoding="utf-8")
    assert not is_done("r", stored[0], SETTINGS, [stored[1]])
    assert not is_done("r", None, SETTINGS, [stored[1]])


def test_a_result_of_other_settings_is_never_taken_for_this_one(stored):
    with pytest.raises(SystemExit, match="made with other settings"):
        is_done("r", stored[0], SETTINGS | {"walk": True}, [stored[1]])


@pytest.mark.parametrize(
    ("options", "committed"),
    [
        ({"corpus": "industrytab_1k"}, True),
        ({"corpus": "industrytab_614"}, True),
        ({"corpus": "mine"}, False),
        ({"corpus": "industrytab_1k", "limit": 5}, False),
        ({"corpus": "industrytab_1k", "set": ["epochs=1"]}, False),
    ],
)
def test_only_published_corpora_in_full_get_among_the_committed_results(options, committed):
    plain = {"out": None, "set": [], "limit": None, "runs": Path("r")}
    made = argparse.Namespace(**{**plain, **options})
    assert (training_results(made) == results.FOLDER) is committed


def test_a_corpus_that_changed_has_other_trainings(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "query.json").write_text("[]", encoding="utf-8")
    first = train_corpus.corpus_of(str(folder), "standard", 42, tmp_path, None)
    (folder / "query.json").write_text("[1]", encoding="utf-8")
    second = train_corpus.corpus_of(str(folder), "standard", 42, tmp_path, None)
    assert first.data != second.data
    assert first.label == second.label == "mine.standard.42"
    assert replace(first, data="") == Corpus(str(folder), "standard", 42)


def test_the_old_questions_of_the_614_are_a_split_of_their_own(tmp_path):
    folder = tmp_path / "industrytab_614"
    folder.mkdir()
    found = train_corpus.corpus_of("industrytab_614", "standard", 43, tmp_path, None)
    assert (found.split, found.seed, found.data, found.drawn) == ("legacy", 43, "", True)
    (folder / "query.json").write_text("[]", encoding="utf-8")
    found = train_corpus.corpus_of("industrytab_614", "standard", 43, tmp_path, None)
    assert (found.split, found.drawn) == ("standard", True)
