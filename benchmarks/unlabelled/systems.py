"""The systems that are compared: untrained, general, adapted; each over an index of its encoder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.unlabelled.runs import Job
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.encoder import SheetEncoder
from sat_retriever.encoder.models.folder import FOLDER as PACKAGED
from sat_retriever.encoder.models.folder import is_packaged
from sat_retriever.errors import EncoderError, PathNotFoundError
from sat_retriever.evaluation.methods import (
    Method,
    bm25,
    encoder_label,
    fused,
    link_reranker,
    rag,
    second_stage,
)
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.load import load_reranker, own_reranker
from sat_retriever.train.adapt.outcome import ENCODER, STAGE_1, Adaptation
from sat_retriever.train.data.corpusindex import corpus_index

_INDEXES = "indexes"


@dataclass(frozen=True, slots=True)
class System:
    """One row of a table.

    Attributes:
        name: Name in result files.
        title: Name in tables.
        method: The ranking.
        index: Index to search; None if it does not matter.
    """

    name: str
    title: str
    method: Method
    index: SheetIndex | None = None


def index_by(dataset: Dataset, encoder: SheetEncoder, folder: Path) -> SheetIndex:
    """Return the corpus's index by an encoder, with times compared; make it if missing."""
    file = folder / _INDEXES / f"{dataset.name}-{encoder.fingerprint}.sat"
    return corpus_index(dataset, encoder, file, times=True)


def plain_systems(dataset: Dataset, folder: Path, encoder: str) -> Iterator[System]:
    """Yield the untrained systems: cosine, words, both, then times, then links too."""
    index, name = index_by(dataset, SheetEncoder.load(encoder), folder), encoder_label(encoder)
    yield System("dense", f"RAG ({name}, zero-shot)", rag(index), index)
    yield System("bm25", "BM25", bm25(index), index)
    yield System("fused", f"{name} + words, untrained", fused(index, times=False), index)
    yield System("times", "+ times, untrained", fused(index), index)
    yield System("links", "+ link reranker, untrained", link_reranker(index), index)


@dataclass(frozen=True, slots=True)
class Model:
    """A general model: an encoder, and a reranker for its tokens.

    Attributes:
        name: Name of a packaged model, or a folder with both parts.
        label: Name in result files.
        title: Name in tables.
    """

    name: str
    label: str
    title: str

    @classmethod
    def named(cls, name: str) -> Model:
        """Return a model by its name or folder.

        >>> Model.named("general").title, Model.named("runs/7").label
        ('general encoder + words', 'general_7')
        """
        label = name if is_packaged(name) else f"general_{encoder_label(name)}"
        return cls(name, label, f"{label.replace('_', ' ')} encoder + words")

    @property
    def folder(self) -> Path:
        """The folder of both parts."""
        return PACKAGED / self.name if is_packaged(self.name) else Path(self.name)

    def part(self, part: str) -> str | Path:
        """Return the name or folder to load its encoder or its reranker from."""
        return self.name if is_packaged(self.name) else self.folder / part


def packaged_systems(dataset: Dataset, folder: Path, model: Model) -> Iterator[System]:
    """Yield a packaged model and its reranker; print a reason for a missing part."""
    label = model.label
    try:
        encoder = SheetEncoder.load(model.part("encoder"))
    except EncoderError as error:
        print(f"{label}: not run, {error}", flush=True)
        return
    index = index_by(dataset, encoder, folder)
    yield System(label, model.title, fused(index), index)
    try:
        method = second_stage(index, load_reranker(index, model.part("reranker")))
    except (EncoderError, PathNotFoundError) as error:
        print(f"{label}_reranker: not run, {error}", flush=True)
        return
    yield System(f"{label}_reranker", "+ its reranker", method, index)


def adapted_systems(dataset: Dataset, folder: Path, job: Job, made: Adaptation) -> Iterator[System]:
    """Yield the adapted Stage 1 over the corpus, and the whole search after adaptation."""
    start = encoder_label(job.start)
    stage1 = SheetEncoder.load(made.folder / STAGE_1 / ENCODER)
    index = index_by(dataset, stage1, folder)
    ending, said = f"{job.mode}_{start}", f"{job.mode}, from {start}"
    yield System(f"stage1_{ending}", f"adapted Stage 1 + words ({said})", fused(index), index)
    kept = index if made.encoder else index_by(dataset, SheetEncoder.load(job.start), folder)
    named = made.reranker
    reranker = own_reranker(kept) if named is None else load_reranker(kept, named)
    last = second_stage(kept, reranker)
    yield System(f"cascade_{ending}", f"adapted cascade ({said})", last, kept)
