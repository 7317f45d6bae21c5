"""The facts that the registry has of each kind of reranker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.reranker import Reranker


@dataclass(frozen=True, slots=True)
class UntrainedKind:
    """A reranker that needs no training.

    Attributes:
        name: Name that a search chooses it by.
        make: From an index to its reranker.
    """

    name: str
    make: Callable[[SheetIndex], Reranker]


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """The tokens and texts that a trained model knows.

    Attributes:
        encoder: Fingerprint of the Sheet Encoder whose tokens it was trained with.
        serialization: Fingerprint of the sheet texts it was trained on.
    """

    encoder: str
    serialization: str


@dataclass(frozen=True, slots=True)
class TrainedKind:
    """A reranker that lies in a folder.

    Attributes:
        name: Name of its training (`sat train NAME`), and of its folder within a run.
        label: Name of its row in a table.
        format: `format` in the `config.json` of its folder.
        trained_on: Reads and checks what the model in a folder was trained on; loads no model.
        load: From an index and a folder to the reranker for the index's sheets.
    """

    name: str
    label: str
    format: str
    trained_on: Callable[[Path], TrainedOn]
    load: Callable[[SheetIndex, Path], Reranker]
