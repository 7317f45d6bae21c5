"""What is said of a language model's row, from real answers in a real file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sat_retriever.errors import LanguageModelError
from sat_retriever.evaluation.llm import Answer, Answers, LanguageModel
from sat_retriever.evaluation.llm.methods import AskedModel
from sat_retriever.evaluation.methods import Method

GOOD = Answer(("3",), 120, 1, short=False, failed=False, seconds=0.25, digest="first")
SLOW = Answer((), None, 3, short=False, failed=True, seconds=9.0, problem="too slow")
BROKEN = replace(SLOW, problem="broken")


@pytest.fixture
def asked(tmp_path):
    """A row whose answers are these."""

    def made(*given: Answer) -> AskedModel:
        answers = Answers(tmp_path / "answers.jsonl")
        for number, answer in enumerate(given):
            answers.keep(str(number), answer)
        return AskedModel("row", Method(lambda _: []), LanguageModel(), answers)

    return made


def test_only_answers_are_timed(asked):
    assert asked(GOOD, SLOW, replace(GOOD, seconds=0.5)).seconds() == [0.25, 0.5]


def test_a_row_without_an_answer_has_no_times_and_the_most_frequent_problem_is_named(asked):
    with pytest.raises(LanguageModelError, match=r"not one of 3 .* most often: too slow$"):
        asked(BROKEN, SLOW, SLOW).seconds()


def test_answers_of_two_versions_of_a_model_are_told_apart(asked):
    one, two = asked(GOOD), asked(GOOD, replace(GOOD, digest="second"))
    assert not any("versions" in said for said in one.remarks())
    assert "row: its answers are of 2 versions of it." in two.remarks()
    assert two.counts()["digests"] == ["first", "second"]


def test_a_row_that_is_left_out_tells_what_is_kept_if_anything_is(asked):
    assert asked(SLOW).remarks(left_out=True) == []
    (said,) = asked(GOOD, SLOW).remarks(left_out=True)
    assert said.startswith("row: 1 answer so far, kept in answers.jsonl")
