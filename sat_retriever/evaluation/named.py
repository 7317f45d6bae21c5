"""The methods that an index can be asked by, named as the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sat_retriever.evaluation.llm import (
    Answers,
    LanguageModel,
    LanguageModelSettings,
    summary,
)
from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.methods.bm25 import bm25
from sat_retriever.evaluation.methods.fused import fused
from sat_retriever.evaluation.methods.link_reranker import link_reranker
from sat_retriever.evaluation.methods.rag import rag
from sat_retriever.evaluation.methods.rag_llm import rag_llm
from sat_retriever.evaluation.methods.stage1 import stage1
from sat_retriever.graphrank.rerank import GraphReranker
from sat_retriever.index import SheetIndex
from sat_retriever.retriever import CANDIDATES, load_reranker

_ENCODER = "encoder"  # folder of a run, where a training puts the encoder


def named_methods(index: SheetIndex, rerankers: Iterable[str | Path] = ()) -> dict[str, Method]:
    """Words, tokens, both, links, and trained rerankers, in the order of a table.

    Tokens are called Stage 1 where the index's encoder was trained on sheets, and RAG, as in
    the paper, where it was not.

    Args:
        index: Where they look.
        rerankers: Folders of trained rerankers, or run folders of their trainings.

    Raises:
        PathNotFoundError: If there is no such folder.
        InputError: If there is no reranker in it.
        EncoderError: If the index's encoder or a reranker cannot be opened.
        FingerprintMismatchError: If a reranker was trained on other tokens than the index has.
    """
    encoder = encoder_label(index.encoder_name)
    trained = is_trained(index)
    methods = {
        "BM25": bm25(index),
        f"{'Stage 1' if trained else 'RAG'} ({encoder})": (stage1 if trained else rag)(index),
        "fused": fused(index),
        "+ link reranker": link_reranker(index),
    }
    for folder in rerankers:
        name, method = _trained(index, Path(folder))
        number, free = 1, name
        while free in methods:
            number += 1
            free = f"{name} {number}"
        methods[free] = method
    return methods


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A language model over the sheets that tokens find.

    Attributes:
        name: What its row is called.
        method: How it answers.
        answers: Its answers, kept as they come.
    """

    name: str
    method: Method
    answers: Answers

    def seconds(self) -> list[float]:
        """How long each answer took, when it was given."""
        return [answer.seconds for answer in self.answers.seen]

    def counts(self) -> dict[str, Any]:
        """Questions, short and failed answers, tokens of the prompts."""
        return asdict(summary(self.answers.seen))

    def note(self) -> str:
        """What a reader of its row has to know, in a sentence."""
        found = summary(self.answers.seen)
        tokens = "" if found.tokens_mean is None else f", {found.tokens_mean:,.0f} tokens a prompt"
        return (
            f"{self.name}: {found.questions:,} answers{tokens}; {found.short:,} were short and "
            f"{found.failed:,} failed, and were filled up in the order of the candidates. Its "
            "latency is that of the model alone, when it was asked."
        )


def asked_model(index: SheetIndex, model: str, answers: Path) -> AskedModel:
    """A model of the local Ollama that picks from what the index's tokens find.

    Args:
        index: Where candidates come from.
        model: Name as `ollama list` shows it.
        answers: Where its answers are kept, and looked up before it is asked.

    Raises:
        InputError: If the file holds something else.
        MissingExtraError: If the package `ollama` is not installed.
        ModelSetupError: If there is no server, or it does not have the model.
        LanguageModelError: If the server fails.
    """
    language = LanguageModel(LanguageModelSettings(model))
    _ = language.facts  # now, not after all other methods
    kept = Answers(answers)
    first = "Stage 1" if is_trained(index) else "RAG"
    return AskedModel(f"{first}+LLM ({model})", rag_llm(index, language, kept), kept)


def is_trained(index: SheetIndex) -> bool:
    """Whether the index's encoder learned from questions: then its training chose its weight.

    Raises:
        EncoderError: If the encoder cannot be loaded.
    """
    return getattr(index.encoder, "dense_weight", None) is not None


def encoder_label(name: str) -> str:
    """What an encoder is called in a table: the last part of its name that says something.

    >>> [encoder_label(name) for name in ("minilm", "BAAI/bge-base", "/data/runs/7/encoder")]
    ['minilm', 'bge-base', '7']
    """
    path = Path(name)
    return (path.parent.name if path.name == _ENCODER else path.name) or name


def _trained(index: SheetIndex, folder: Path) -> tuple[str, Method]:
    """A trained reranker over the candidates it was trained on."""
    found = load_reranker(index, folder)
    wanted, weight = found.candidates or CANDIDATES, found.dense_weight
    find = partial(index.candidates, top_k=wanted, dense_weight=weight)
    kind = "Stage 2" if isinstance(found, GraphReranker) else "Cross-Encoder"
    return f"{kind} ({folder.resolve().name})", Method(find, found.rerank)
