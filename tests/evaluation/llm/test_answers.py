"""Kept answers on a real disk: whole, torn, of other settings and of other programs."""

import json
import os
from dataclasses import asdict, replace

import pytest

from sat_retriever import InputError, OutputError
from sat_retriever.evaluation.llm import Answer, Answers, LanguageModelSettings
from sat_retriever.evaluation.llm.answers import key_of

GOOD = Answer(("3", "1"), 120, 1, short=True, failed=False, seconds=0.25)
FAILED = Answer((), None, 3, short=False, failed=True, seconds=9.0, problem="too slow")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs" / "answers.jsonl"


def test_an_answer_is_found_again_in_a_file_that_is_opened_anew(path):
    Answers(path).keep("a", GOOD)
    again = Answers(path)
    assert again.find("a") == GOOD
    assert again.find("b") is None
    assert again.seen == (GOOD,)


def test_a_failed_answer_is_counted_but_asked_again(path):
    first = Answers(path)
    first.keep("a", FAILED)
    assert first.seen == (FAILED,)
    again = Answers(path)
    assert again.find("a") is None
    again.keep("a", GOOD)
    assert again.seen == (GOOD,)
    assert Answers(path).find("a") == GOOD


def test_an_answer_that_no_longer_fits_is_neither_given_nor_counted(path):
    given = replace(GOOD, digest="old")
    Answers(path).keep("a", given)
    again = Answers(path)
    assert again.find("a", lambda answer: answer.digest == "new") is None
    assert again.seen == ()
    assert again.find("a", lambda answer: answer.digest == "old") == given


def test_answers_of_before_digests_were_kept_have_none(path):
    Answers(path).keep("a", GOOD)
    row = json.loads(path.read_text())
    del row["digest"]
    path.write_text(json.dumps(row) + "\n")
    assert Answers(path).find("a") == GOOD


def test_failed_answers_are_not_counted_as_kept(path):
    answers = Answers(path)
    answers.keep("a", GOOD)
    answers.keep("b", FAILED)
    assert (len(answers), len(Answers(path))) == (1, 1)


def test_each_answer_is_one_line_and_earlier_ones_stay_as_they_are(path):
    answers = Answers(path)
    answers.keep("a", GOOD)
    before = path.read_bytes()
    answers.keep("b", FAILED)
    assert path.read_bytes().startswith(before)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["key"] for row in rows] == ["a", "b"]
    assert rows[0]["ids"] == ["3", "1"]


def test_a_last_line_torn_anywhere_is_dropped_and_nothing_else(path):
    answers = Answers(path)
    answers.keep("a", GOOD)
    start = path.stat().st_size
    answers.keep("b", GOOD)
    whole = path.read_bytes()
    for end in range(start, len(whole)):
        path.write_bytes(whole[:end])
        torn = Answers(path)
        assert torn.find("a") == GOOD
        assert torn.find("b") is None
        assert path.read_bytes() == whole[:end]  # reading changes nothing
        torn.keep("b", GOOD)
        torn.keep("c", GOOD)
        assert path.read_bytes()[: len(whole)] == whole
        assert Answers(path).find("c") == GOOD


@pytest.mark.parametrize(
    "content",
    ["notes of mine", "notes\n", '{"format": 2, "key": "a"}\n', '{"format": 1}\n', "[]\n", "\n\n"],
)
def test_another_programs_file_is_refused_and_left_alone(path, content):
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(InputError, match=r"move the file away, or choose another folder \(--out\)"):
        Answers(path)
    assert path.read_text() == content


def test_a_broken_line_in_the_middle_is_named(path):
    Answers(path).keep("a", GOOD)
    path.write_bytes(path.read_bytes() + b'{"format": 1, "ke\n' + path.read_bytes())
    with pytest.raises(InputError, match="line 2"):
        Answers(path)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        Answers(tmp_path / "answers.jsonl" / ".." / "file" / "x.jsonl").keep("a", GOOD)


def test_every_setting_and_every_letter_of_the_prompt_is_part_of_the_key():
    settings = LanguageModelSettings()
    others = [
        replace(settings, model="m"),
        replace(settings, num_ctx=1000),
        replace(settings, num_predict=1),
        replace(settings, temperature=0.1),
        replace(settings, retry_temperature=0.3),
        replace(settings, seed=1),
        replace(settings, tries=1),
    ]
    assert len(others) == len(asdict(settings))
    keys = {key_of(asdict(each), "prompt") for each in (settings, *others)}
    keys.add(key_of(asdict(settings), "prompt."))
    assert len(keys) == len(others) + 2
    assert key_of(asdict(settings), "prompt") in keys


def test_an_answer_is_on_the_disk_before_the_next_question(path, monkeypatch):
    synced = []

    def fsync(descriptor):
        synced.append((path.read_bytes(), os.fstat(descriptor).st_ino == path.stat().st_ino))

    monkeypatch.setattr(os, "fsync", fsync)
    Answers(path).keep("a", GOOD)
    assert synced == [(path.read_bytes(), True)]
