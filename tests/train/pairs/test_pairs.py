"""Which pairs of question and sheet the Cross-Encoder is shown, and how its weight is chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sat_retriever.train.pairs.pairs import FoundSheets, choose_blend, draw_pairs, pair_candidates

from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.fusion import DENSE_WEIGHT
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.serialize import Serialization, serialize
from sat_retriever.train.data.trainingdata import NO_SHEET, QueryRows, TrainingData
from sat_retriever.train.settings import CrossEncoderTraining
from tests.fakes import HashedEncoder

SETTINGS = CrossEncoderTraining(candidates=6)


def questions(*gold: tuple[int, ...]) -> QueryRows:
    names = tuple(f"question {number}" for number in range(len(gold)))
    return QueryRows(names, gold, tuple(() for _ in gold))


def found(*rows: list[int]) -> FoundSheets:
    width = max(map(len, rows))
    filled = np.array([[*row, *[NO_SHEET] * (width - len(row))] for row in rows])
    return FoundSheets(filled, np.zeros(filled.shape, dtype=np.float32))


# ---- drawing

ASKED = questions((0,), (1, 2, 3, 4, 5), (0, 1, 2, 3), (9,))
FOUND = found(list(range(12)), list(range(12)), [3, 1, 2, 0], [4, 5, 9])


def _of(pairs, question):
    mine = pairs.questions == question
    return pairs.sheets[mine & pairs.relevant], pairs.sheets[mine & ~pairs.relevant]


def test_a_question_has_at_most_two_relevant_and_eight_other_sheets():
    counts = [tuple(map(len, _of(draw_pairs(ASKED, FOUND, SETTINGS, 1), q))) for q in range(4)]
    # One gold sheet; seven others of twelve found; every found sheet gold; a row filled up.
    assert counts == [(1, 8), (2, 7), (2, 0), (1, 2)]
    fewer = replace(SETTINGS, positives=1, negatives=3)
    counts = [tuple(map(len, _of(draw_pairs(ASKED, FOUND, fewer, 1), q))) for q in range(4)]
    assert counts == [(1, 3), (1, 3), (1, 0), (1, 2)]


@pytest.mark.parametrize("epoch", range(1, 9))
def test_no_relevant_sheet_is_a_negative_and_none_comes_twice(epoch):
    pairs = draw_pairs(ASKED, FOUND, SETTINGS, epoch)
    for question, gold in enumerate(ASKED.positives):
        right, wrong = _of(pairs, question)
        assert set(right) <= set(gold)
        assert not set(wrong) & {*gold, NO_SHEET}
        assert set(wrong) <= set(FOUND.rows[question])
        assert len({*right, *wrong}) == len(right) + len(wrong)


def test_an_epoch_has_as_many_pairs_as_any_other_but_other_ones():
    drawn = [draw_pairs(ASKED, FOUND, SETTINGS, epoch) for epoch in (1, 2, 3)]
    assert [len(pairs) for pairs in drawn] == [23, 23, 23]
    assert len({tuple(pairs.sheets) for pairs in drawn}) == 3


def test_pairs_follow_from_seed_and_epoch():
    first = draw_pairs(ASKED, FOUND, SETTINGS, 2)
    assert draw_pairs(ASKED, FOUND, SETTINGS, 2).sheets.tolist() == first.sheets.tolist()
    other = draw_pairs(ASKED, FOUND, replace(SETTINGS, seed=43), 2)
    assert other.sheets.tolist() != first.sheets.tolist()


def test_every_relevant_and_every_found_sheet_is_drawn_sooner_or_later():
    drawn = [draw_pairs(ASKED, FOUND, SETTINGS, epoch) for epoch in range(60)]
    assert set(np.concatenate([_of(pairs, 1)[0] for pairs in drawn])) == {1, 2, 3, 4, 5}
    assert set(np.concatenate([_of(pairs, 0)[1] for pairs in drawn])) == set(range(1, 12))


# ---- candidates

NAMES = ("alpha sales", "alpha stock", "beta sales", "beta stock", "gamma sales", "gamma stock")
RECORDS = tuple(SheetRecord(f"s{row}", name) for row, name in enumerate(NAMES))


def corpus(*, seen: tuple[int, ...] = (0, 1, 2, 3, 4, 5)) -> TrainingData:
    return TrainingData(
        name="six",
        sheet_ids=tuple(record.sheet_id for record in RECORDS),
        sheets=tuple(map(serialize, RECORDS)),
        train=QueryRows(("name alpha sales", "name beta stock"), ((0,), (3,)), ((), ())),
        validation=QueryRows(("name gamma stock",), ((5,),), ((4,),)),
        seen=seen,
    )


@pytest.fixture
def indexed(tmp_path):
    made = []

    def make(records=RECORDS, serialization=None, **encoder) -> SheetIndex:
        path = tmp_path / f"{len(made)}.sat"
        index = SheetIndex.create(path, HashedEncoder(**encoder), serialization=serialization)
        index.add_records(records, find_links=False)
        made.append(index)
        return index

    yield make
    for index in made:
        index.close()


def test_candidates_are_the_nearest_sheets_by_cosine_with_no_relevant_one_put_in(indexed):
    index, data = indexed(), corpus()
    candidates = pair_candidates(data, index, index, replace(SETTINGS, candidates=3))
    encoder = HashedEncoder()
    tokens = encoder.encode_sheets(data.sheets)
    for part, asked in ((candidates.train, data.train), (candidates.validation, data.validation)):
        for rows, cosines, text in zip(part.rows, part.cosines, asked.texts, strict=True):
            slow = tokens @ encoder.encode_queries([text])[0]
            best = sorted(range(6), key=lambda row: (-slow[row], row))[:3]
            assert rows.tolist() == best
            assert cosines == pytest.approx(slow[best], abs=1e-6)
    assert candidates.encoder == encoder.fingerprint
    assert candidates.serialization == Serialization().fingerprint


def test_training_candidates_are_sheets_that_training_may_see(indexed):
    data, whole = corpus(seen=(0, 1, 2, 3)), indexed()
    candidates = pair_candidates(data, indexed(RECORDS[:4]), whole, SETTINGS)
    assert set(candidates.train.rows.ravel()) == {0, 1, 2, 3}
    assert set(candidates.validation.rows.ravel()) == {0, 1, 2, 3, 4, 5}
    with pytest.raises(InputError, match="held out from training"):
        pair_candidates(data, whole, whole, SETTINGS)


def test_words_find_candidates_when_settings_say_so(indexed):
    # By cosine "stock" counts twice, by words the rarer "alpha" counts more.
    asked = QueryRows(("alpha stock stock",), ((0,),), ((),))
    index, data = indexed(), replace(corpus(), train=asked)
    dense = pair_candidates(data, index, index, SETTINGS)
    words = pair_candidates(data, index, index, replace(SETTINGS, dense_weight=0.0))
    assert dense.train.rows[0, :4].tolist() == [1, 3, 5, 0]
    assert words.train.rows[0, :4].tolist() == [1, 0, 3, 5]
    cosine = dict(zip(dense.train.rows[0], dense.train.cosines[0], strict=True))
    assert words.train.cosines[0].tolist() == [cosine[row] for row in words.train.rows[0]]
    assert words.fingerprint != dense.fingerprint
    own = pair_candidates(data, index, index, replace(SETTINGS, dense_weight=None))
    assert (dense.dense_weight, words.dense_weight, own.dense_weight) == (1.0, 0.0, DENSE_WEIGHT)


def test_indexes_that_are_not_of_the_data_are_refused(indexed):
    data, whole = corpus(), indexed()
    with pytest.raises(InputError, match="differ in fingerprint"):
        pair_candidates(data, indexed(width=32), whole, SETTINGS)
    other = indexed(serialization=Serialization(form="paper"))
    with pytest.raises(InputError, match="differ in serialization"):
        pair_candidates(data, other, whole, SETTINGS)
    with pytest.raises(InputError, match="has another text there"):
        pair_candidates(data, other, other, SETTINGS)
    more = indexed((*RECORDS, SheetRecord("new", "alpha sales")))
    with pytest.raises(InputError, match=r"'new' .* is not in six"):
        pair_candidates(data, more, more, SETTINGS)


# ---- the weight of the Stage 1 score

IDS = ("a", "b", "c", "d")
WEIGHTS = (10.0, 0.0, 1.0, 2.0)


def _chosen(logits, cosines, rows, gold):
    sheets = FoundSheets(np.array(rows), np.array(cosines, dtype=np.float32))
    return choose_blend(np.array(logits, dtype=np.float32), sheets, questions(*gold), IDS, WEIGHTS)


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
