"""Train both stages of the general model part by part; finished parts are used again.

encoder/     the run of Stage 1
indexes/     every corpus in the tokens of the compact encoder
reranker/    the run of Stage 2, on these tokens
package/     the shipped files: encoder and reranker, compact
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from benchmarks.general.corpora import Part
from benchmarks.training.methods import OUR_ENCODER, OUR_RERANKER
from sat_retriever.datasets.labels import Query
from sat_retriever.encoder import MINILM, SheetEncoder
from sat_retriever.encoder.compact import compact_folder
from sat_retriever.encoder.folder import read_model_folder
from sat_retriever.gathering import evenly
from sat_retriever.index.index import SheetIndex
from sat_retriever.metrics import mean, ndcg, recall
from sat_retriever.rank.graph.folder import compact_graph_folder
from sat_retriever.rank.graph.graphrank import GraphReranker
from sat_retriever.rank.reranker import Reranker
from sat_retriever.training.data.corpusindex import corpus_index
from sat_retriever.training.data.reading import from_dataset
from sat_retriever.training.encoder.mixedtask import mixed
from sat_retriever.training.encoder.train import train_encoder
from sat_retriever.training.reranker.candidatesets import candidate_sets
from sat_retriever.training.reranker.joinedsets import joined_sets
from sat_retriever.training.reranker.train import train_reranker
from sat_retriever.training.settings import EncoderTraining, RerankerTraining

# Chosen on the validation parts; the figures are in LOG.md. A graph over the base scorer changes
# nothing there.
ENCODER = replace(OUR_ENCODER, epochs=2, interpolation=(0.5, 0.7, 0.85))
RERANKER = replace(OUR_RERANKER, start="links", channels=(), layers=0, base_epochs=4)
SYSTEMS = MappingProxyType(
    {
        "untrained": "untrained encoder + words",
        "stage1": "general encoder + words",
        "general": "general encoder and reranker",
    }
)
PACKAGE = "package"
TAUGHT = ("taught", "both")  # uses of corpora that Stage 1 learns
JUDGED = ("judged", "both")  # uses of corpora with validation questions
MEASURES = ("NDCG@5", "NDCG@10", "all@10")


@dataclass(frozen=True, slots=True)
class Trainings:
    """The settings of both trainings.

    Attributes:
        encoder: Settings of Stage 1.
        reranker: Settings of Stage 2.
        questions: Most questions of a corpus that Stage 2 learns from; None for all.
    """

    encoder: EncoderTraining = ENCODER
    reranker: RerankerTraining = RERANKER
    questions: int | None = 4000


def trained(parts: Sequence[Part], settings: Trainings, folder: Path) -> Path:
    """Train both models and return the package folder; the same call goes on after a kill.

    Args:
        parts: The corpora.
        settings: Settings of both trainings.
        folder: Folder of all parts.
    """
    package = folder / PACKAGE
    data = {part.name: from_dataset(part.dataset) for part in parts}
    lessons = mixed(
        [data[part.name] for part in parts if part.use in TAUGHT],
        [data[part.name] for part in parts if part.use in JUDGED],
    )
    stage1 = train_encoder(lessons, settings.encoder, folder / "encoder")
    transformer = json.loads((stage1.sentence_transformers / "config.json").read_text("utf-8"))
    exported = read_model_folder(stage1.encoder)
    compact_folder(exported, package / "encoder", transformer=transformer)
    encoder = SheetEncoder.load(package / "encoder")
    sets = {}
    for use, uses in (("taught", ("reranked",)), ("judged", JUDGED)):
        found = {}
        for part in (each for each in parts if each.use in uses):
            with _index(part, encoder, folder / "indexes") as index:
                asked = part.dataset.train if use == "taught" else part.dataset.validation
                most = len(asked) if settings.questions is None else settings.questions
                found[part.name] = candidate_sets(index, evenly(asked, most), settings.reranker)
        sets[use] = joined_sets(found)
    stage2 = train_reranker(
        sets["taught"], sets["judged"], settings.reranker, folder / "reranker",
        data_name=lessons.name,
    )  # fmt: skip
    compact_graph_folder(stage2.folder / "reranker", package / "reranker")
    return package


def measured(
    parts: Sequence[Part], package: Path, folder: Path, source: str = MINILM
) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Return means over the validation questions, by corpus, system and measure.

    Args:
        parts: The corpora; those without validation questions are left out.
        package: Folder of both models.
        folder: Folder of the indexes.
        source: Encoder that the training started from.
    """
    plain, encoder = SheetEncoder.load(source), SheetEncoder.load(package / "encoder")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for part in parts:
        if part.use not in JUDGED:
            continue
        asked = part.dataset.validation
        with _index(part, plain, folder / "untrained", times=False) as index:
            of_part = {"untrained": _means(index, None, asked)}
        with _index(part, encoder, folder / "indexes") as index:
            of_part["stage1"] = _means(index, None, asked)
            reranker = GraphReranker.load(index, package / "reranker")
            of_part["general"] = _means(index, reranker, asked)
        found[part.name] = of_part
    return found


def _index(part: Part, encoder: SheetEncoder, folder: Path, *, times: bool = True) -> SheetIndex:
    """Return a corpus in an encoder's tokens.

    Its file has the encoder's fingerprint in its name, so a new encoder gets a new file.
    """
    file = folder / f"{part.name}-{encoder.fingerprint}.sat"
    return corpus_index(part.dataset, encoder, file, times=times)


def _means(
    index: SheetIndex, reranker: Reranker | None, asked: Sequence[Query]
) -> dict[str, float]:
    rows = []
    for query in asked:
        if reranker is None:
            found = index.candidates(query.text, 10)
        else:
            question = index.question(query.text, dense_weight=reranker.dense_weight)
            first = index.candidates(question, reranker.trained_candidates or 50)
            found = list(reranker.rerank(question, first))
        best = [each.sheet_id for each in found]
        whole = float(recall(best, query.positives, 10) == 1)
        rows.append((ndcg(best, query.positives, 5), ndcg(best, query.positives, 10), whole))
    columns = zip(*rows, strict=True)
    return {name: mean(list(values)) for name, values in zip(MEASURES, columns, strict=True)}
