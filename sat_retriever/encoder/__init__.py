"""Turn texts into tokens: the Sheet Encoder, its sources, its export and its folder.

Embedding models of other people, on a server or in an object of a framework, do the same. Each name
loads its module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sat_retriever.encoder.embedding import EmbeddingEncoder
    from sat_retriever.encoder.sheet import SheetEncoder
    from sat_retriever.encoder.source import DEFAULT, MINILM

_MODULES = {
    "DEFAULT": "source",
    "EmbeddingEncoder": "embedding",
    "MINILM": "source",
    "SheetEncoder": "sheet",
}

__all__ = ["DEFAULT", "MINILM", "EmbeddingEncoder", "SheetEncoder"]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
