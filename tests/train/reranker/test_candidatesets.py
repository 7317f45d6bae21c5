"""Candidate sets against the online path, and their rows against the labels."""

from dataclasses import fields, replace

import numpy as np
import pytest

from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import metrics_of, row_of
from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.graph.graph import candidate_graph
from sat_retriever.train.reranker.candidatesets import (
    CANDIDATE_METRICS,
    CandidateSets,
    candidate_metrics,
    candidate_rows,
    candidate_sets,
    complete_share,
)
from sat_retriever.train.settings import RerankerTraining
from tests.fakes import HashedEncoder
from tests.train import sheet_world

QUERIES = sheet_world.queries()
SETTINGS = RerankerTraining(
    candidates=7,
    features=("lexical", "dense"),
    channels=("schema", "semantic", "formula_reference", "join_confidence", "same_workbook"),
)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with sheet_world.index(tmp_path_factory.mktemp("index") / "i.sat") as made:
        yield made


@pytest.fixture(scope="module")
def sets(index) -> CandidateSets:
    return candidate_sets(index, QUERIES, SETTINGS)


@pytest.mark.parametrize(
    ("start", "weight"), [("dense", 1.0), ("dense", 0.4), ("fused", 0.4), ("links", 0.4)]
)
def test_training_sees_what_the_online_path_sees(index, start, weight):
    settings = replace(SETTINGS, start=start, dense_weight=weight)
    sets = candidate_sets(index, QUERIES, settings)
    batch = sets.batch(np.arange(len(QUERIES)))
    for row, query in enumerate(QUERIES):
        found = index.candidates(index.question(query.text, dense_weight=weight), 7)
        graph = candidate_graph(index, index.question(query.text), found, sets.spec)
        k = len(graph.candidates)
        ids = [sets.sheet_ids[place] for place in sets.rows[row, :k]]
        assert ids == [candidate.sheet_id for candidate in graph.candidates]
        assert batch.mask[row].sum() == k
        np.testing.assert_array_equal(batch.query[row], graph.query)
        np.testing.assert_array_equal(batch.tokens[batch.rows[row, :k]], graph.tokens)
        for name in ("scores", "features"):
            np.testing.assert_array_equal(getattr(batch, name)[row, :k], getattr(graph, name))
        got = batch.relations[row, :, :k, :k]
        np.testing.assert_allclose(got, graph.relations, rtol=5e-4)
        np.testing.assert_array_equal(got[2], graph.relations[2])  # links exactly


def test_no_relevant_sheet_is_put_in_and_one_that_is_missed_counts(index):
    settings = replace(SETTINGS, candidates=1)
    sets = candidate_sets(index, [Query("red sky", ("red#stone", "elsewhere"))], settings)
    assert [sets.sheet_ids[place] for place in sets.rows[0]] == ["red#sky"]
    assert not sets.relevant.any()
    assert sets.positives.tolist() == [2]
    assert candidate_metrics(sets, np.zeros((1, 1), np.float32))["NDCG@5"] == 0


def test_relevant_and_hard_candidates_are_those_of_the_labels(sets):
    for row, query in enumerate(QUERIES):
        ids = [sets.sheet_ids[place] for place in sets.rows[row]]
        assert {i for i, r in zip(ids, sets.relevant[row], strict=True) if r} == {
            i for i in ids if i in query.positives
        }
        assert {i for i, h in zip(ids, sets.hard[row], strict=True) if h} == {
            i for i in ids if i in query.hard_negatives
        }
        assert sets.judged[row] == bool(query.hard_negatives)


def test_more_candidates_than_sheets_gives_all_sheets(index):
    sets = candidate_sets(index, QUERIES[:1], replace(SETTINGS, candidates=200))
    assert sets.rows.shape == (1, 12)


def test_lists_of_unequal_length_are_padded_with_nothing(index):
    settings = replace(SETTINGS, start="links", dense_weight=0.4, candidates=2)
    queries = [Query("blue apple", ("blue#apple",)), Query("red sky", ("red#sky",))]
    sets = candidate_sets(index, queries, settings)
    lengths = (sets.rows >= 0).sum(axis=1)
    short = int(lengths.argmin())
    assert lengths[short] < sets.rows.shape[1]  # the link reranker added a sheet to the other
    batch = sets.batch(np.array([short]))
    outside = ~batch.mask[0]
    assert not batch.relations[0][:, outside].any()
    assert not batch.relevant[0, outside].any()


def test_a_batch_holds_the_token_of_each_of_its_sheets_once(sets):
    batch = sets.batch(np.array([4, 0, 2]))
    sheets = np.unique(sets.rows[[4, 0, 2]])
    assert len(sheets) < batch.rows.size  # lists share sheets
    np.testing.assert_array_equal(batch.tokens, sets.table[sheets])


def test_an_index_without_held_out_sheets_never_shows_them(tmp_path):
    kept = [r for r in sheet_world.records() if r.workbook != "blue.xlsx"]
    with SheetIndex.create(tmp_path / "part.sat", HashedEncoder(16)) as part:
        part.add_records(kept, find_links=False)
        sets = candidate_sets(part, QUERIES[:2], replace(SETTINGS, candidates=200))
    assert len(sets.sheet_ids) == 8
    assert not any(sheet_id.startswith("blue") for sheet_id in sets.sheet_ids)


def equal(one: CandidateSets, other: CandidateSets) -> bool:
    return all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name))
        if isinstance(getattr(one, field.name), np.ndarray)
        else getattr(one, field.name) == getattr(other, field.name)
        for field in fields(CandidateSets)
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"channels": ("same_workbook", "semantic", "formula_reference")},
        {"channels": ("semantic", "query")} | {"candidates": 12},
        {"layers": 0},
    ],
)
def test_narrowed_sets_are_those_built_with_the_settings(index, changed):
    wide = replace(SETTINGS, candidates=12, channels=(*SETTINGS.channels, "query"))
    wanted = replace(wide, **changed)
    narrowed = candidate_sets(index, QUERIES, wide).narrowed(wanted)
    assert equal(narrowed, candidate_sets(index, QUERIES, wanted))
    assert narrowed.fingerprint == candidate_sets(index, QUERIES, wanted).fingerprint


def test_the_share_of_the_cosine_can_be_the_index_s_own(index):
    own = replace(SETTINGS, dense_weight=None)
    found = candidate_sets(index, QUERIES, own)
    assert found.spec.dense_weight == index.dense_weight != SETTINGS.dense_weight
    said = replace(SETTINGS, dense_weight=index.dense_weight)
    assert equal(found, candidate_sets(index, QUERIES, said))
    assert found.narrowed(said) is found.narrowed(own) is found


def test_fewer_candidates_are_the_first_ones(index, sets):
    narrowed = sets.narrowed(replace(SETTINGS, candidates=3))
    built = candidate_sets(index, QUERIES, replace(SETTINGS, candidates=3))
    for name in ("scores", "features", "relations", "relevant", "hard"):
        np.testing.assert_array_equal(getattr(narrowed, name), getattr(built, name))
    ids = [[s.sheet_ids[place] for place in s.rows.ravel()] for s in (narrowed, built)]
    assert ids[0] == ids[1]
    assert narrowed.spec == built.spec


@pytest.mark.parametrize(
    "changed",
    [
        {"candidates": 8},
        {"channels": ("schema", "shape")},
        {"features": ("lexical",)},
        {"start": "fused"},
        {"dense_weight": 0.5},
    ],
)
def test_sets_of_other_settings_are_refused(sets, changed):
    with pytest.raises(InputError, match="built with other settings"):
        sets.narrowed(replace(SETTINGS, **changed))


def test_fewer_candidates_after_link_reranking_are_refused(index):
    settings = replace(SETTINGS, start="links", dense_weight=0.4)
    sets = candidate_sets(index, QUERIES[:1], settings)
    with pytest.raises(InputError, match="built with other settings"):
        sets.narrowed(replace(settings, candidates=3))


def test_the_fingerprint_changes_with_any_label(index, sets):
    other = [*QUERIES[:-1], replace(QUERIES[-1], positives=("red#car",))]
    assert candidate_sets(index, other, SETTINGS).fingerprint != sets.fingerprint
    assert candidate_sets(index, QUERIES, SETTINGS).fingerprint == sets.fingerprint


def test_progress_is_told_after_each_question(index):
    told = []
    candidate_sets(index, QUERIES[:2], SETTINGS, progress=lambda *at: told.append(at))
    assert told == [(1, 2), (2, 2)]


def test_no_questions_and_no_sheets_are_refused(index, tmp_path):
    with pytest.raises(EmptyInputError, match="no questions"):
        candidate_sets(index, [], SETTINGS)
    with (
        SheetIndex.create(tmp_path / "empty.sat", HashedEncoder(16)) as empty,
        pytest.raises(EmptyInputError, match="no sheets"),
    ):
        candidate_sets(empty, QUERIES, SETTINGS)


# ---- measures


def rankings(sets: CandidateSets, logits: np.ndarray) -> list[list[str]]:
    found = []
    for row, values in zip(sets.rows, logits, strict=True):
        known = [(-y, sets.sheet_ids[i]) for i, y in zip(row, values, strict=True) if i >= 0]
        found.append([sheet_id for _, sheet_id in sorted(known)])
    return found


@pytest.mark.parametrize("start", ["dense", "links"])
def test_rows_are_those_of_the_ranked_ids_beside_the_labels(index, start):
    weight = 1.0 if start == "dense" else 0.4
    settings = replace(SETTINGS, start=start, dense_weight=weight, candidates=4)
    sets = candidate_sets(index, QUERIES, settings)
    draw = np.random.default_rng(5)
    logits = draw.integers(0, 3, sets.rows.shape).astype(np.float32)  # many ties
    wanted = [
        row_of(place, ranking, query.positives, query.hard_negatives)
        for place, (ranking, query) in enumerate(zip(rankings(sets, logits), QUERIES, strict=True))
    ]
    assert candidate_rows(sets, logits) == wanted
    means = metrics_of(wanted)
    assert candidate_metrics(sets, logits) == {name: means[name] for name in CANDIDATE_METRICS}


def test_hard_negatives_are_not_measured_where_none_is_annotated(index):
    bare = [replace(query, hard_negatives=()) for query in QUERIES]
    sets = candidate_sets(index, bare, SETTINGS)
    assert "HN-FPR@1" not in candidate_metrics(sets, sets.scores)


def test_the_share_of_a_complete_answer_has_the_best_f1(sets):
    draw = np.random.default_rng(6)
    logits = (4 * draw.normal(size=sets.rows.shape) + 3 * sets.relevant).astype(np.float32)

    def f1(share: float) -> float:
        values = []
        for row, query in enumerate(QUERIES):
            scores = 1 / (1 + np.exp(-logits[row].astype(np.float64)))
            taken = [
                sets.sheet_ids[place]
                for place, score in zip(sets.rows[row], scores, strict=True)
                if score >= share * scores.max()
            ]
            right = len(set(taken) & set(query.positives))
            values.append(2 * right / (len(taken) + len(query.positives)))
        return sum(values) / len(values)

    grid = [round(0.05 * step, 2) for step in range(1, 20)]
    best = max(f1(share) for share in grid)
    assert complete_share(sets, logits) == max(share for share in grid if f1(share) == best)
