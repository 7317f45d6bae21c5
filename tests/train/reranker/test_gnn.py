"""The gated graph against slow loops written from its formulas."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from sat_retriever.train.reranker.scorer import (
    BaseScorer,
    GraphScorer,
    GraphShape,
    ScorerShape,
    row_normalised,
)

B, K, D, F = 2, 4, 6, 1
CHANNELS = ("semantic", "schema", "query", "formula_reference")


def made(*, layers: int = 2, gate: float = 0.5, joint: bool = False) -> GraphScorer:
    torch.manual_seed(1)
    base = BaseScorer(ScorerShape(D, F))
    nn.init.normal_(base.perceptron[3].weight)
    return GraphScorer(base, GraphShape(CHANNELS, layers, gate), joint=joint).eval()


@pytest.fixture
def batch() -> dict[str, torch.Tensor]:
    torch.manual_seed(2)
    mask = torch.ones(B, K, dtype=torch.bool)
    mask[1, 3] = False
    relations = torch.rand(B, len(CHANNELS), K, K)
    relations[:, 3] = 0.0
    relations[:, 3, 0, 1] = relations[:, 3, 1, 0] = 1.0
    return {
        "query": torch.randn(B, D),
        "tokens": torch.randn(B, K, D),
        "scores": torch.rand(B, K),
        "features": torch.rand(B, K, F),
        "relations": relations,
        "mask": mask,
    }


def array(value: torch.Tensor) -> np.ndarray:
    return value.detach().double().numpy()


def affine(layer: nn.Linear, x: np.ndarray) -> np.ndarray:
    return array(layer.weight) @ x + (0 if layer.bias is None else array(layer.bias))


def gelu(x: np.ndarray) -> np.ndarray:
    return np.array([value * 0.5 * (1 + math.erf(value / math.sqrt(2))) for value in x])


def slow_adjacency(asked: np.ndarray, states: np.ndarray, relations: np.ndarray) -> np.ndarray:
    """Row-normalised relations (c, k, k) of one question, entry by entry."""
    k = len(states)
    found = np.zeros((len(CHANNELS), k, k))
    fit = [float(h @ asked) for h in states]
    for c, name in enumerate(CHANNELS):
        for i in range(k):
            for j in range(k):
                if i == j:
                    continue
                given = {"semantic": (states[i] @ states[j] + 1) / 2,
                         "query": (fit[i] * fit[j] + 1) / 2}  # fmt: skip
                found[c, i, j] = max(given.get(name, relations[c, i, j]), 0)
            total = found[c, i].sum()
            if total > 0:
                found[c, i] /= total
    return found


def slow_layer(
    layer: nn.Module, states: np.ndarray, asked: np.ndarray, adjacency: np.ndarray
) -> np.ndarray:
    """h' = norm(h + sigmoid(g0) u), candidate by candidate."""
    k, d = states.shape
    matrices = array(layer.messages.weight).reshape(len(CHANNELS), d, d)  # V_c
    new = []
    for i in range(k):
        chosen = affine(layer.choice[2], gelu(affine(layer.choice[0], [*states[i], *asked])))
        weights = np.exp(chosen) / np.exp(chosen).sum()
        mixed = np.zeros(d)
        for c in range(len(CHANNELS)):
            message = np.zeros(d)
            for j in range(k):
                message += adjacency[c, i, j] * (matrices[c] @ states[j])
            mixed += weights[c] * message
        read = [*states[i], *mixed, *asked]
        u = affine(layer.update[3], gelu(affine(layer.update[0], read)))
        h = states[i] + u / (1 + math.exp(-float(layer.gate.detach())))
        new.append(h / math.sqrt((h * h).sum()))
    return np.array(new)


def test_layers_equal_the_formula(batch):
    scorer = made()
    asked, states = scorer.base.states(batch["query"], batch["tokens"])
    found, _ = scorer.refine(asked, states, batch["relations"], batch["mask"])
    for row, count in ((0, 4), (1, 3)):
        h, q = array(states[row, :count]), array(asked[row])
        adjacency = slow_adjacency(q, h, array(batch["relations"][row]))
        for layer in scorer.layers:
            h = slow_layer(layer, h, q, adjacency)
        np.testing.assert_allclose(array(found[row, :count]), h, atol=1e-5)


def test_relations_equal_the_formula(batch):
    scorer = made()
    asked, states = scorer.base.states(batch["query"], batch["tokens"])
    found = scorer.adjacency(asked, states, batch["relations"], batch["mask"])
    for row, count in ((0, 4), (1, 3)):
        wanted = slow_adjacency(
            array(asked[row]), array(states[row, :count]), array(batch["relations"][row])
        )
        np.testing.assert_allclose(array(found[row, :, :count, :count]), wanted, atol=1e-6)
        assert not found[row, :, count:].any()
        assert not found[row, :, :, count:].any()


def test_negative_entries_self_loops_and_isolated_rows_are_zero():
    relations = torch.tensor([[[[5.0, -1.0, 3.0], [0.0, 7.0, 0.0], [1.0, 1.0, 1.0]]]])
    found = row_normalised(relations, torch.ones(1, 3, dtype=torch.bool))
    assert found[0, 0].tolist() == [[0, 0, 1], [0, 0, 0], [0.5, 0.5, 0]]


def test_final_logits_are_the_base_scorers_on_the_new_states(batch):
    scorer = made()
    asked, states = scorer.base.states(batch["query"], batch["tokens"])
    states, _ = scorer.refine(asked, states, batch["relations"], batch["mask"])
    wanted = scorer.base.score(asked, states, batch["scores"], batch["features"], batch["mask"])
    torch.testing.assert_close(scorer(**batch), wanted)


def test_a_closed_gate_gives_the_base_scorers_logits(batch):
    scorer = made(gate=-100.0)
    alone = {name: value for name, value in batch.items() if name != "relations"}
    torch.testing.assert_close(scorer(**batch), scorer.base(**alone))
    assert scorer.gates() == pytest.approx([0.0, 0.0])


def test_the_gate_starts_at_the_sigmoid_of_its_setting():
    assert made(gate=-4.0, layers=1).gates() == pytest.approx([1 / (1 + math.exp(4))])


def test_what_stands_at_masked_places_changes_no_other_logit(batch):
    scorer = made()
    before = scorer(**batch)
    batch["tokens"][1, 3] = 9.0
    batch["relations"][1, :, 3], batch["relations"][1, :, :, 3] = 9.0, 9.0
    after = scorer(**batch)
    torch.testing.assert_close(after[batch["mask"]], before[batch["mask"]], rtol=0, atol=0)


def test_states_follow_a_permutation_of_the_candidates(batch):
    scorer = made()
    asked, states = scorer.base.states(batch["query"], batch["tokens"])
    states, relations, mask = states[:1], batch["relations"][:1], batch["mask"][:1]
    order = torch.tensor([2, 0, 3, 1])
    found, _ = scorer.refine(asked[:1], states, relations, mask)
    moved, _ = scorer.refine(
        asked[:1], states[:, order], relations[:, :, order][:, :, :, order], mask
    )
    torch.testing.assert_close(moved, found[:, order])


@pytest.mark.parametrize("joint", [False, True])
def test_lists_that_share_sheets_give_the_logits_and_gradients_of_lists_of_their_own(batch, joint):
    scorer = made(joint=joint).double()
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
        learns = [value for value in scorer.parameters() if value.requires_grad]
        gradients.append([value.grad.clone() for value in learns])
    torch.testing.assert_close(*logits)
    torch.testing.assert_close(*gradients)


def test_a_single_candidate_has_no_neighbours_and_a_finite_logit(batch):
    scorer = made()
    one = {
        "query": batch["query"], "tokens": batch["tokens"][:, :1],
        "scores": batch["scores"][:, :1], "features": batch["features"][:, :1],
        "relations": batch["relations"][:, :, :1, :1], "mask": batch["mask"][:, :1],
    }  # fmt: skip
    found = scorer(**one)
    assert found.shape == (B, 1)
    assert found.isfinite().all()


def test_a_frozen_base_scorer_has_no_gradient_and_no_dropout(batch):
    scorer = made(joint=False).train()
    assert scorer.layers.training
    assert not any(module.training for module in scorer.base.modules())
    scorer(**batch).sum().backward()
    assert all(value.grad is None for value in scorer.base.parameters())
    assert all(value.grad is not None for value in scorer.layers.parameters())


def test_a_joint_base_scorer_learns_too(batch):
    scorer = made(joint=True).train()
    assert all(module.training for module in scorer.base.modules())
    scorer(**batch).sum().backward()
    assert all(value.grad is not None for value in scorer.parameters())
