"""The share of the cosine that validation chooses, against the index's own ranking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sat_retriever.datasets.dataset import Dataset, Split, divided_dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics import ndcg
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.fusion import DENSE_WEIGHT
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.text.lexical import LexicalScorer
from sat_retriever.train.data.reading import from_dataset, from_index
from sat_retriever.train.data.trainingdata import SHARES
from sat_retriever.train.encoder.fusion import best_share, choose_fusion
from tests.fakes import HashedEncoder

_WORDS = ("sales", "stock", "payroll", "budget", "orders", "staff", "region", "price")


def _corpus() -> Dataset:
    """Sheets in no order of ids, some of them alike; questions in words that few sheets share."""
    rng = np.random.default_rng(5)
    records = [
        SheetRecord(f"s{number:02d}", " ".join(rng.choice(_WORDS, 2)), "book.xlsx", "book.xlsx",
                    tuple(Column(str(word)) for word in rng.choice(_WORDS, 3)))
        for number in rng.permutation(30)
    ]  # fmt: skip
    queries = [
        Query(
            " ".join(rng.choice(_WORDS, 2)),
            tuple(f"s{number:02d}" for number in sorted(rng.choice(30, 1 + place % 3, False))),
        )
        for place in range(24)
    ]
    return Dataset("toy", tuple(records), tuple(queries), (), ())


def _tokens(data, encoder):
    return encoder.encode_queries(data.validation.texts), encoder.encode_sheets(data.sheets)


def test_every_share_is_measured_as_the_index_ranks_with_it(tmp_path):
    corpus, encoder = _corpus(), HashedEncoder()
    data = from_dataset(replace(corpus, split=Split(tuple(range(4)), tuple(range(4, 24)))))
    found = choose_fusion(data, data.lexical, *_tokens(data, encoder))
    assert tuple(found.ndcg) == SHARES
    with SheetIndex.create(tmp_path / "a.sat", encoder) as index:
        index.add_records(corpus.records, find_links=False)
        for share, value in found.ndcg.items():
            slow = [
                ndcg([each.sheet_id for each in ranked], query.positives, 5)
                for query in corpus.queries[4:]
                if (ranked := index.candidates(index.question(query.text, dense_weight=share), 5))
            ]
            assert value == pytest.approx(np.mean(slow), abs=1e-9), share
        own = from_index(index, divided_dataset("own", corpus.queries[:4], corpus.queries[4:]))
        again = choose_fusion(own, own.lexical, *_tokens(own, encoder))
        assert again.ndcg == pytest.approx(found.ndcg)
    assert len(set(found.ndcg.values())) > 2  # shares do differ here
    assert found.ndcg[found.dense_weight] == max(found.ndcg.values())
    assert found.metrics()["NDCG@5, dense_weight = 0.4"] == found.ndcg[0.4]


def test_times_count_as_they_do_in_the_index(tmp_path):
    encoder = HashedEncoder()
    records = [
        SheetRecord(f"{name} {year}", f"{name} {year}", columns=(Column("amount"),))
        for name in _WORDS[:4] for year in (2021, 2022, 2023)
    ]  # fmt: skip
    asked = [Query(f"{name} in FY{year - 2000}", (f"{name} {year}",))
             for name in _WORDS[:4] for year in (2021, 2022)]  # fmt: skip
    with SheetIndex.create(tmp_path / "a.sat", encoder) as made:
        made.add_records(records, find_links=False)
    found = {}
    for times in (True, False):
        with SheetIndex.open(tmp_path / "a.sat", encoder, times=times) as index:
            data = from_index(index, divided_dataset("own", asked[:1], asked))
            assert (data.times is not None) is times
            found[times] = choose_fusion(data, data.lexical, *_tokens(data, encoder)).ndcg
            slow = [
                ndcg([each.sheet_id for each in index.candidates(question, 5)], query.positives, 5)
                for query in asked
                for question in [index.question(query.text, dense_weight=0.4)]
            ]  # fmt: skip
            assert found[times][0.4] == pytest.approx(np.mean(slow), abs=1e-9)
    assert found[True][0.4] > found[False][0.4]


def test_a_given_share_is_the_only_one_to_choose_from():
    data = replace(from_dataset(replace(_corpus(), split=Split((0,), (1, 2)))), shares=(0.7,))
    found = choose_fusion(data, data.lexical, *_tokens(data, HashedEncoder()))
    assert found.dense_weight == 0.7
    assert list(found.ndcg) == [0.7]


def test_times_of_other_sheets_are_refused():
    data = from_dataset(replace(_corpus(), split=Split((0,), (1,))))
    with pytest.raises(InputError, match="times has 2 sheets"):
        replace(data, times=np.zeros((2, 5), dtype=np.int16))


def test_a_share_between_is_found_when_neither_score_is_enough():
    names = [f"{a} {b}" for a in _WORDS[:3] for b in _WORDS[3:]]
    records = tuple(
        SheetRecord(f"s{row:02d}", name, columns=(Column("x"),)) for row, name in enumerate(names)
    )
    # The words of a question say the first part, its token the second.
    queries = [Query(name.split()[0], (f"s{row:02d}",)) for row, name in enumerate(names)]
    corpus = Dataset("toy", records, tuple(queries), (), ())
    data = from_dataset(replace(corpus, split=Split((0,), tuple(range(15)))))
    width = len(_WORDS) - 3
    tokens = np.eye(width, dtype=np.float32)[[row % width for row in range(15)]]
    found = choose_fusion(data, data.lexical, tokens, tokens)
    assert found.ndcg[found.dense_weight] == pytest.approx(1.0)
    assert found.ndcg[0.0] < 0.9
    assert found.ndcg[1.0] < 0.9
    assert found.dense_weight == DENSE_WEIGHT  # nearest of those that are equal


@pytest.mark.parametrize(
    ("best", "chosen"),
    [((0.6, 0.7, 0.8), 0.6), ((0.0, 0.1), 0.1), ((0.3, 0.5), 0.3), (SHARES, 0.4), ((1.0,), 1.0)],
)
def test_of_equal_shares_the_one_nearest_to_the_default_is_taken(best, chosen):
    assert DENSE_WEIGHT == 0.4
    curve = {share: 0.8 + 1e-12 * share if share in best else 0.7 for share in SHARES}
    assert best_share(curve) == chosen


def test_fewer_sheets_than_the_metric_looks_at_are_no_reason_to_stop():
    corpus = _corpus()
    one = replace(corpus, records=corpus.records[:1])
    question = Query("sales", (one.records[0].sheet_id,))
    data = from_dataset(replace(one, queries=(question, question), split=Split((0,), (1,))))
    token = np.ones((1, 1), dtype=np.float32)
    found = choose_fusion(data, data.lexical, token, token)
    assert set(found.ndcg.values()) == {1.0}
    assert found.dense_weight == DENSE_WEIGHT


def test_words_of_other_sheets_are_refused():
    data = from_dataset(replace(_corpus(), split=Split((0,), (1,))))
    with pytest.raises(InputError, match="lexical has 0 sheets, toy has 30"):
        replace(data, lexical=LexicalScorer.of(()))
