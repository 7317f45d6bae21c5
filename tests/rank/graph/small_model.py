"""Reranker folders: one whose scores can be computed by hand, and a random base scorer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from sat_retriever.rank.graph.graphrank import GRAPH
from sat_retriever.rank.graph.spec import MODEL, GraphSpec


def small_spec(index, **changes) -> GraphSpec:
    """What a model for an index reads: the fused score, words, and two relations."""
    values = {
        "encoder": index.fingerprint,
        "serialization": index.serialization.fingerprint,
        "width": index.encoder.width,
        "start": "fused",
        "dense_weight": 0.4,
        "candidates": 50,
        "features": ("lexical",),
        "channels": ("formula_reference", "schema"),
        "layers": 1,
    }
    return GraphSpec(**{**values, **changes})


def small_logits(query, tokens, scores, features, relations, weights: Sequence[float]):
    """`10 s + z q + Σ_f x_f + Σ_c w_c A_c s`, (k,): what the model computes."""
    heard = np.einsum("c,cij,j->i", np.float32(weights), relations, scores)
    return 10 * scores + tokens @ query + features.sum(axis=1) + heard


def save_small_model(folder: Path, spec: GraphSpec, weights: Sequence[float] = (5.0, 0.0)) -> Path:
    """The folder, with a model of these weights of its channels."""
    GRAPH.write(folder, spec, {MODEL: lambda path: onnx.save(_model(spec, weights), path)})
    return folder


def base_spec(index) -> GraphSpec:
    """What a base scorer for an index reads that `sat adapt` can begin with."""
    channels = {"channels": (), "layers": 0}
    return small_spec(index, start="links", features=("lexical", "dense"), **channels)


def save_base_scorer(folder: Path, spec: GraphSpec, scale: float = 10.0) -> Path:
    """The folder, with a base scorer of random weights, all different; needs torch.

    Args:
        folder: Where it is written.
        spec: What it reads.
        scale: What it multiplies the first score with; below zero the best become the last.
    """
    import torch

    from sat_retriever.train.reranker.graph import export_scorer
    from sat_retriever.train.reranker.scorer import BaseScorer, ScorerShape

    scorer = BaseScorer(ScorerShape(spec.width, len(spec.features)))
    chance = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for value in scorer.parameters():
            value.add_(0.1 * torch.rand(value.shape, generator=chance))
        scorer.scale.fill_(scale)
    export_scorer(scorer, spec, folder)
    return folder


def _model(spec: GraphSpec, weights: Sequence[float]) -> onnx.ModelProto:
    c, d, f = len(spec.channels), spec.width, len(spec.features)
    shapes = {
        "query": [d],
        "tokens": ["k", d],
        "scores": ["k"],
        "features": ["k", f],
        "relations": [c, "k", "k"],
    }
    nodes = [
        helper.make_node("Mul", ["scores", "ten"], ["start"]),
        helper.make_node("MatMul", ["tokens", "query"], ["cosine"]),
        helper.make_node("ReduceSum", ["features", "last"], ["read"], keepdims=0),
        helper.make_node("MatMul", ["relations", "scores"], ["spoken"]),  # (c, k)
        helper.make_node("MatMul", ["weights", "spoken"], ["heard"]),
        helper.make_node("Sum", ["start", "cosine", "read", "heard"], ["logits"]),
    ]
    floats = TensorProto.FLOAT
    inputs = [helper.make_tensor_value_info(name, floats, shapes[name]) for name in shapes]
    constants = [
        numpy_helper.from_array(np.float32(10), "ten"),
        numpy_helper.from_array(np.array([1]), "last"),
        numpy_helper.from_array(np.array(weights, dtype=np.float32), "weights"),
    ]
    output = helper.make_tensor_value_info("logits", floats, ["k"])
    graph = helper.make_graph(nodes, "small", inputs, [output], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
