import json

import pytest

from sat_retriever import InputError
from sat_retriever.datasets.metrics.rows import Ranked, read_run, write_run

RUN = {3: [Ranked("a b.xlsx#Sheet 1", 0.5), Ranked("ü\u2028\x85\udc80", 0.25)], 7: []}


def test_a_stored_run_comes_back_as_it_was(tmp_path):
    path = tmp_path / "answers" / "bm25.jsonl"
    write_run(path, RUN, {"method": "bm25"})
    about, run = read_run(path)
    assert run == RUN
    assert about == {"format": 1, "method": "bm25"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no run"),
        ("[]\n", "holds no run"),
        ('{"format": 1}\n{"query": 1}\n', "holds no run"),
        ('{"format": 1}\n{"query": 1, "sheets": ["a"], "scores": []}\n', "holds no run"),
        ('{"format": 2}\n', "this version reads 1"),
    ],
)
def test_a_file_that_is_no_run_is_refused(tmp_path, content, message):
    path = tmp_path / "x.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_run(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"gone\.jsonl cannot be read"):
        read_run(tmp_path / "gone.jsonl")


def test_a_stored_run_is_one_line_a_question(tmp_path):
    write_run(tmp_path / "x.jsonl", RUN, {})
    lines = (tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[1]) == {
        "query": 3,
        "sheets": ["a b.xlsx#Sheet 1", "ü\u2028\x85\udc80"],
        "scores": [0.5, 0.25],
    }
