"""The link benchmark on a corpus small enough to know the answers."""

import json

import pytest

from benchmarks.links import quality as links_quality
from benchmarks.unlabelled.quality import QuerySet
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.errors import CorpusError
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Column, SheetRecord
from tests.fakes import HashedEncoder


def table(number, workbook, name, *headers):
    return SheetRecord(number, name, workbook, columns=tuple(Column(h) for h in headers))


RECORDS = (
    table("0", "Music", "Singer", "Singer_ID", "Name"),
    table("1", "Music", "Concert", "Concert_ID", "Singer_ID", "Year"),
    table("2", "School", "Pupil", "Pupil_ID", "Age"),
)


@pytest.fixture
def asked():
    queries = (Query("year of the concert", ("1", "0")), Query("age of a pupil", ("2",)))
    return QuerySet(Dataset("toy", RECORDS, queries), "validation", (0, 1))


def test_every_method_is_measured_on_the_same_candidates(asked):
    given = [Link("1", "0", "join_key")]
    found = list(links_quality.measure([asked], given, HashedEncoder(), "hashed"))
    assert [each.method for each in found] == [
        "fused_hashed", "pagerank_found_hashed", "siblings_hashed", "pagerank_given_hashed",
    ]  # fmt: skip
    linked = found[-1].metrics
    assert linked["queries"] == 2
    assert linked["links"] == {"join_key": 1}
    assert linked["one_gold"]["queries"] == linked["more_gold"]["queries"] == 1
    assert linked["against_fused"]["Recall@10"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    assert linked["complete_set"]["best_fixed"]["k"] in links_quality.SIZES


def test_only_found_links_are_measured_without_given_ones(asked):
    found = links_quality.measure([asked], (), HashedEncoder(), "hashed")
    assert not any(each.method.startswith("pagerank_given") for each in found)


def test_differences_are_the_mean_of_the_gaps_query_by_query(asked):
    fused, *_ = links_quality.measure([asked], (), HashedEncoder(), "hashed")
    assert "against_fused" not in fused.metrics
    with_gold = {0: ["1", "0", "2"], 1: ["2"]}
    without = {0: ["1", "2"], 1: ["0"]}

    def run(ranking):
        return {
            place: [Candidate(name, n, 1 / n, 1, 1, n, n) for n, name in enumerate(names, start=1)]
            for place, names in ranking.items()
        }

    gaps = links_quality.compared(asked, run(with_gold), run(without))
    assert gaps["Recall@10"]["mean"] == (0.5 + 1.0) / 2
    assert gaps["AllRelevant@10"]["mean"] == 1.0
    assert gaps["Recall@1"]["mean"] == 0.5


def test_foreign_keys_of_bird_become_links(tmp_path):
    path = tmp_path / "dev_tables.json"
    database = {
        "db_id": "music",
        "table_names_original": ["singer", "concert", "gone"],
        "column_names_original": [[-1, "*"], [0, "Singer_ID"], [1, "Singer_ID"], [2, "x"]],
        "foreign_keys": [[2, 1], [3, 1], [1, 1]],
    }
    path.write_text(json.dumps([database]))
    evidence = "concert.Singer_ID = singer.Singer_ID"
    assert links_quality.bird_links(path, RECORDS) == (Link("1", "0", "join_key", 1.0, evidence),)


@pytest.mark.parametrize("text", ["", "[1]", '[{"db_id": "a"}]', '{"db_id": 3}'])
def test_another_file_than_bird_s_is_refused(tmp_path, text):
    path = tmp_path / "dev_tables.json"
    path.write_text(text)
    with pytest.raises(CorpusError, match=r"dev_tables\.json"):
        links_quality.bird_links(path, RECORDS)
