from pathlib import Path

import pytest

from sat_retriever.corpora import load_industrytab
from sat_retriever.labels import Query
from sat_retriever.queries.statistics import (
    Spread,
    beside_published,
    published_statistics,
    query_statistics,
)

DATA = Path(__file__).parents[3] / "shared" / "data" / "industrytab_1k"


def test_the_published_figures_are_those_of_the_published_file():
    if not DATA.is_dir():
        pytest.skip("the published corpora are not beside this checkout")
    counted = query_statistics(load_industrytab(DATA).queries)
    published = published_statistics()
    assert (counted.number, counted.by_type) == (published.number, published.by_type)
    assert counted.hard_types == published.hard_types
    for own, other in ((counted.positives, published.positives), (counted.hard, published.hard)):
        assert own.mean == pytest.approx(other.mean, abs=0.005)
        assert (own.median, own.largest) == (other.median, other.largest)


def test_figures_are_counted_a_query():
    queries = [
        Query("a", ("1",), query_type="t", dependency_type="d"),
        Query("b", ("1", "2"), (), ("3",), {"3": "same_schema_wrong_year"}, "t", "d"),
    ]
    found = query_statistics(iter(queries))
    assert found.by_type == {("t", "d"): 2}
    assert found.positives == Spread(1.5, 1.5, 2)
    assert found.hard == Spread(0.5, 0.5, 1)
    assert found.hard_types == {"same_schema_wrong_year": 1}
    rows = {name: (own, other) for name, own, other in beside_published(found)}
    assert rows["t / d"] == ("100.0 %", "0.0 %")
    assert rows["positives a query, mean"] == ("1.50", "8.05")
    assert rows["same_schema_wrong_year"][0] == "100.0 %"


def test_of_no_queries_all_figures_are_zero():
    found = query_statistics([])
    assert found.number == 0
    assert beside_published(found)[1][1] == "0.0 %"
