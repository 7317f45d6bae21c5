"""How sure an answer is that the index holds one: fitted, chosen and measured.

    python -m benchmarks run nothing --fit     fit the weights anew, and measure
    python -m benchmarks run nothing           measure the weights as they are
    python -m benchmarks run nothing --test    measure them on the tests, which are looked at once

A question is asked of its own sheets, of them without those that answer it, of twenty sheets with
and without those, and questions of other corpora are asked of the same sheets. AUROC is that of
weights fitted without the corpus and its kin, so it shows what holds for unseen corpora; all else
is measured with the weights that are used. `--fit` writes `sat_retriever/answer/confidence.json`:
the weights, fitted on the training parts, and the probability below which the message stands.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.contents.tokens import TOKENS, CachedEncoder
from benchmarks.nothing.asking import Asker, Row
from benchmarks.nothing.corpora import CHOSEN, TESTS, Part, Searched
from benchmarks.nothing.fitting import figures, fitted, least_for
from benchmarks.results import ROOT, Result
from benchmarks.runner import Options, console, option, suite
from benchmarks.unlabelled.quality import build_index
from sat_retriever.answer.confidence import Calibration, calibration
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query

WEIGHTS = ROOT / "sat_retriever" / "answer" / "confidence.json"
MOST, FOREIGN = 200, 300  # questions of a part that are asked


@dataclass(frozen=True, slots=True)
class Measured:
    """The rows of one part of one corpus.

    Attributes:
        searched: The corpus.
        part: The part.
        rows: Its rows.
        sheets: Number of its sheets.
        data: Its files.
    """

    searched: Searched
    part: Part
    rows: tuple[Row, ...]
    sheets: int
    data: tuple[Path, ...]


def measure(
    corpora: Mapping[str, Searched], parts: Sequence[Part], options: Options
) -> list[Measured]:
    """Ask every corpus the questions of its parts, and as many of the others."""
    encoder = CachedEncoder.kept(options.encoder, options.work)
    datasets = {name: each.read(options.data, options.work) for name, each in corpora.items()}
    found = []
    for name, searched in corpora.items():
        dataset = datasets[name]
        with (
            tempfile.TemporaryDirectory(dir=options.work) as folder,
            build_index(dataset, Path(folder) / "index.sat", encoder) as index,
        ):
            asker = Asker(index)
            for part in parts:
                asked = searched.questions(dataset, part, options.most)
                strange = _foreign(corpora, datasets, searched, part)
                if asked:
                    rows = (*asker.own(asked), *asker.foreign(strange))
                    data = (dataset.root,) if dataset.root else dataset.files
                    found.append(Measured(searched, part, rows, len(index), data))
        sys.stderr.write(f"{name}: asked\n")
    return found


def _foreign(
    corpora: Mapping[str, Searched],
    datasets: Mapping[str, Dataset],
    searched: Searched,
    part: Part,
) -> list[Query]:
    """Questions of corpora of another kin, as many of each kin."""
    by_kin = {each.kin: each for each in corpora.values() if each.kin != searched.kin}
    others = [(each, datasets[each.name]) for each in by_kin.values()]
    lists = [each.questions(dataset, part, FOREIGN) for each, dataset in others]
    filled = [each for each in lists if each]
    return [query for each in filled for query in each[: FOREIGN // len(filled)]]


def fit(found: Sequence[Measured]) -> Calibration:
    """Weights of the training parts, and the least probability by the validation parts."""
    weights = fitted([each.rows for each in found if each.part == "fit"])
    chosen_on = [each.rows for each in found if each.part == "validation"]
    return replace(weights, least=least_for(chosen_on, weights))


def without(found: Sequence[Measured], kin: str) -> Calibration:
    """Weights of the training parts of all corpora but those of a kin."""
    return fitted([x.rows for x in found if x.part == "fit" and x.searched.kin != kin])


def write_weights(made: Calibration, found: Sequence[Measured]) -> None:
    """Write the weights that searches use, with what they were made from."""
    fitted_on = sorted(each.searched.name for each in found if each.part == "fit")
    content = {
        "made_by": "python -m benchmarks run nothing --fit",
        "fitted_on": fitted_on,
        "calibration": asdict(made),
    }
    WEIGHTS.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def results(
    found: Sequence[Measured], used: Calibration, fits: Sequence[Measured], encoder: str
) -> list[Result]:
    """A result for each part that nothing was fitted on."""
    made = []
    for each in found:
        if each.part == "fit":
            continue
        apart = without(fits, each.searched.kin) if fits else used
        metrics = {**figures(each.rows, used, apart), "sheets": each.sheets, **asdict(used)}
        rows = [row.to_dict() for row in each.rows]
        made.append(
            Result(f"confidence_{encoder}", each.searched.name, metrics, each.part, None, rows)
        )
    return made


@suite(
    "nothing",
    "data",
    "encoder",
    work=TOKENS,
    most=option(MOST, "questions of a part"),
    fit=option(False, "fit the weights anew first"),
    test=option(False, "measure the tests"),
)
def main(options: Options) -> Iterator[Result]:
    """Fit if asked to, and measure."""
    if options.test:
        found, fits = measure(TESTS, ["test"], options), []
    else:
        found = measure(CHOSEN, ["fit", "validation"], options)
        fits = found
    used = fit(found) if options.fit else calibration()
    made = results(found, used, fits, options.encoder)
    for each, source in zip(made, (x for x in found if x.part != "fit"), strict=True):
        yield replace(each, data=source.data)
    if options.fit and not options.dry:  # after the results, which tell whether the code changed
        write_weights(used, found)
    console.print(used)
