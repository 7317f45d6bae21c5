import pytest

from benchmarks.unlabelled import fusion, quality
from sat_retriever.datasets import metrics
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.records.sheets import SheetRecord
from tests.fakes import HashedEncoder

NAMES = ("red apple", "green apple tart", "blue sky", "apple apple orchard", "sky")


@pytest.fixture
def asked():
    records = tuple(SheetRecord(str(number), name) for number, name in enumerate(NAMES))
    queries = (Query("apple tart of the orchard", ("0", "3")), Query("blue apple", ("2",)))
    return quality.QuerySet(Dataset("toy", records, queries), "validation", (0, 1))


@pytest.mark.parametrize(("rival", "dense_weight"), [("convex_1.0", 1.0), ("convex_0.3", 0.3)])
def test_a_convex_rival_ranks_as_the_index_does_with_that_weight(
    asked, tmp_path, rival, dense_weight
):
    with quality.build_index(asked.dataset, tmp_path / "i.sqlite", HashedEncoder()) as index:
        found = fusion.compare(asked, index)
        run = quality.rank_all(index, [asked], dense_weight)
    expected = metrics.mean(
        [
            metrics.ndcg([sheet.sheet_id for sheet in run[place]], query.positives, 5)
            for place, query in enumerate(asked.dataset.queries)
        ]
    )
    assert found[rival]["NDCG@5"] == pytest.approx(expected)
    assert set(found) == set(fusion.RIVALS)
