"""The methods that an index can be asked by, named as the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from sat_retriever.errors import EncoderError, FingerprintMismatchError, PathNotFoundError
from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.methods.bm25 import bm25
from sat_retriever.evaluation.methods.fused import fused
from sat_retriever.evaluation.methods.link_reranker import link_reranker
from sat_retriever.evaluation.methods.rag import rag
from sat_retriever.evaluation.methods.second_stage import second_stage
from sat_retriever.evaluation.methods.stage1 import stage1
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.load import (
    load_reranker,
    located_reranker,
    own_reranker,
    own_reranker_name,
)
from sat_retriever.rank.registry import untrained_kind

_OWN = "+ own reranker"
_ENCODER = "encoder"  # folder of a run, where a training puts the encoder


def named_methods(
    index: SheetIndex,
    rerankers: Iterable[str | Path] = (),
    lost: Callable[[str], None] | None = None,
) -> dict[str, Method]:
    """Words, tokens, both, times, links, and trained rerankers, in the order of a table.

    Tokens are called Stage 1 where the index's encoder was trained on sheets, and RAG, as in
    the paper, where it was not. "+ own reranker" is what a search of this index ends with, if
    that is a trained one.

    Args:
        index: Where they look.
        rerankers: Folders of further trained rerankers, or run folders of their trainings, or
            "general".
        lost: Is told why the index's own reranker has no row, where it cannot be opened.

    Raises:
        PathNotFoundError: If there is no such folder, or the index's own reranker is not there
            and nobody is to be told.
        InputError: If there is no reranker in it.
        EncoderError: If the index's encoder or a reranker cannot be opened.
        FingerprintMismatchError: If a reranker was trained on other tokens than the index has.
    """
    encoder = encoder_label(index.encoder_name)
    trained = is_trained(index)
    methods = {
        "BM25": bm25(index),
        f"{'Stage 1' if trained else 'RAG'} ({encoder})": (stage1 if trained else rag)(index),
        "fused": fused(index, times=False),
        **({"+ times": fused(index)} if index.times else {}),
        "+ link reranker": link_reranker(index),
    }
    try:
        if not untrained_kind(own_reranker_name(index)):
            methods[_OWN] = second_stage(index, own_reranker(index))
    except (PathNotFoundError, EncoderError, FingerprintMismatchError) as error:
        if lost is None:
            raise
        lost(f"{_OWN} is left out: {error}")
    for folder in rerankers:
        name, method = _trained(index, str(folder))
        number, free = 1, name
        while free in methods:
            number += 1
            free = f"{name} {number}"
        methods[free] = method
    return methods


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


def _trained(index: SheetIndex, name: str) -> tuple[str, Method]:
    """A trained reranker, and what its row is called."""
    found = load_reranker(index, name)
    kind, _ = located_reranker(name)
    return f"{kind.label} ({Path(name).resolve().name})", second_stage(index, found)
