"""Scripted models in both frameworks: each case in two of the eight ways, all ways over all."""

import pytest

from benchmarks.answers.scripted import CASES, as_expected, outcome, ways, workbooks
from sat_retriever import SheetIndex
from tests.fakes import HashedEncoder


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = workbooks(tmp_path_factory.mktemp("in"))
    file = tmp_path_factory.mktemp("index") / "x.sat"
    with SheetIndex.create(file, HashedEncoder(512)) as made:
        made.sync([folder])
        yield made


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.name for case in CASES])
def test_a_case_ends_as_expected_in_both_frameworks(index, number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case = CASES[number]
    asked = list(ways(index, case).items())
    first, second = asked[number % 4], asked[4 + (number + 1) % 4]
    ended = {name: ask() for name, ask in (first, second)}
    assert all(as_expected(case, each) for each in ended.values()), ended
    assert outcome(ended[first[0]]) == outcome(ended[second[0]])
    assert [*tmp_path.iterdir()] == []
