"""Candidates about several corpora as one: every question as it was."""

from dataclasses import replace

import numpy as np
import pytest

from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.train.reranker.candidatesets import candidate_sets, joined_sets
from sat_retriever.train.settings import RerankerTraining
from tests.train import sheet_world

QUERIES = sheet_world.queries()
SETTINGS = RerankerTraining(
    candidates=7, features=("lexical", "dense"), channels=("schema", "formula_reference")
)


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    with sheet_world.index(tmp_path_factory.mktemp("index") / "i.sat") as index:
        yield candidate_sets(index, QUERIES, SETTINGS)


@pytest.fixture(scope="module")
def shorter(sets):
    """The last two questions with four candidates each, as of a small corpus."""
    cut = {name: getattr(sets, name)[-2:] for name in ("queries", "positives", "judged")}
    lists = ("rows", "scores", "features", "relevant", "hard")
    cut |= {name: getattr(sets, name)[-2:, :4] for name in lists}
    return replace(sets, **cut, relations=sets.relations[-2:, :, :4, :4])


def test_every_question_keeps_its_candidates_and_all_that_is_known_of_them(sets, shorter):
    joined = joined_sets({"large": sets, "small": shorter})
    assert len(joined) == len(sets) + 2
    assert list(joined.sheet_ids) == sorted(joined.sheet_ids)
    for part, start, name in ((sets, 0, "large"), (shorter, len(sets), "small")):
        places = np.arange(len(part))
        ours, theirs = joined.batch(places + start), part.batch(places)
        k = part.rows.shape[1]
        assert not ours.mask[:, k:].any()
        for row in range(len(part)):
            known = theirs.mask[row]
            ids = [f"{name}/{part.sheet_ids[place]}" for place in part.rows[row][known]]
            rows = joined.rows[row + start, :k][known]
            assert [joined.sheet_ids[place] for place in rows] == ids
            tokens = ours.tokens[ours.rows[row, :k][known]]
            np.testing.assert_array_equal(tokens, theirs.tokens[theirs.rows[row][known]])
        for field in ("scores", "features", "relevant", "mask"):
            np.testing.assert_array_equal(
                getattr(ours, field)[:, :k], getattr(theirs, field), err_msg=field
            )
        np.testing.assert_array_equal(ours.relations[..., :k, :k], theirs.relations)
        assert not ours.relations[:, :, k:].any()
        assert not ours.relations[..., k:].any()


def test_candidates_that_were_found_in_another_way_are_refused(sets):
    other = replace(sets, spec=replace(sets.spec, dense_weight=0.9))
    with pytest.raises(InputError, match="the candidates of b were found in another way"):
        joined_sets({"a": sets, "b": other})


def test_nothing_cannot_be_joined():
    with pytest.raises(EmptyInputError, match="no candidate sets"):
        joined_sets({})
