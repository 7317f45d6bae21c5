"""The corpora that "nothing there" is measured on."""

from __future__ import annotations

from functools import partial

import pytest

from benchmarks.corpora import CORPORA
from benchmarks.nothing.corpora import CHOSEN, TESTS
from tests.places import needs

READ = [each for each in {**CHOSEN, **TESTS}.values() if isinstance(each.read, partial)]


@pytest.mark.parametrize("searched", READ, ids=lambda each: each.name)
def test_every_corpus_that_is_read_is_a_known_one(searched):
    assert {name for name in searched.read.args if name not in CORPORA} == set()


def test_no_question_of_eps_is_for_choices_and_a_test():
    data = needs("data/eps").parent
    whole = CORPORA["eps_whole"].read(data)
    asked = {whole.queries[place].text for place in TESTS["eps_whole"].parts(whole)["test"]}
    chosen = {query.text for query in CORPORA["eps_development"].read(data).queries}
    assert asked and chosen
    assert not asked & chosen
