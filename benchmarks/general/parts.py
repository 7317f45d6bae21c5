"""Train the general encoder part by part; finished parts are used again.

encoder/     the run of Stage 1
mixed/       its weights, the last layers mixed with those before training
package/     the shipped files: the encoder, compact
indexes/     the judged corpora in its tokens
untrained/   the same in the tokens of the encoder that it started from
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import torch

from benchmarks.general.corpora import Part
from benchmarks.general.lessons import Lesson
from benchmarks.training.methods import OUR_ENCODER
from sat_retriever.cli.train.bar import training_bar
from sat_retriever.datasets.labels import Query
from sat_retriever.encoder import MINILM, SheetEncoder
from sat_retriever.encoder.compact import compact_folder
from sat_retriever.encoder.folder import read_model_folder
from sat_retriever.index.index import SheetIndex
from sat_retriever.metrics import mean, ndcg, recall
from sat_retriever.training.data.corpusindex import corpus_index
from sat_retriever.training.encoder.backbone import Backbone, transformer_layers
from sat_retriever.training.encoder.mixedtask import mixed
from sat_retriever.training.encoder.train import export_encoder, train_encoder
from sat_retriever.training.settings import EncoderTraining

# Chosen on the validation parts; the figures are in LOG.md.
ENCODER = replace(
    OUR_ENCODER,
    backbone="Snowflake/snowflake-arctic-embed-xs",
    trained_layers=3,
    negatives=0,  # sheets of real workbooks that nobody labelled may be right
    batch_size=32,
    learning_rate=1.5e-4,
    epochs=2,
)
SYSTEMS = MappingProxyType(
    {
        "untrained": "untrained encoder + words",
        "stage1": "general encoder + words",
    }
)
# The last layers keep a part of what MiniLM knew: questions of people gain, made ones lose.
MIXED_LAYERS, TRAINED_SHARE = 2, 0.7
DENSE_WEIGHT = 0.7  # share of the cosine, chosen on the parts by names; contents have their own
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
    kept = folder / "mixed"
    if not (kept / "encoder").is_dir():
        mixed_layers(settings.backbone, stage1.sentence_transformers, kept / "weights")
        export_encoder(kept / "weights", kept / "encoder", dense_weight=DENSE_WEIGHT)
    transformer = json.loads((kept / "weights" / "config.json").read_text("utf-8"))
    exported = read_model_folder(kept / "encoder")
    compact_folder(exported, package / "encoder", transformer=transformer)
    return package


def mixed_layers(before: str, trained: Path, target: Path) -> None:
    """Write a trained encoder whose last layers are mixed with those that it started from.

    Source: Wortsman et al. 2022, "Robust fine-tuning of zero-shot models". Departs: only the last
    layers are mixed.

    Args:
        before: The encoder that the training started from.
        trained: Folder of the trained weights.
        target: Folder for the result.
    """
    backbone = Backbone.load(trained)
    layers, old = (
        list(transformer_layers(each.transformer))[-MIXED_LAYERS:]
        for each in (backbone, Backbone.load(before))
    )
    with torch.no_grad():
        for layer, earlier in zip(layers, old, strict=True):
            for own, other in zip(layer.parameters(), earlier.parameters(), strict=True):
                own.copy_(TRAINED_SHARE * own + (1 - TRAINED_SHARE) * other)
    shutil.rmtree(target, ignore_errors=True)
    backbone.save_sentence_transformers(target)


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
