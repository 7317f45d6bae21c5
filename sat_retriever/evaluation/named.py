"""Name the methods that can search an index, as rows of a table."""

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
    untrained_kind,
)

_OWN = "+ own reranker"
_ENCODER = "encoder"  # the folder of the encoder in a training's run


def named_methods(
    index: SheetIndex,
    rerankers: Iterable[str | Path] = (),
    lost: Callable[[str], None] | None = None,
) -> dict[str, Method]:
    """Return words, tokens, both, times, links, and trained rerankers, in the order of a table.

    Tokens are called Stage 1 if the index's encoder was trained on sheets, and RAG, as in the
    paper, if not. "+ own reranker" is the reranker that a search of this index uses, if that is
    a trained one.

    Args:
        index: The index to search.
        rerankers: Folders of further trained rerankers, or run folders of their trainings, or
            "general".
        lost: Receives the reason if the index's own reranker cannot be opened and has no row.

    Raises:
        PathNotFoundError: If there is no such folder, or the index's own reranker is missing and
            `lost` is None.
        InputError: If a folder holds no reranker.
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
    """True if the index's encoder was trained on questions, which also chose its weight.

    Raises:
        EncoderError: If the encoder cannot be loaded.
    """
    return getattr(index.encoder, "dense_weight", None) is not None


def encoder_label(name: str) -> str:
    """Return an encoder's name for a table: the last meaningful part of its full name.

    >>> [encoder_label(name) for name in ("minilm", "BAAI/bge-base", "/data/runs/7/encoder")]
    ['minilm', 'bge-base', '7']
    """
    path = Path(name)
    return (path.parent.name if path.name == _ENCODER else path.name) or name


def _trained(index: SheetIndex, name: str) -> tuple[str, Method]:
    """Return a trained reranker as a method, and the name of its row."""
    found = load_reranker(index, name)
    kind, _ = located_reranker(name)
    return f"{kind.label} ({Path(name).resolve().name})", second_stage(index, found)
