"""Write the model cards of the general encoder and reranker from measured figures.

The texts are `encoder_card.md` and `reranker_card.md`, with a place for each figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from string import Template
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
_HERE = Path(__file__).parent
NOTICE = (_HERE / "NOTICE").read_text("utf-8")
"""Goes with every copy of the encoder: a condition of the licence of what it was made from."""


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
    encoder = read_model_folder(folder / "package" / "encoder")
    run = read_run(folder / "encoder")
    hashes = _hashes((encoder.model, encoder.tokenizer), folder / "package")
    best = ", ".join(str(each.best.epoch) for each in run.phases if each.best)
    data = [
        (
            part.name,
            part.about,
            f"{len(part.dataset.records):,}",
            f"{len(part.dataset.train) if part.use == 'taught' else 0:,}",
            f"{len(part.dataset.validation) if part.use == 'judged' else 0:,}",
        )
        for part in parts
    ]
    numbers = [
        (corpus, title, *(f"{of_system[system][name]:.3f}" for name in MEASURES))
        for corpus, of_system in found.items()
        for system, title in SYSTEMS.items()
    ]
    return _filled(
        "encoder_card.md",
        what="without the paper's categories and naming convention" if wanted.apart else "general",
        files=f"{hashes}\n\nEncoder {encoder.spec.fingerprint}, width {encoder.spec.width}.",
        data=_table(
            ("corpus", "what it is", "sheets", "questions learnt", "questions to choose with"), data
        ),
        recipe=f"`python -m benchmarks run general`, seed {wanted.seed}. A question meets the "
        "sheets of its own corpus only. Validation counts every corpus alike. Training took "
        f"{run.seconds:,.0f} seconds; epoch {best} was kept: lists of real workbooks choose it."
        f"\n\n{_settings(settings)}",
        numbers=_table(("corpus", "system", *MEASURES), numbers),
    )


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
    return _filled(
        "reranker_card.md",
        files=_hashes((package / "reranker" / MODEL,), package),
        encoder=spec.encoder,
        candidates=spec.candidates,
        features=len(spec.features),
        own=f"{spec.bound / spec.slope:.2f}",
        pulled=f"{spec.pull_bound / spec.slope:.2f}",
        data=corpora,
        recipe=recipe,
        settings=_settings(settings),
        numbers=numbers,
    )


def _filled(name: str, **figures: object) -> str:
    return Template((_HERE / name).read_text("utf-8")).substitute(figures)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    first, *others = (f"| {' | '.join(row)} |" for row in (head, *rows))
    return "\n".join((first, f"|{'---|' * len(head)}", *others))


def _hashes(files: Sequence[Path], package: Path) -> str:
    rows = [
        (
            f"`{file.relative_to(package).as_posix()}`",
            f"{file.stat().st_size / 1e6:.2f}",
            f"`{file_hash(file)}`",
        )
        for file in files
    ]
    return _table(("file", "MB", "SHA-256"), rows)


def _settings(settings: EncoderTraining | FeatureTraining) -> str:
    def short(value: Any) -> str:
        return " + ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)

    return f"Settings: {', '.join(f'{key} {short(x)}' for key, x in asdict(settings).items())}."
