import re

import pytest

from benchmarks.corpora import CORPORA, INDUSTRYTAB_1K, shown_parts, title_of, used, where_to_get
from benchmarks.registry import TABLES
from benchmarks.results import ROOT, read_summaries
from sat_retriever.errors import CorpusError
from tests.places import needs

ONCE = ("bird_dev_evidence", "spider_train_synonym", "made_templates")


@pytest.mark.parametrize("name", ONCE)
def test_a_corpus_is_named_in_one_module(name):
    files = (ROOT / "benchmarks").rglob("*.py")
    naming = [file.name for file in files if re.search(rf"\b{name}\b", file.read_text("utf-8"))]
    assert naming == ["corpora.py"]


def test_bird_is_loaded_nowhere_else():
    files = (ROOT / "benchmarks").rglob("*.py")
    assert [file.name for file in files if "load_bird" in file.read_text("utf-8")] == ["corpora.py"]


@pytest.mark.parametrize("name", [name for name, corpus in CORPORA.items() if corpus.load])
def test_each_published_corpus_is_read_under_its_name(name):
    try:
        dataset = CORPORA[name].read(needs("data"))
    except CorpusError as error:
        pytest.skip(f"not at hand: {error}")
    assert dataset.name == CORPORA[name].dataset


def test_a_made_corpus_is_not_read():
    with pytest.raises(ValueError, match="made_templates is made, not read"):
        CORPORA["templates"].read(ROOT)


def test_the_general_model_is_judged_on_every_corpus_of_that_use():
    assert TABLES["general_tests"].arguments[2:] == tuple(used("judged"))


def test_every_data_set_of_the_shown_results_has_a_title():
    shown = ("quality", "links", "adapted")
    files = [file for name in shown for file in read_summaries(name).values()]
    assert files
    assert all(title_of(file["dataset"]) != file["dataset"] for file in files)


def test_parts_are_shown_before_the_whole():
    shown = shown_parts("untrained")
    assert list(shown)[:2] == [(INDUSTRYTAB_1K, "standard"), (INDUSTRYTAB_1K, "all")]
    assert shown["bird_dev", "all"] == "BIRD dev, question only"


def test_a_folder_of_data_is_named_once_with_its_source():
    assert where_to_get("keys").split("; ")[0].startswith("spider: https://yale-lily")
    assert where_to_get("untrained").count("bird_dev: ") == 1
