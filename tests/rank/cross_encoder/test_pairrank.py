from __future__ import annotations

import math

import numpy as np
import pytest

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.errors import EmptyInputError, EncoderError, FingerprintMismatchError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.cross_encoder import CrossEncoder, CrossEncoderReranker
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.serialize import Serialization, serialize
from tests.fakes import HashedEncoder

QUERY = "sales of alpha"


def test_scores_are_logit_plus_weighted_cosine(index, saved, spec):
    model = CrossEncoder.load(saved, threads=1)
    found = index.candidates(index.question(QUERY, dense_weight=1.0), 20)
    records = index.records([candidate.sheet_id for candidate in found])
    expected = {}
    for candidate in found:
        text = serialize(records[candidate.sheet_id])
        logit = float(model.logits(QUERY, [text])[0])
        expected[candidate.sheet_id] = logit + spec.blend * candidate.dense
    ranked = CrossEncoderReranker(index, model).rerank(
        index.search.candidate_set(index.question(QUERY), found)
    )
    assert [c.sheet_id for c in ranked] == sorted(expected, key=lambda s: (-expected[s], s))
    assert [c.rank for c in ranked] == list(range(1, 21))
    for candidate in ranked:
        score = expected[candidate.sheet_id]
        assert candidate.score == pytest.approx(1 / (1 + math.exp(spec.blend - score)), abs=1e-5)
    assert [c.sheet_id for c in ranked] != [c.sheet_id for c in found]
    # The order candidates come in says nothing.
    again = CrossEncoderReranker(index, model).rerank(
        index.search.candidate_set(index.question(QUERY), found[::-1])
    )
    assert [c.sheet_id for c in again] == [c.sheet_id for c in ranked]


@pytest.mark.parametrize("count", [1, 2, 36, 200])
def test_any_number_of_candidates_is_ranked_with_scores_that_descend(index, saved, count):
    index.add_records(
        [SheetRecord(f"t{row:03d}", f"beta {row}") for row in range(count)], find_links=False
    )
    found = index.candidates(QUERY, count)
    ranked = CrossEncoderReranker.load(index, saved, threads=1).rerank(
        index.search.candidate_set(index.question(QUERY), found)
    )
    assert {c.sheet_id for c in ranked} == {c.sheet_id for c in found}
    scores = [c.score for c in ranked]
    assert len(scores) == count
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_equal_scores_come_in_the_order_of_sheet_ids(index, saved):
    index.add_records([SheetRecord(name, "beta") for name in ("z", "a", "m")], find_links=False)
    found = index.search.score_sheets(index.question("beta"), ["z", "a", "m"])
    ranked = CrossEncoderReranker.load(index, saved).rerank(
        index.search.candidate_set(index.question("beta"), found[::-1])
    )
    assert [c.sheet_id for c in ranked] == ["a", "m", "z"]


def test_extreme_scores_stay_finite_and_in_order(index, saved, with_spec):
    reranker = CrossEncoderReranker.load(index, with_spec(blend=1e6))
    ranked = reranker.rerank(
        index.search.candidate_set(index.question(QUERY), index.candidates(QUERY, 36))
    )
    assert all(math.isfinite(c.score) and 0 <= c.score <= 1 for c in ranked)
    cosines = [c.dense for c in ranked]
    assert np.all(np.diff(cosines) <= 1e-5)


def test_a_retriever_finds_candidates_as_in_training_and_answers(index, saved):
    retriever = SheetRetriever(index, CrossEncoderReranker.load(index, saved, threads=1))
    hits = retriever.retrieve(QUERY, 5)
    found = index.candidates(index.question(QUERY, dense_weight=1.0), 50)
    expected = CrossEncoderReranker.load(index, saved).rerank(
        index.search.candidate_set(index.question(QUERY), found)
    )[:5]
    assert [(h.sheet_id, h.score) for h in hits] == [(c.sheet_id, c.score) for c in expected]
    assert 1 <= len(retriever.retrieve_set(QUERY)) <= 20
    named = SheetRetriever(index, saved).retrieve(QUERY, 5)  # by its folder
    assert [hit.sheet_id for hit in named] == [hit.sheet_id for hit in hits]


def test_a_sheet_that_was_removed_meanwhile_is_left_out(index, saved):
    found = index.candidates(QUERY, 4)
    gone = found[1].sheet_id
    index.remove([gone])
    reranker = CrossEncoderReranker.load(index, saved)
    assert {
        c.sheet_id
        for c in reranker.rerank(index.search.candidate_set(index.question(QUERY), found))
    } == {c.sheet_id for c in found if c.sheet_id != gone}
    index.remove([c.sheet_id for c in found])
    assert reranker.rerank(index.search.candidate_set(index.question(QUERY), found)) == []
    assert reranker.rerank(index.search.candidate_set(index.question(QUERY), [])) == []
    with pytest.raises(EmptyInputError, match="query is empty"):
        reranker.rerank(index.search.candidate_set(index.question("  "), found))


def test_a_changed_sheet_is_read_anew(index, saved):
    reranker = CrossEncoderReranker.load(index, saved)
    before = reranker.rerank(
        index.search.candidate_set(
            index.question(QUERY), index.search.score_sheets(index.question(QUERY), ["s05"])
        )
    )[0].score
    index.add_records([SheetRecord("s05", "gamma payroll")], find_links=False)
    model = reranker.model
    after = reranker.rerank(
        index.search.candidate_set(
            index.question(QUERY), index.search.score_sheets(index.question(QUERY), ["s05"])
        )
    )[0]
    logit = float(model.logits(QUERY, ["name: gamma payroll"])[0])
    expected = 1 / (1 + math.exp(-logit - model.spec.blend * (after.dense - 1)))
    assert after.score == pytest.approx(expected, abs=1e-6)
    assert after.score != pytest.approx(before, abs=1e-6)


def test_other_texts_or_other_cosines_are_refused(tmp_path, saved):
    texts = Serialization(form="paper")
    with (
        SheetIndex.create(tmp_path / "a.sat", HashedEncoder(), serialization=texts) as other,
        pytest.raises(
            FingerprintMismatchError, match="was trained on sheet texts of serialization"
        ),
    ):
        CrossEncoderReranker.load(other, saved)
    with (
        SheetIndex.create(tmp_path / "b.sat", HashedEncoder(width=32)) as other,
        pytest.raises(
            FingerprintMismatchError, match=r"was trained with tokens of encoder.*cross-encoder"
        ),
    ):
        CrossEncoderReranker.load(other, saved)


def test_a_folder_of_another_model_is_refused(index, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(EncoderError, match="no complete cross-encoder folder"):
        CrossEncoderReranker.load(index, tmp_path / "empty")
