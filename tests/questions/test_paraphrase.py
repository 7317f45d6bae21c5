import json

import pytest

from sat_retriever.datasets.labels import Query
from sat_retriever.errors import InputError, LanguageModelError
from sat_retriever.questions.generate import Made
from sat_retriever.questions.paraphrase import MAX_LENGTH, reworded


def question(text, *fixed):
    return Made(Query(text, ("a",), ("b",), query_type="semantic_lookup"), fixed)


PAY = question("Find all Acme payroll sheets for Q3 2024", "Acme", "Q3 2024")
STAFF = question("List the Bolt staff lists", "Bolt")
JOIN = question("Join pay and staff on Employee ID", "Employee ID")


class Answering:
    """A model that gives the answers it was made with, by what is asked."""

    def __init__(self, answers, fail_after=99):
        self.answers, self.fail_after, self.prompts = answers, fail_after, []

    def ask(self, prompt, schema, *, seed=0):
        if len(self.prompts) >= self.fail_after:
            raise LanguageModelError("gone")
        self.prompts.append(prompt)
        numbered = (line.partition(". ") for line in prompt.splitlines())
        asked = {number: text.partition(" [keep")[0] for number, dot, text in numbered if dot}
        return {
            "rewordings": [
                {"number": int(number), "text": self.answers[text]}
                for number, text in asked.items()
                if text in self.answers
            ]
        }


def texts(result):
    return [each.query.text for each in result.made]


def test_a_rewording_that_keeps_every_name_and_time_replaces_the_text_and_nothing_else(tmp_path):
    chat = Answering({PAY.query.text: "Where did  ACME pay people in q3 2024?"})
    result = reworded([PAY], chat, tmp_path / "cache.json")
    [made] = result.made
    assert made.query.text == "Where did ACME pay people in q3 2024?"
    assert (made.query.positives, made.fixed) == (PAY.query.positives, PAY.fixed)
    assert (result.reworded, result.kept) == (1, 0)
    assert "[keep: Acme; Q3 2024]" in chat.prompts[0]


@pytest.mark.parametrize(
    "answer",
    [
        "Where did Acme pay people in the third quarter?",  # lost the period
        "",
        "Acme Q3 2024 " * MAX_LENGTH,
        STAFF.query.text,
    ],
)
def test_a_rewording_that_loses_something_is_not_taken_and_counted(tmp_path, answer):
    chat = Answering({PAY.query.text: answer, STAFF.query.text: "Who works at Bolt?"})
    result = reworded([PAY, STAFF], chat, tmp_path / "cache.json")
    assert texts(result) == [PAY.query.text, "Who works at Bolt?"]
    assert (result.reworded, result.kept) == (1, 1)


def test_two_questions_never_get_one_text(tmp_path):
    same = "Acme Q3 2024 and Bolt"
    chat = Answering({PAY.query.text: same, STAFF.query.text: same})
    result = reworded([PAY, STAFF], chat, tmp_path / "cache.json")
    assert texts(result) == [same, STAFF.query.text]


def test_a_question_the_model_leaves_out_keeps_its_text(tmp_path):
    result = reworded([PAY, STAFF], Answering({}), tmp_path / "cache.json")
    assert texts(result) == [PAY.query.text, STAFF.query.text]
    assert result.kept == 2


def test_a_second_run_asks_nothing_and_gives_the_same(tmp_path):
    path = tmp_path / "cache.json"
    chat = Answering({PAY.query.text: "Acme, Q3 2024, pay"})
    first = reworded([PAY, STAFF, JOIN], chat, path, batch=2)
    assert len(chat.prompts) == 2
    silent = Answering({}, fail_after=0)
    assert reworded([PAY, STAFF, JOIN], silent, path, batch=2) == first


def test_a_run_that_breaks_goes_on_where_it_was(tmp_path):
    path = tmp_path / "cache.json"
    answers = {PAY.query.text: "Acme, Q3 2024, pay", STAFF.query.text: "Bolt people"}
    with pytest.raises(LanguageModelError):
        reworded([PAY, STAFF], Answering(answers, fail_after=1), path, batch=1)
    assert list(json.loads(path.read_text(encoding="utf-8"))["answers"]) == [PAY.query.text]
    chat = Answering(answers)
    result = reworded([PAY, STAFF], chat, path, batch=1)
    assert texts(result) == ["Acme, Q3 2024, pay", "Bolt people"]
    assert len(chat.prompts) == 1


@pytest.mark.parametrize("content", ["{", "[]", '{"format": 2, "answers": {}}'])
def test_another_file_in_place_of_the_cache_is_refused(tmp_path, content):
    path = tmp_path / "cache.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"cache\.json"):
        reworded([PAY], Answering({}), path)
    assert path.read_text(encoding="utf-8") == content


@pytest.mark.parametrize("answer", ["text", None, {"rewordings": [{"number": "1"}, 3, None]}])
def test_an_answer_of_another_form_changes_nothing(tmp_path, answer):
    class Odd:
        def ask(self, prompt, schema, *, seed=0):
            return answer

    assert texts(reworded([PAY], Odd(), tmp_path / "cache.json")) == [PAY.query.text]


def test_a_batch_of_nothing_is_refused(tmp_path):
    with pytest.raises(InputError, match="batch"):
        reworded([PAY], Answering({}), tmp_path / "cache.json", batch=0)
