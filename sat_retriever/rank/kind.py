"""Describe the kinds of rerankers for the registry."""

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
        name: Name that a search selects it by.
        make: Makes the reranker of an index.
    """

    name: str
    make: Callable[[SheetIndex], Reranker]


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """The tokens and texts that a model was trained on.

    Attributes:
        encoder: Fingerprint of the Sheet Encoder whose tokens it was trained with.
        serialization: Fingerprint of the sheet texts that it was trained on.
    """

    encoder: str
    serialization: str


@dataclass(frozen=True, slots=True)
class TrainedKind:
    """A reranker in a folder.

    Attributes:
        name: Name of its training (`sat train NAME`), and of its folder within a run.
        label: Name of its row in a table.
        format: `format` in the `config.json` of its folder.
        trained_on: Reads and checks the description of a model in a folder; loads no model.
        load: Loads the reranker in a folder for the sheets of an index.
        carry: Copies the model in a folder into another one, for an encoder trained further from
            its own, given by its fingerprint. The caller must measure how well it ranks there.
            None if it reads no tokens.
        has_command: False if no command trains it, but this package's library alone.
    """

    name: str
    label: str
    format: str
    trained_on: Callable[[Path], TrainedOn]
    load: Callable[[SheetIndex, Path], Reranker]
    carry: Callable[[Path, Path, str], None] | None = None
    has_command: bool = True

    @property
    def command(self) -> str | None:
        """The command that trains one; None if there is none."""
        return f"sat train {self.name}" if self.has_command else None
