"""Write the model cards of the general encoder and reranker from measured figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.general.corpora import Part, Wanted
from benchmarks.general.parts import MEASURES, SYSTEMS
from sat_retriever.encoder.folder import read_model_folder
from sat_retriever.encoder.models.folder import file_hash
from sat_retriever.rank.features.model import FORMAT, MODEL, FeatureSpec
from sat_retriever.rank.trained import read_spec
from sat_retriever.train.loop.summary import read_run
from sat_retriever.train.settings import EncoderTraining, FeatureTraining

Measured = Mapping[str, Mapping[str, Mapping[str, float]]]

ENCODER_CARD, RERANKER_CARD = "README.md", "RERANKER.md"
NOTICE = (
    "The encoder in this folder is made from snowflake-arctic-embed-xs, Copyright 2024 Snowflake "
    "Inc., licensed under the Apache License, Version 2.0 "
    "(https://www.apache.org/licenses/LICENSE-2.0).\n\n"
    "Changed: its last layers were trained further, as README.md says; its weights were exported "
    "to ONNX and stored in bytes and half precision.\n"
)
"""Goes with every copy of the encoder: a condition of that licence."""

_TERMS = (
    ("part", "from", "terms"),
    ("---", "---", "---"),
    (
        "weights to start from",
        "`snowflake-arctic-embed-xs`, Snowflake Inc. 2024 (Merrick et al.)",
        "Apache-2.0",
    ),
    ("Spider's training part", "Yu et al. 2018: tables and questions", "CC BY-SA 4.0"),
    ("its questions with synonyms", "Spider-Syn, Gan et al. 2021", "MIT"),
    ("corpora of templates, made workbooks", "`sat synth`", "Apache-2.0, as this package"),
    ("corpora of other subjects", "made of Spider's tables", "CC BY-SA 4.0"),
    (
        "WikiTableQuestions' training part",
        "Pasupat and Liang 2015: tables, questions",
        "CC BY-SA 4.0",
    ),
    (
        "real workbooks",
        "pymedeas2 (MIT), smkfreediv (AGPL-3.0, files of offices under OGL v3), GENeSYS-MOD.data "
        "(Apache-2.0), smart-anc (CC0-1.0), IEA-15-240-RWT (Apache-2.0), iotables (MIT), dgen "
        "(BSD-3-Clause)",
        "as named",
    ),
)

_LIMITS = (
    "English names and questions; no other language was trained or measured.",
    "Of a sheet's cells the first texts from the top down are read, not its figures. A value "
    "further down is found by its words, not by this encoder.",
    "A sheet's text is read up to the encoder's limit of word pieces; of a wide sheet only the "
    "first headers count.",
    "The made questions are of templates. Spider's are of people, but about tables of databases. "
    "WikiTableQuestions' are of people, about tables of the web. Those about real workbooks are "
    "few, and most are of one model of energy.",
    "Names that only their authors can read (`ARpUIiRC`) are found by their letters in words, if "
    "at all.",
    "The corpora above are for validation; figures on test sets are in `docs/results/tables.md`, "
    "those of the cosine alone under *The cosine alone*.",
)
_TRIED = (
    "A learning rate of 1.5e-4: lists of real workbooks lose all that they gain.",
    "Weights mixed with those before training: less on lists of real workbooks.",
    "All headers of a sheet in place of the first twelve: level where few sheets have more, and "
    "worse on EPS, whose further headers are years.",
)
_RERANKER_TRIED = (
    "A base scorer over tokens, and a gated graph over it: no epoch was better than the start.",
    "The same features without the guard: real workbooks lose.",
    "Without pulls: as good on the average, worse where an answer needs several linked sheets.",
    "More epochs, or fewer corpora.",
)
_RERANKER_LIMITS = (
    "It never finds a sheet that the candidates and their links have not.",
    "A list unlike those that it learnt from keeps the order of the links: there it gains nothing.",
    "It knows the cosines of one encoder and the default sheet texts only; any other index is "
    "refused.",
    "Its linked questions are made ones and Spider's, whose links are keys of databases.",
)


def encoder_card(
    parts: Sequence[Part], wanted: Wanted, settings: EncoderTraining, folder: Path, found: Measured
) -> str:
    """Return the README.md of the package folder.

    Args:
        parts: The corpora.
        wanted: The selection of made corpora.
        settings: Settings of the training.
        folder: Folder of the runs and the package.
        found: Results on the validation parts.
    """
    what = "without the paper's categories and naming convention" if wanted.apart else "general"
    blocks = (
        f"# Sheet Encoder, {what}",
        "Finds worksheets for questions in plain words. Part of sat-retriever: "
        '`SheetEncoder.load("general")`. Runs on onnxruntime and tokenizers, without torch and '
        f"without network. The reranker of its tokens has a card of its own: {RERANKER_CARD}.",
        "## Files",
        _files(folder / "package"),
        "Token embeddings are a byte a value with a scale a row, other large weights half "
        "precision; all of it is computed in single precision. The hashes are checked whenever "
        "a model is opened.",
        "## Data",
        _data(parts),
        "Nothing else was learnt from or chosen with: no question of IndustryTab, of Spider's or "
        "BIRD's development parts, of EPS, or of tables of the web's test parts. Nothing was "
        "learnt from the corpora to choose with.",
        "## Terms",
        "\n".join(f"| {' | '.join(row)} |" for row in _TERMS),
        "No text, table or question of these is in this folder.",
        "## Recipe",
        _recipe(wanted, settings, folder),
        "## On the validation parts",
        _numbers(found),
        "Epochs and fusion were chosen on the same parts: a new corpus may give less.",
        "## Limits",
        "\n".join(f"- {limit}" for limit in _LIMITS),
        f"## Tried without gain\n\n{_tried(_TRIED)}",
    )
    return "\n\n".join(blocks) + "\n"


def _tried(ideas: Sequence[str]) -> str:
    listed = "\n".join(f"- {idea}" for idea in ideas)
    return f"{listed}\n\nThe figures are in `benchmarks/LOG.md`."


def _files(package: Path) -> str:
    encoder = read_model_folder(package / "encoder")
    files = (encoder.model, encoder.tokenizer)
    fingerprint, width = encoder.spec.fingerprint, encoder.spec.width
    return f"{_hashes(files, package)}\n\nEncoder {fingerprint}, width {width}."


def _hashes(files: Sequence[Path], package: Path) -> str:
    rows = [
        f"| `{file.relative_to(package).as_posix()}` | {file.stat().st_size / 1e6:.2f} | "
        f"`{file_hash(file)}` |"
        for file in files
    ]
    return "\n".join(("| file | MB | SHA-256 |", "|---|---|---|", *rows))


def _data(parts: Sequence[Part]) -> str:
    rows = []
    for part in parts:
        dataset = part.dataset
        learnt = len(dataset.train) if part.use == "taught" else 0
        asked = len(dataset.validation) if part.use == "judged" else 0
        sheets = len(dataset.records)
        numbers = f"{sheets:,} | {learnt:,} | {asked:,}"
        rows.append(f"| {part.name} | {part.about} | {numbers} |")
    head = "| corpus | what it is | sheets | questions learnt | questions to choose with |"
    return "\n".join((head, "|---|---|---|---|---|", *rows))


def _recipe(wanted: Wanted, settings: EncoderTraining, folder: Path) -> str:
    run = read_run(folder / "encoder")
    best = ", ".join(str(each.best.epoch) for each in run.phases if each.best)
    return (
        f"`python -m benchmarks run general`, seed {wanted.seed}. A question meets the sheets of "
        "its own corpus only. Validation counts every corpus alike. Training took "
        f"{run.seconds:,.0f} seconds; epoch {best} was kept: lists of real workbooks choose it.\n\n"
        f"{_settings(asdict(settings))}"
    )


def _settings(values: Mapping[str, Any]) -> str:
    return f"Settings: {', '.join(f'{key} {_short(value)}' for key, value in values.items())}."


def _short(value: Any) -> str:
    return " + ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _numbers(found: Measured) -> str:
    head = f"| corpus | system | {' | '.join(MEASURES)} |"
    rows = [
        f"| {corpus} | {title} | "
        + " | ".join(f"{of_system[system][name]:.3f}" for name in MEASURES)
        + " |"
        for corpus, of_system in found.items()
        for system, title in SYSTEMS.items()
    ]
    return "\n".join((head, "|---|---|---|---|---|", *rows))


def reranker_card(
    package: Path, settings: FeatureTraining, corpora: str, recipe: str, numbers: str
) -> str:
    """Return the card of the reranker.

    Args:
        package: Folder with the subfolder `reranker`.
        settings: Settings of its training.
        corpora: Table of the corpora whose lists it learnt from or was judged with.
        recipe: Seconds and epoch of its training, in a sentence.
        numbers: Table of what was measured.
    """
    spec = read_spec(package / "reranker", FORMAT, FeatureSpec)
    blocks = (
        "# Reranker of the general encoder",
        "Moves worksheets from the order that links give, by what the list of candidates shows: "
        "scores of names, contents and cosine, words, workbooks, links, roles. Part of "
        'sat-retriever: `load_reranker(index, "general")`. Runs on numpy.',
        "## Files",
        _hashes((package / "reranker" / MODEL,), package),
        f"For encoder {spec.encoder} and {spec.candidates} candidates; {len(spec.features)} "
        f"features. A score moves by {spec.bound / spec.slope:.2f} at most for a sheet's own "
        f"numbers, and by {spec.pull_bound / spec.slope:.2f} for the pulls of linked sheets.",
        "## Data",
        corpora,
        "The encoder has learnt no question of these: lists are as hard as a user's. Nothing else "
        "was learnt from or chosen with: no question of IndustryTab's, Spider's or BIRD's test "
        "parts, of EPS's test part, or of the test parts of tables of the web.",
        "## Terms",
        "\n".join(f"| {' | '.join(row)} |" for row in (*_TERMS[:2], *_TERMS[3:])),
        "No text, table or question of these is in this folder.",
        "## Recipe",
        f"{recipe}\n\n{_settings(asdict(settings))}",
        "## On lists that it has not learnt",
        numbers,
        "*Judged* lists chose the epoch, so a new corpus may give less. *Watched* ones chose "
        "nothing but the guard's bounds, which the development questions of EPS helped to choose. "
        "Made corpora share their generator with learnt ones, and neither companies nor naming: "
        "they flatter it. The share is that of lists which look, in whole or in part, like learnt "
        "ones.",
        "## Limits",
        "\n".join(f"- {limit}" for limit in _RERANKER_LIMITS),
        f"## Tried without gain\n\n{_tried(_RERANKER_TRIED)}",
    )
    return "\n\n".join(blocks) + "\n"
