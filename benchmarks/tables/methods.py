"""Differences between the compared methods, and their training: the paper's beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from benchmarks.paper import paper
from benchmarks.tables.figure_data import OF_PAPER
from benchmarks.tables.markdown import markdown, number
from benchmarks.training.methods import RECIPES, Recipe
from sat_retriever.encoder.source import MINILM

# Fields of our settings by row and column of the paper's table of hyper-parameters.
_FIELDS: Mapping[str, tuple[str, str, str, str]] = MappingProxyType(
    {
        "epochs": ("epochs", "base_epochs", "graph_epochs", "epochs"),
        "batch size": ("batch_size",) * 4,
        "learning rate": (
            "learning_rate",
            "base_learning_rate",
            "graph_learning_rate",
            "learning_rate",
        ),
        "weight decay": ("weight_decay",) * 4,
        "warm-up, epochs": ("warmup_epochs",) * 4,
        "gradient clipping": ("max_grad_norm",) * 4,
        "maximum length, tokens": ("max_length", "", "", "max_length"),
        "dropout": ("", "dropout", "dropout", ""),
        "precision": ("precision",) * 4,
        "temperature": ("temperature", "", "", ""),
        "weight of the BCE part": ("", "bce_weight", "bce_weight", ""),
        "weight of the pairwise part": ("", "pair_weight", "pair_weight", ""),
        "margin": ("", "margin", "margin", ""),
        "candidates": ("", "candidates", "candidates", "candidates"),
        "gate at first, IndustryTab-614": ("", "", "", ""),
        "gate at first, IndustryTab-1K": ("", "", "gate", ""),
        "positive weight": ("", "", "", "positive_weight"),
        "weight of Stage 1's score": ("", "", "", ""),
        "seeds": ("", "", "", ""),
    }
)


def compared_table() -> str:
    """Return a table of each method's trained parts, reranker, links and name in the paper.

    Methods with another base encoder than MiniLM are left out: they differ in nothing else.
    """
    rows = []
    for name, recipe in RECIPES.items():
        if recipe.base != MINILM:
            continue
        rows.append([recipe.title, *_traits(recipe), OF_PAPER.get(name, "–")])
    headings = ["method", "encoder", "Stage 2", "over links", "candidates or context"]
    return markdown([*headings, "in the paper"], rows)


def _traits(recipe: Recipe) -> tuple[str, str, str, str]:
    """Return the encoder, Stage 2, whether it reasons over links, and the way to five sheets."""
    if recipe.llm == "names":
        return "–", "language model", "–", "all sheet names → 5"
    layers = recipe.reranker.layers if recipe.reranker else 0
    stage2 = {
        recipe.llm is not None: "language model",
        recipe.cross_encoder is not None: "Cross-Encoder",
        recipe.reranker is not None: "base scorer and gated GNN" if layers else "base scorer",
        recipe.walk: "link reranker, untrained",
    }.get(True, "–")
    words_only = recipe.encoder is None and recipe.dense_weight == 0.0
    encoder = "words only" if words_only else "trained" if recipe.encoder else "zero-shot"
    path = "full corpus → 5" if stage2 == "–" else "full corpus → 50 → 5"
    return encoder, stage2, "yes" if layers or recipe.walk else "–", path


def training_table(recipe: str = "graph", cross: str = "cross") -> str:
    """Return hyper-parameters of each training, ours and the paper's; a dash where there is none.

    Args:
        recipe: Method whose Stage 1 and Stage 2 are shown.
        cross: Method whose Cross-Encoder is shown.
    """
    shown = RECIPES[recipe]
    ours = (shown.encoder, shown.reranker, shown.reranker, RECIPES[cross].cross_encoder)
    reported = paper.training()
    headings = [""]
    for column in reported.columns:
        headings += [f"{column}: here", "paper"]
    rows = []
    for name, theirs in reported.rows.items():
        row = [name]
        for settings, field, value in zip(ours, _FIELDS[name], theirs, strict=True):
            row += [_plain(getattr(settings, field)) if field else number(None), _plain(value)]
        rows.append(row)
    return markdown(headings, rows)


def _plain(value: Any) -> str:
    """Return a setting as it is written, not rounded.

    >>> _plain(0.0002), _plain(64), _plain(None)
    ('0.0002', '64', '–')
    """
    return f"{value:g}" if isinstance(value, int | float) else number(value)
