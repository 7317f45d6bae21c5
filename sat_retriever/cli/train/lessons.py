"""What a training of the command line learns from: an index with labels, a corpus, or Spider."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sat_retriever.datasets.labels import Query
from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import FingerprintMismatchError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.synth.options import WORKBOOKS
from sat_retriever.training.corpusindex import corpus_index, seen_index
from sat_retriever.training.data import TrainingData
from sat_retriever.training.holdout import OwnSplit
from sat_retriever.training.sources import Source, from_index

INDEX = "index.sat"  # of a corpus, in the run folder
_MAKING = ".index"  # holds it until the training is finished: a new run folder is empty
_SEEN = "seen.sat"


class Lessons(Protocol):
    """Questions to train on and to choose with, over the sheets of a corpus or an index."""

    @property
    def name(self) -> str:
        """What it is, for the report."""
        ...

    @property
    def data_name(self) -> str:
        """Name of the corpus or the index, as `TrainingData.name` has it."""
        ...

    @property
    def train(self) -> tuple[Query, ...]:
        """Questions to learn from."""
        ...

    @property
    def validation(self) -> tuple[Query, ...]:
        """Questions to choose with."""
        ...

    @property
    def left_out(self) -> int:
        """Number of questions of neither part, such as those for the test."""
        ...

    @property
    def folders(self) -> list[str]:
        """Where the workbooks are; none if there are none."""
        ...

    def data(self) -> TrainingData:
        """What Stage 1 and the Cross-Encoder learn from."""
        ...

    def searched(
        self, encoder: str | None, folder: Path
    ) -> AbstractContextManager[tuple[SheetIndex, SheetIndex]]:
        """Two open indexes: what training questions search, and all sheets.

        They are one and the same where training may see every sheet.

        Args:
            encoder: Name or folder of the Sheet Encoder; None takes the index's.
            folder: Where to keep the indexes that are made.

        Raises:
            InputError: If a corpus comes without an encoder.
            FingerprintMismatchError: If a user's index has another encoder's tokens.
        """
        ...

    def tidy(self, folder: Path) -> None:
        """Put away what `searched` made, once the training is finished."""
        ...


@dataclass(frozen=True, slots=True)
class CorpusLessons:
    """Those of a published or a made corpus.

    Attributes:
        source: Sheets, links and questions.
        split: Name of the split.
    """

    source: Source
    split: str

    @property
    def name(self) -> str:
        """What it is, for the report."""
        return f"{self.source.dataset.name}, {self.split}"

    @property
    def data_name(self) -> str:
        """Name of the corpus."""
        return self.source.dataset.name

    @property
    def train(self) -> tuple[Query, ...]:
        """Questions to learn from."""
        return self.source.train

    @property
    def validation(self) -> tuple[Query, ...]:
        """Questions to choose with."""
        return self.source.validation

    @property
    def left_out(self) -> int:
        """Number of questions of neither part."""
        return len(self.source.dataset.queries) - len(self.train) - len(self.validation)

    @property
    def folders(self) -> list[str]:
        """Where the workbooks are that `sat synth` made."""
        beside = self.source.dataset.files[0].parent / WORKBOOKS
        return [str(beside)] if beside.is_dir() else []

    def data(self) -> TrainingData:
        """What Stage 1 and the Cross-Encoder learn from."""
        return self.source.training_data()

    @contextmanager
    def searched(
        self, encoder: str | None, folder: Path
    ) -> Iterator[tuple[SheetIndex, SheetIndex]]:
        """Indexes of the corpus with its published links, made in the folder."""
        if encoder is None:
            raise InputError(
                "a corpus has no tokens yet: name the Sheet Encoder with --encoder, a run of "
                "sat train encoder, 'general' or 'minilm'"
            )
        loaded = SheetEncoder.load(encoder)
        dataset, seen = self.source.dataset, self.source.seen
        made = folder / INDEX
        path = made if made.exists() else folder / _MAKING / INDEX
        with corpus_index(dataset, loaded, path) as whole:
            if seen is None:
                yield whole, whole
                return
            with corpus_index(dataset, loaded, folder / _MAKING / _SEEN, seen=seen) as part:
                yield part, whole

    def tidy(self, folder: Path) -> None:
        """Leave the index of all sheets in the run folder, and no other."""
        making = folder / _MAKING
        if (making / INDEX).exists():
            (making / INDEX).replace(folder / INDEX)
        shutil.rmtree(making, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class OwnLessons:
    """Those of a user's index and labels.

    Attributes:
        name: What it is, for the report.
        file: The index.
        divided: The labels.
    """

    name: str
    file: Path
    divided: OwnSplit

    @property
    def data_name(self) -> str:
        """Name of the index."""
        return self.file.stem

    @property
    def train(self) -> tuple[Query, ...]:
        """Questions to learn from."""
        return self.divided.train

    @property
    def validation(self) -> tuple[Query, ...]:
        """Questions to choose with."""
        return self.divided.validation

    @property
    def left_out(self) -> int:
        """Number of questions of neither part."""
        return self.divided.left_out

    @property
    def folders(self) -> list[str]:
        """What was indexed."""
        with SheetIndex.open(self.file) as opened:
            return roots_of(opened)

    def data(self) -> TrainingData:
        """What Stage 1 and the Cross-Encoder learn from."""
        with SheetIndex.open(self.file) as opened:
            return from_index(opened, self.train, self.validation, seen=self.divided.seen)

    @contextmanager
    def searched(
        self, encoder: str | None, folder: Path
    ) -> Iterator[tuple[SheetIndex, SheetIndex]]:
        """The index itself, and one of the sheets that training may see."""
        with _opened(self.file, encoder) as whole:
            if self.divided.seen is None:
                yield whole, whole
                return
            with seen_index(whole, self.divided.seen, folder / _MAKING / _SEEN) as part:
                yield part, whole

    def tidy(self, folder: Path) -> None:
        """Remove what was made for the training only."""
        shutil.rmtree(folder / _MAKING, ignore_errors=True)


# ---- inner workings


def _opened(file: Path, encoder: str | None) -> SheetIndex:
    if encoder is None:
        return SheetIndex.open(file)
    try:
        return SheetIndex.open(file, SheetEncoder.load(encoder))
    except FingerprintMismatchError as error:
        with SheetIndex.open(file) as opened:
            roots = roots_of(opened) or ["FOLDER"]
        raise FingerprintMismatchError(
            f"{file} does not have the tokens of {encoder}; index the workbooks with it, into a "
            f"new file: sat index {' '.join(roots)} --index NEW.sat --encoder {encoder}"
        ) from error


def roots_of(opened: SheetIndex) -> list[str]:
    """Folders whose workbooks an index holds."""
    return sorted({state.root for state in opened.workbooks()})
