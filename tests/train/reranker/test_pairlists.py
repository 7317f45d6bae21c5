"""Which pairs of question and sheet the Cross-Encoder is shown, and how its weight is chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sat_retriever.datasets.labels import Query
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.fusion import DENSE_WEIGHT
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.serialize import Serialization, serialize
from sat_retriever.train.data.trainingdata import NO_SHEET, QueryRows
from sat_retriever.train.reranker.pairlists import PairLists, choose_blend, draw_pairs, pair_lists
from sat_retriever.train.settings import CrossEncoderTraining
from tests.fakes import HashedEncoder

SETTINGS = CrossEncoderTraining(candidates=6)


def lists(rows, gold, cosines=None) -> PairLists:
    """Lists of these rows, padded, for questions with these relevant rows."""
    width = max(map(len, rows))
    filled = np.array([[*row, *[NO_SHEET] * (width - len(row))] for row in rows])
    found = np.zeros(filled.shape) if cosines is None else np.array(cosines)
    names = tuple(f"question {number}" for number in range(len(gold)))
    asked = QueryRows(names, tuple(gold), tuple(() for _ in gold))
    return PairLists("encoder", "texts", 1.0, (), asked, filled, found.astype(np.float32))


# ---- drawing

GOLD = ((0,), (1, 2, 3, 4, 5), (0, 1, 2, 3), (9,))
FOUND = lists([list(range(12)), list(range(12)), [3, 1, 2, 0], [4, 5, 9]], GOLD)


def _of(pairs, question):
    mine = pairs.questions == question
    return pairs.sheets[mine & pairs.relevant], pairs.sheets[mine & ~pairs.relevant]


def test_a_question_has_at_most_two_relevant_and_eight_other_sheets():
    counts = [tuple(map(len, _of(draw_pairs(FOUND, SETTINGS, 1), q))) for q in range(4)]
    # One gold sheet; seven others of twelve found; every found sheet gold; a row filled up.
    assert counts == [(1, 8), (2, 7), (2, 0), (1, 2)]
    fewer = replace(SETTINGS, positives=1, negatives=3)
    counts = [tuple(map(len, _of(draw_pairs(FOUND, fewer, 1), q))) for q in range(4)]
    assert counts == [(1, 3), (1, 3), (1, 0), (1, 2)]


@pytest.mark.parametrize("epoch", range(1, 9))
def test_no_relevant_sheet_is_a_negative_and_none_comes_twice(epoch):
    pairs = draw_pairs(FOUND, SETTINGS, epoch)
    for question, gold in enumerate(GOLD):
        right, wrong = _of(pairs, question)
        assert set(right) <= set(gold)
        assert not set(wrong) & {*gold, NO_SHEET}
        assert set(wrong) <= set(FOUND.rows[question])
        assert len({*right, *wrong}) == len(right) + len(wrong)


def test_an_epoch_has_as_many_pairs_as_any_other_but_other_ones():
    drawn = [draw_pairs(FOUND, SETTINGS, epoch) for epoch in (1, 2, 3)]
    assert [len(pairs) for pairs in drawn] == [23, 23, 23]
    assert len({tuple(pairs.sheets) for pairs in drawn}) == 3


def test_pairs_follow_from_seed_and_epoch():
    first = draw_pairs(FOUND, SETTINGS, 2)
    assert draw_pairs(FOUND, SETTINGS, 2).sheets.tolist() == first.sheets.tolist()
    other = draw_pairs(FOUND, replace(SETTINGS, seed=43), 2)
    assert other.sheets.tolist() != first.sheets.tolist()


def test_every_relevant_and_every_found_sheet_is_drawn_sooner_or_later():
    drawn = [draw_pairs(FOUND, SETTINGS, epoch) for epoch in range(60)]
    assert set(np.concatenate([_of(pairs, 1)[0] for pairs in drawn])) == {1, 2, 3, 4, 5}
    assert set(np.concatenate([_of(pairs, 0)[1] for pairs in drawn])) == set(range(1, 12))


# ---- candidates

NAMES = ("alpha sales", "alpha stock", "beta sales", "beta stock", "gamma sales", "gamma stock")
RECORDS = tuple(SheetRecord(f"s{row}", name) for row, name in enumerate(NAMES))
QUERIES = (
    Query("name alpha sales", ("s0",)),
    Query("name beta stock", ("s3",), hard_negatives=("s2", "gone")),
)


@pytest.fixture
def indexed(tmp_path):
    made = []

    def make(records=RECORDS, **encoder) -> SheetIndex:
        index = SheetIndex.create(tmp_path / f"{len(made)}.sat", HashedEncoder(**encoder))
        index.add_records(records, find_links=False)
        made.append(index)
        return index

    yield make
    for index in made:
        index.close()


def test_candidates_are_the_nearest_sheets_by_cosine_with_no_relevant_one_put_in(indexed):
    found = pair_lists(indexed(), QUERIES, replace(SETTINGS, candidates=3))
    encoder = HashedEncoder()
    tokens = encoder.encode_sheets([*map(serialize, RECORDS)])
    row_of = {text: row for row, text in enumerate(found.sheets)}
    for rows, cosines, query in zip(found.rows, found.cosines, QUERIES, strict=True):
        slow = tokens @ encoder.encode_queries([query.text])[0]
        best = sorted(range(6), key=lambda row: (-slow[row], row))[:3]
        assert rows.tolist() == [row_of[serialize(RECORDS[row])] for row in best]
        assert cosines == pytest.approx(slow[best], abs=1e-6)
    assert (found.encoder, found.serialization) == (
        encoder.fingerprint, Serialization().fingerprint,
    )  # fmt: skip


def test_labelled_sheets_have_rows_found_or_not_and_unknown_negatives_none(indexed):
    found = pair_lists(indexed(), QUERIES, replace(SETTINGS, candidates=1))
    gold = [[found.sheets[row] for row in rows] for rows in found.questions.positives]
    assert gold == [[serialize(RECORDS[0])], [serialize(RECORDS[3])]]
    hard = found.questions.hard_negatives
    assert [[found.sheets[row] for row in rows] for rows in hard] == [[], [serialize(RECORDS[2])]]


def test_a_relevant_sheet_that_the_index_lacks_is_refused(indexed):
    with pytest.raises(InputError, match=r"'name beta stock' has a relevant sheet 's3' .* not in"):
        pair_lists(indexed(RECORDS[:3]), QUERIES, SETTINGS)


def test_words_find_candidates_when_settings_say_so(indexed):
    # By cosine "stock" counts twice, by words the rarer "alpha" counts more.
    index, asked = indexed(), [Query("alpha stock stock", ("s0",))]
    dense = pair_lists(index, asked, SETTINGS)
    words = pair_lists(index, asked, replace(SETTINGS, dense_weight=0.0))
    assert dense.rows[0, :4].tolist() == [1, 3, 5, 0]
    assert words.rows[0, :4].tolist() == [1, 0, 3, 5]
    cosine = dict(zip(dense.rows[0], dense.cosines[0], strict=True))
    assert words.cosines[0].tolist() == [cosine[row] for row in words.rows[0]]
    assert words.fingerprint != dense.fingerprint
    own = pair_lists(index, asked, replace(SETTINGS, dense_weight=None))
    assert (dense.dense_weight, words.dense_weight, own.dense_weight) == (1.0, 0.0, DENSE_WEIGHT)


# ---- the weight of the Stage 1 score

WEIGHTS = (10.0, 0.0, 1.0, 2.0)


def _chosen(logits, cosines, rows, gold):
    return choose_blend(np.array(logits, dtype=np.float32), lists(rows, gold, cosines), WEIGHTS)


def test_the_weight_with_the_best_ranking_is_chosen():
    # Logits alone put b first; a leads by cosine as soon as w * 0.5 > 0.75.
    blend = _chosen([[0.0, 0.75]], [[0.75, 0.25]], [[0, 1]], [(0,)])
    assert blend.weight == 2.0
    assert blend.ranked.tolist() == [[0, 1]]
    second = 1 / np.log2(3)
    assert blend.ndcg == pytest.approx({0.0: second, 1.0: second, 2.0: 1.0, 10.0: 1.0})


def test_the_smallest_weight_is_chosen_among_equals():
    assert _chosen([[2.0, 1.0]], [[0.9, 0.1]], [[0, 1]], [(0,)]).weight == 0.0
    assert _chosen([[2.0, 1.0]], [[0.9, 0.1]], [[0, 1]], [(3,)]).weight == 0.0  # nothing found


def test_the_mean_over_questions_decides():
    # The first question wants cosines, the second and third want logits.
    logits = [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    cosines = [[0.75, 0.0], [0.75, 0.0], [0.75, 0.0]]
    blend = _chosen(logits, cosines, [[0, 1]] * 3, [(0,), (1,), (1,)])
    assert blend.weight == 0.0
    assert blend.ndcg[0.0] == pytest.approx((2 + 1 / np.log2(3)) / 3)


def test_equal_scores_are_ranked_by_sheet_id_and_what_is_no_sheet_comes_last():
    blend = _chosen([[5.0] * 4], [[0.5, 0.5, 0.5, 9.0]], [[3, 0, 2, NO_SHEET]], [(2,)])
    assert blend.ranked.tolist() == [[0, 2, 3, NO_SHEET]]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"candidates": 0}, "candidates is 0"),
        ({"positives": 0}, "positives is 0"),
        ({"negatives": 0}, "negatives is 0"),
        ({"max_length": 4}, "max_length is 4"),
        ({"dense_weight": 2.0}, "dense_weight is 2.0"),
        ({"positive_weight": 0.0}, "positive_weight is 0.0"),
        ({"blend": ()}, r"blend is \(\)"),
        ({"blend": (0.0, -1.0)}, "each 0 or more"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        replace(SETTINGS, **wrong)
