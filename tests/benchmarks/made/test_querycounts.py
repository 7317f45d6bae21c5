from benchmarks.made.querycounts import Spread, query_statistics
from sat_retriever.datasets.dataset import load_industrytab
from sat_retriever.datasets.labels import Query
from sat_retriever.questions.negatives import HARD_NEGATIVES, HARD_TYPES, MOST_HARD, QUESTIONS
from tests.places import needs


def test_the_published_figures_are_those_of_the_published_file():
    counted = query_statistics(load_industrytab(needs("data/industrytab_1k")).queries)
    assert counted.by_type == QUESTIONS
    assert counted.hard.largest == MOST_HARD
    for name in HARD_TYPES:
        assert counted.hard_types[name] == sum(each[name] for each in HARD_NEGATIVES.values())


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


def test_of_no_queries_all_figures_are_zero():
    found = query_statistics([])
    assert found.number == 0
    assert found.positives == found.hard == Spread(0.0, 0.0, 0)
