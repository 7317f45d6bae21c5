"""The ranking loss against slow loops written from its formulas."""

import math

import pytest
import torch

from sat_retriever.train.reranker.graphtask import (
    BatchCounts,
    LossWeights,
    batch_counts,
    binary_loss,
    list_loss,
    pair_loss,
    ranking_loss,
)

MARGIN = 0.2


@pytest.fixture
def batch() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Five lists of up to six: mixed, mixed and shorter, none relevant, all relevant, one."""
    torch.manual_seed(3)
    logits = torch.randn(5, 6, requires_grad=True)
    relevant = torch.zeros(5, 6, dtype=torch.bool)
    relevant[0, [1, 4]] = relevant[1, 0] = relevant[3, :4] = relevant[4, 0] = True
    lengths = torch.tensor([6, 3, 6, 4, 1])
    return logits, relevant, torch.arange(6)[None] < lengths[:, None]


def lists(batch) -> list[list[tuple[float, bool]]]:
    logits, relevant, mask = (value.tolist() for value in batch)
    return [
        [(y, r) for y, r, there in zip(*row, strict=True) if there]
        for row in zip(logits, relevant, mask, strict=True)
    ]


def slow_list_loss(row: list[tuple[float, bool]]) -> float:
    everything = math.log(sum(math.exp(y) for y, _ in row))
    return everything - math.log(sum(math.exp(y) for y, r in row if r))


def slow_binary_loss(row: list[tuple[float, bool]], weight: float) -> list[float]:
    share = [1 / (1 + math.exp(-y)) for y, _ in row]
    return [
        -weight * math.log(p) if r else -math.log(1 - p)
        for p, (_, r) in zip(share, row, strict=True)
    ]


def slow_pair_loss(row: list[tuple[float, bool]]) -> float:
    wrong = [y for y, r in row if not r]
    return max(0, MARGIN - min(y for y, r in row if r) + max(wrong)) if wrong else 0.0


def slow_loss(batch, weights: LossWeights) -> float:
    rows = lists(batch)
    answerable = [row for row in rows if any(r for _, r in row)]
    flat = [r for row in rows for _, r in row]
    weight = min(20, flat.count(False) / flat.count(True))
    binary = [loss for row in rows for loss in slow_binary_loss(row, weight)]
    by_list = sum(map(slow_list_loss, answerable)) / len(answerable)
    by_pair = sum(map(slow_pair_loss, answerable)) / len(answerable)
    return (
        weights.listwise * by_list
        + weights.binary * sum(binary) / len(binary)
        + weights.pairwise * by_pair
    )


@pytest.mark.parametrize(
    "weights",
    [
        LossWeights(1.0, 0.0, 0.0),
        LossWeights(0.0, 1.0, 0.0),
        LossWeights(0.0, 0.0, 1.0),
        LossWeights(),
    ],
)
def test_loss_equals_the_formula(batch, weights):
    found = ranking_loss(*batch, weights, batch_counts(*batch[1:]))
    assert found.item() == pytest.approx(slow_loss(batch, weights), rel=1e-5)


def test_the_papers_weights_are_the_default():
    assert LossWeights() == LossWeights(listwise=1.0, binary=0.5, pairwise=0.2, margin=0.2)


def test_lists_without_a_relevant_candidate_count_in_the_binary_part_alone(batch):
    logits, relevant, mask = batch
    counts = batch_counts(relevant, mask)
    assert list_loss(logits, relevant & mask, mask)[2] == 0
    assert pair_loss(logits, relevant & mask, ~relevant & mask, MARGIN)[2] == 0
    assert (binary_loss(logits, relevant, mask, counts)[2] > 0).all()
    assert int(counts.answerable) == 4


def test_the_weight_of_relevant_candidates_is_at_most_twenty():
    relevant, mask = torch.zeros(1, 50, dtype=torch.bool), torch.ones(1, 50, dtype=torch.bool)
    relevant[0, 0] = True
    losses = binary_loss(torch.zeros(1, 50), relevant, mask, batch_counts(relevant, mask))
    assert losses[0, 0].item() == pytest.approx(20 * math.log(2), rel=1e-6)
    assert losses[0, 1].item() == pytest.approx(math.log(2), rel=1e-6)


def test_what_stands_at_masked_places_changes_neither_loss_nor_gradient(batch):
    logits, relevant, mask = batch
    counts = batch_counts(relevant, mask)
    other = torch.where(mask, logits.detach(), 1e4).requires_grad_()
    found = ranking_loss(logits, relevant, mask, LossWeights(), counts)
    moved = ranking_loss(other, relevant | ~mask, mask, LossWeights(), counts)
    found.backward()
    moved.backward()
    assert found.item() == moved.item()
    torch.testing.assert_close(logits.grad, other.grad, rtol=0, atol=0)
    assert not logits.grad[~mask].any()


@pytest.mark.parametrize("relevant", [True, False])
def test_gradients_are_finite_when_all_candidates_are_alike(relevant):
    logits = torch.tensor([[80.0, -80.0]], requires_grad=True)
    flags, mask = torch.full((1, 2), relevant), torch.ones(1, 2, dtype=torch.bool)
    ranking_loss(logits, flags, mask, LossWeights(), batch_counts(flags, mask)).backward()
    assert logits.grad.isfinite().all()


def test_the_mean_over_shares_is_the_loss_of_the_whole_batch(batch):
    logits, relevant, mask = batch
    whole = batch_counts(relevant, mask)
    shared = BatchCounts(whole.answerable, whole.candidates, whole.relevant, world=2)
    parts = [
        ranking_loss(logits[rows], relevant[rows], mask[rows], LossWeights(), shared)
        for rows in (slice(0, None, 2), slice(1, None, 2))
    ]
    found = ranking_loss(logits, relevant, mask, LossWeights(), whole)
    assert sum(parts).item() / 2 == pytest.approx(found.item(), rel=1e-6)


def test_half_precision_logits_are_summed_in_full_precision(batch):
    logits, relevant, mask = batch
    counts = batch_counts(relevant, mask)
    half = logits.detach().half()
    found = ranking_loss(half, relevant, mask, LossWeights(), counts)
    assert found.dtype == torch.float32
    assert float(found) == float(ranking_loss(half.float(), relevant, mask, LossWeights(), counts))
