"""Train the general encoder part by part; finished parts are used again.

encoder/     the run of Stage 1
package/     the shipped files: the encoder, compact
indexes/     the judged corpora in its tokens
untrained/   the same in the tokens of the encoder that it started from
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from benchmarks.general.corpora import Part
from benchmarks.general.lessons import Lesson
from benchmarks.training.methods import OUR_ENCODER
from sat_retriever.cli.train.session import training_bar
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics import mean, ndcg, recall
from sat_retriever.encoder import MINILM, SheetEncoder
from sat_retriever.encoder.export import compact_folder
from sat_retriever.encoder.folder import read_model_folder
from sat_retriever.index.index import SheetIndex
from sat_retriever.train.data.corpusindex import corpus_index
from sat_retriever.train.encoder.mixedtask import mixed
from sat_retriever.train.encoder.train import train_encoder
from sat_retriever.train.settings import EncoderTraining

# Chosen on the validation parts; the figures are in LOG.md.
ENCODER = replace(
    OUR_ENCODER,
    backbone="Snowflake/snowflake-arctic-embed-xs",
    trained_layers=3,
    negatives=0,  # sheets of real workbooks that nobody labelled may be right
    batch_size=32,
    learning_rate=5e-5,  # with 1.5e-4 lists of real workbooks lose all that they gain
    epochs=3,
)
SYSTEMS = MappingProxyType(
    {
        "untrained": "untrained encoder + words",
        "stage1": "general encoder + words",
    }
)
PACKAGE = "package"
JUDGED = ("judged", "both")  # uses of corpora with validation questions
MEASURES = ("NDCG@5", "NDCG@10", "all@10")


def trained(lessons: Sequence[Lesson], settings: EncoderTraining, folder: Path) -> Path:
    """Train the encoder and return the package folder; the same call goes on after a kill.

    Args:
        lessons: What is learnt and chosen with.
        settings: Settings of the training.
        folder: Folder of all parts.
    """
    package = folder / PACKAGE
    learnt = mixed(
        [each.data for each in lessons if each.part.use == "taught"],
        [each.data for each in lessons if each.part.use == "judged"],
    )
    with training_bar("general") as bar:
        stage1 = train_encoder(learnt, settings, folder / "encoder", progress=bar.training)
    transformer = json.loads((stage1.sentence_transformers / "config.json").read_text("utf-8"))
    exported = read_model_folder(stage1.encoder)
    compact_folder(exported, package / "encoder", transformer=transformer)
    return package


def measured(
    parts: Sequence[Part], package: Path, folder: Path, source: str = MINILM
) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Return means over the validation questions, by corpus, system and measure.

    Args:
        parts: The corpora; those without validation questions are left out.
        package: Folder of the trained encoder.
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
            of_part = {"untrained": _means(index, asked)}
        with _index(part, encoder, folder / "indexes") as index:
            of_part["stage1"] = _means(index, asked)
        found[part.name] = of_part
    return found


def _index(part: Part, encoder: SheetEncoder, folder: Path, *, times: bool = True) -> SheetIndex:
    """Return a corpus in an encoder's tokens.

    Its file has the encoder's fingerprint in its name, so a new encoder gets a new file.
    """
    file = folder / f"{part.name}-{encoder.fingerprint}.sat"
    return corpus_index(part.dataset, encoder, file, times=times)


def _means(index: SheetIndex, asked: Sequence[Query]) -> dict[str, float]:
    rows = []
    for query in asked:
        best = [each.sheet_id for each in index.candidates(query.text, 10)]
        whole = float(recall(best, query.positives, 10) == 1)
        rows.append((ndcg(best, query.positives, 5), ndcg(best, query.positives, 10), whole))
    columns = zip(*rows, strict=True)
    return {name: mean(list(values)) for name, values in zip(MEASURES, columns, strict=True)}
