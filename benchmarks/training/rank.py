"""Trained models as compared methods: what users run, from the folders that training wrote."""

from __future__ import annotations

from benchmarks.training.methods import Recipe
from benchmarks.training.plan import Step
from benchmarks.training.runner import RUN, Places
from sat_retriever.evaluation.llm import Answers, LanguageModel
from sat_retriever.evaluation.llm.methods import llm_only, rag_llm
from sat_retriever.evaluation.methods import (
    Method,
    bm25,
    fused,
    link_reranker,
    rag,
    second_stage,
    stage1,
)
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.load import load_reranker, own_reranker


def method_of(recipe: Recipe, step: Step | None, index: SheetIndex, places: Places) -> Method:
    """Return the method of a recipe without a language model, after its trainings."""
    if step is None or step.kind == "encoder":
        return _first_stage(recipe, index)
    return second_stage(index, load_reranker(index, places.folder(step) / RUN))


def asking(recipe: Recipe, index: SheetIndex, model: LanguageModel, answers: Answers) -> Method:
    """Return the method of a recipe with a language model.

    The model is first called at the first question; a stopped run continues.
    """
    if recipe.llm == "names":
        return llm_only(index, model, answers)
    return rag_llm(index, model, answers, _first_stage(recipe, index))


def _first_stage(recipe: Recipe, index: SheetIndex) -> Method:
    """Return the method of a recipe without a trained Stage 2."""
    if recipe.default:
        return second_stage(index, own_reranker(index))
    if recipe.walk:
        return link_reranker(index, recipe.dense_weight)
    if recipe.dense_weight == 0:
        return bm25(index)
    if recipe.dense_weight == 1:
        return rag(index) if recipe.encoder is None else stage1(index)
    return fused(index, recipe.dense_weight)
