"""Weights from rows and figures from weights, each computed by hand as well."""

import numpy as np
import pytest

from benchmarks.nothing.asking import FEW, Asker, Row
from benchmarks.nothing.fitting import calibration_error, figures, fitted, least_for
from sat_retriever import SheetIndex, SheetRecord
from sat_retriever.answer.confidence import Calibration
from sat_retriever.datasets.labels import Query
from sat_retriever.index.search.scores import Evidence
from tests.fakes import HashedEncoder

PLAIN = Calibration(0.0, 1.0, 0.0, 0.5)  # the sigmoid of `fit`


def rows(kind, fits, right=True):
    return [Row(n, kind, right, Evidence(fit, 0.0)) for n, fit in enumerate(fits)]


def made(seed=0, sign=-1.0):
    """Rows in which `fit` tells answers, and `surprise` as well, with a sign."""
    draw = np.random.default_rng(seed)
    found = []
    for kind in ("own", "few", "foreign", "removed", "few_removed"):
        for n in range(200):
            answers = kind in ("own", "few")
            noise = draw.normal(size=2)
            numbers = Evidence(answers + noise[0], sign * answers + noise[1])
            found.append(Row(n, kind, kind != "foreign", numbers))
    return found


def test_a_number_that_speaks_the_wrong_way_gets_no_weight():
    weights = fitted([made(0), made(1)])
    assert weights.surprise == 0
    assert 0.7 < weights.fit < 1.3  # log-odds of two normal distributions one apart
    assert fitted([made(0, sign=1.0)]).surprise > 0.5


def test_questions_that_the_best_sheets_do_not_answer_are_not_fitted_on():
    lost = rows("own", [-50.0] * 500, right=False)
    assert fitted([[*made(0), *lost]]) == fitted([made(0)])


def test_at_most_two_in_a_hundred_right_answers_of_each_corpus_are_warned_of():
    one, other = rows("own", np.linspace(-1, 3, 150)), rows("own", np.linspace(0, 3, 150))
    least = least_for([one, other], PLAIN)
    shares = [
        np.mean([PLAIN.probability(row.evidence) < least for row in each]) for each in (one, other)
    ]
    assert 0.01 < max(shares) <= 0.02
    assert shares[1] == 0


def test_figures_are_those_counted_by_hand():
    asked = [
        *rows("own", [2.0, 1.0]), *rows("own", [-1.0], right=False), *rows("few", [1.0]),
        *rows("foreign", [-2.0, 1.5]), *rows("removed", [0.5, -1.0]), *rows("few_removed", [-3.0]),
    ]  # fmt: skip
    found = figures(asked, PLAIN, PLAIN)
    assert found["questions"] == 3
    assert found["AUROC_foreign"] == pytest.approx(4 / 6)
    assert found["AUROC_removed"] == pytest.approx((2 + 2 + 0.5) / 6)
    assert found["AUROC_removed_found"] == 1.0
    assert (found["warned_right"], found["warned_own"]) == (0, pytest.approx(1 / 3))
    assert (found["warned_foreign"], found["warned_removed"]) == (0.5, 0.5)
    assert "AUROC_book_removed" not in found


def test_the_calibration_error_is_none_if_probabilities_are_the_shares():
    half = [*rows("own", [0.0] * 4), *rows("few", [0.0]), *rows("foreign", [0.0] * 2),
            *rows("removed", [0.0] * 3), *rows("few_removed", [0.0])]  # fmt: skip
    assert calibration_error(half, PLAIN) == pytest.approx(0)
    assert calibration_error(half, Calibration(30.0, 1.0, 0.0, 0.5)) == pytest.approx(0.5)


def test_a_question_is_asked_with_and_without_the_sheets_that_answer_it(tmp_path):
    records = [
        SheetRecord(f"{n}", f"Topic{n}", workbook=f"{n // 2}.xlsx", path=f"{n // 2}.xlsx")
        for n in range(60)
    ]
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records(records)
        asker = Asker(index)
        (found,) = [list(asker.own([Query("topic7", ("7",))]))]
        strange = list(asker.foreign([Query("penguin", ("x",))]))
    by_kind = {row.kind: row for row in found}
    assert by_kind["own"].right
    assert by_kind["own"].evidence.fit > by_kind["removed"].evidence.fit
    assert by_kind["few"].evidence.fit > by_kind["few_removed"].evidence.fit
    assert len(records) > FEW
    assert [(row.kind, row.right) for row in strange] == [("foreign", False)]
