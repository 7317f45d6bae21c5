"""The base scorer against slow loops written from its formulas."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from sat_retriever.train.reranker.scorer import BaseScorer, ScorerShape, blockwise, ranks

B, K, D, F = 2, 4, 6, 2


@pytest.fixture
def scorer() -> BaseScorer:
    """A scorer whose last layer is not zero any more."""
    torch.manual_seed(1)
    made = BaseScorer(ScorerShape(D, F)).eval()
    nn.init.normal_(made.perceptron[3].weight)
    nn.init.normal_(made.perceptron[3].bias)
    for projection in (made.of_query, made.of_sheet):
        nn.init.normal_(projection[2].weight)
        nn.init.normal_(projection[2].bias)
    return made


@pytest.fixture
def batch() -> dict[str, torch.Tensor]:
    torch.manual_seed(2)
    mask = torch.ones(B, K, dtype=torch.bool)
    mask[1, 3] = False
    return {
        "query": torch.randn(B, D),
        "tokens": torch.randn(B, K, D),
        "scores": torch.rand(B, K),
        "features": torch.rand(B, K, F),
        "mask": mask,
    }


def gelu(x: np.ndarray) -> np.ndarray:
    return np.array([value * 0.5 * (1 + math.erf(value / math.sqrt(2))) for value in x])


def project(parts: nn.Sequential, x: np.ndarray) -> np.ndarray:
    """norm(LN(GELU(W x + b)))."""
    linear, _, norm = parts
    y = gelu(linear.weight.double().detach().numpy() @ x + linear.bias.double().detach().numpy())
    y = (y - y.mean()) / math.sqrt(y.var() + norm.eps)
    y = y * norm.weight.double().detach().numpy() + norm.bias.double().detach().numpy()
    return y / math.sqrt((y * y).sum())


def slow_logits(scorer: BaseScorer, batch: dict[str, torch.Tensor], row: int) -> list[float]:
    first, _, _, last = scorer.perceptron
    arrays = {name: value[row].double().numpy() for name, value in batch.items()}
    count = int(arrays["mask"].sum())
    q = project(scorer.of_query, arrays["query"])
    logits = []
    for i in range(count):
        h = project(scorer.of_sheet, arrays["tokens"][i])
        s = arrays["scores"][i]
        rank = 1.0 if count == 1 else 1 - i / (count - 1)
        x = [*h, *q, *(abs(a - b) for a, b in zip(h, q, strict=True))]
        x += [*(a * b for a, b in zip(h, q, strict=True)), s, rank, *arrays["features"][i]]
        hidden = gelu(first.weight.double().detach().numpy() @ x + first.bias.detach().numpy())
        out = (last.weight.double().detach().numpy() @ hidden)[0] + float(last.bias.detach())
        logits.append(float(scorer.scale.detach()) * s + out)
    return logits


def test_logits_equal_the_formula(scorer, batch):
    found = scorer(**batch).detach().numpy()
    for row, count in ((0, 4), (1, 3)):
        np.testing.assert_allclose(found[row, :count], slow_logits(scorer, batch, row), atol=1e-5)


def test_a_new_scorer_gives_ten_times_the_score_so_stage_1s_order(batch):
    found = BaseScorer(ScorerShape(D, F))(**batch)
    torch.testing.assert_close(found, 10 * batch["scores"])


def test_states_have_unit_length(scorer, batch):
    asked, states = scorer.states(batch["query"], batch["tokens"])
    torch.testing.assert_close(asked.norm(dim=-1), torch.ones(B))
    torch.testing.assert_close(states.norm(dim=-1), torch.ones(B, K))


def test_what_stands_at_masked_places_changes_no_other_logit(scorer, batch):
    before = scorer(**batch)
    batch["tokens"][1, 3], batch["scores"][1, 3], batch["features"][1, 3] = 9.0, 9.0, 9.0
    after = scorer(**batch)
    torch.testing.assert_close(after[batch["mask"]], before[batch["mask"]], rtol=0, atol=0)


def test_padding_a_list_changes_no_logit_of_it(scorer, batch):
    alone = {name: value[1:, :3] if value.dim() > 1 and name != "query" else value[1:]
             for name, value in batch.items()}  # fmt: skip
    torch.testing.assert_close(scorer(**alone)[0], scorer(**batch)[1, :3])


def test_lists_that_share_sheets_give_the_logits_and_gradients_of_lists_of_their_own(batch):
    torch.manual_seed(3)
    scorer = BaseScorer(ScorerShape(D, F)).double().eval()
    nn.init.normal_(scorer.perceptron[3].weight)
    shared = {n: v.double() if v.is_floating_point() else v for n, v in batch.items()}
    shared |= {
        "tokens": torch.randn(3, D, dtype=torch.float64),
        "rows": torch.tensor([[0, 1, 2, 1], [2, 0, 1, 0]]),
    }
    own = shared | {"tokens": shared["tokens"][shared["rows"]], "rows": None}
    logits, gradients = [], []
    for given in (shared, own):
        scorer.zero_grad()
        logits.append(scorer(**given))
        logits[-1][batch["mask"]].square().sum().backward()
        gradients.append([value.grad.clone() for value in scorer.parameters()])
    torch.testing.assert_close(*logits)
    torch.testing.assert_close(*gradients)


def test_a_perceptron_by_parts_is_the_perceptron_over_all_of_them():
    torch.manual_seed(4)
    perceptron = nn.Sequential(nn.Linear(3 + 2 + 4, 5), nn.GELU(), nn.Linear(5, 2))
    sheets, query, pairs = torch.randn(3, 3), torch.randn(B, 1, 2), torch.randn(B, K, 4)
    rows = torch.tensor([[0, 1, 2, 1], [2, 0, 1, 0]])
    read = torch.cat((sheets[rows], query.expand(B, K, 2), pairs), dim=-1)
    torch.testing.assert_close(
        blockwise(perceptron, (sheets, query, pairs), rows), perceptron(read)
    )


@pytest.mark.parametrize("count", [1, 2, 7, 200])
def test_ranks_are_numpys_linspace_from_one_to_zero(count):
    mask = torch.arange(200)[None] < count
    np.testing.assert_allclose(ranks(mask)[0, :count], np.linspace(1, 0, count), atol=1e-6)


def test_dropout_acts_in_training_only(batch):
    torch.manual_seed(0)
    made = BaseScorer(ScorerShape(D, F, dropout=0.5))
    nn.init.ones_(made.perceptron[3].weight)
    assert not torch.equal(made.train()(**batch), made(**batch))
    assert torch.equal(made.eval()(**batch), made(**batch))
