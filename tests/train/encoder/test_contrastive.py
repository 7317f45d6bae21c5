from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    torch = pytest.importorskip("torch", reason="torch is not installed")

from sat_retriever.train.encoder.contrastive import (
    multi_positive_loss,
    single_positive_loss,
)

TEMPERATURE = 0.05


def _slow_multi(cosines, relevant):
    """−log of the share of the relevant sheets, written out from the equation."""
    losses = []
    for row, gold in enumerate(relevant):
        near = far = 0.0
        for column, cosine in enumerate(cosines[row]):
            value = math.exp(cosine / TEMPERATURE)
            near, far = (near + value, far) if gold[column] else (near, far + value)
        losses.append(-math.log(near / (near + far)))
    return losses


def _random_case(seed, questions=5, sheets=9):
    rng = np.random.default_rng(seed)
    cosines = rng.uniform(-1, 1, (questions, sheets))
    relevant = rng.random((questions, sheets)) < 0.4
    relevant[np.arange(questions), rng.integers(0, sheets, questions)] = True
    return cosines, relevant


@pytest.mark.parametrize("seed", range(5))
def test_multi_positive_loss_is_the_papers_equation(seed):
    cosines, relevant = _random_case(seed)
    found = multi_positive_loss(
        torch.tensor(cosines), torch.tensor(relevant), temperature=TEMPERATURE
    )
    assert found.tolist() == pytest.approx(_slow_multi(cosines, relevant), rel=1e-4, abs=1e-5)


def test_a_question_whose_gold_fills_the_batch_has_no_loss_and_no_gradient():
    cosines = torch.rand(2, 4, requires_grad=True)
    relevant = torch.tensor([[True] * 4, [True, False, False, False]])
    losses = multi_positive_loss(cosines, relevant, TEMPERATURE)
    assert losses[0].item() == 0.0
    losses.sum().backward()
    assert torch.equal(cosines.grad[0], torch.zeros(4))
    assert cosines.grad[1].abs().sum() > 0


def test_other_relevant_sheets_are_negatives_in_the_released_loss_only():
    cosines = torch.tensor([[0.5, 0.5, -1.0]])
    relevant = torch.tensor([[True, True, False]])
    assert multi_positive_loss(cosines, relevant, TEMPERATURE).item() == pytest.approx(0, abs=1e-5)
    single = single_positive_loss(cosines, torch.tensor([0]), TEMPERATURE)
    assert single.item() == pytest.approx(math.log(2), rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_single_positive_loss_is_the_released_equation(seed):
    cosines, _ = _random_case(seed)
    drawn = np.random.default_rng(seed).integers(0, 9, 5)
    expected = [
        -math.log(math.exp(row[column] / TEMPERATURE) / sum(math.exp(c / TEMPERATURE) for c in row))
        for row, column in zip(cosines, drawn, strict=True)
    ]
    found = single_positive_loss(torch.tensor(cosines), torch.tensor(drawn), TEMPERATURE)
    assert found.tolist() == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("loss", ["multi", "single"])
def test_gradients_are_those_of_small_differences(loss):
    cosines, relevant = _random_case(3, questions=2, sheets=4)

    def total(values):
        if loss == "single":
            return single_positive_loss(values, torch.tensor([1, 2]), 0.5).sum()
        return multi_positive_loss(values, torch.tensor(relevant), 0.5).sum()

    values = torch.tensor(cosines, dtype=torch.float32, requires_grad=True)
    total(values).backward()
    step = 1e-2
    for place in np.ndindex(2, 4):
        moved = values.detach().clone()
        moved[place] += step
        ahead = total(moved).item()
        moved[place] -= 2 * step
        slope = (ahead - total(moved).item()) / (2 * step)
        assert values.grad[place].item() == pytest.approx(slope, abs=2e-3)


def test_large_cosines_at_a_small_temperature_stay_finite():
    cosines = torch.tensor([[-1.0, 1.0, 1.0]])
    found = multi_positive_loss(cosines, torch.tensor([[True, False, False]]), 0.001)
    assert found.item() == pytest.approx(2000 + math.log(2), rel=1e-5)
