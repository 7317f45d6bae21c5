"""Statements of the benchmark: five hundred different ones, the same each time."""

from itertools import islice

from benchmarks.answers.hostile_sql import COUNT, statements


def test_there_are_five_hundred_different_statements_the_same_each_time(tmp_path):
    secret = tmp_path / "secret.csv"
    found = list(islice(statements(secret), COUNT))
    assert len(set(found)) == COUNT
    assert found == list(islice(statements(secret), COUNT))
    assert sum(str(secret) in each for each in found) > 50
    assert sum("written" in each for each in found) > 5
