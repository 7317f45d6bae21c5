"""Made workbooks for questions that need several sheets, of companies that no model has seen."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.general.corpora import COMPANIES, companies_of, write_words
from sat_retriever.datasets.dataset import Dataset, load_industrytab
from sat_retriever.synth.corpus import MANIFEST, synthesize
from sat_retriever.synth.options import WORKBOOKS, SynthOptions

GENERAL_SEED = 42  # the general model learnt from the first companies of this order
SHEETS, QUESTIONS = 1000, 2500


def made_workbooks(
    number: int,
    conventions: Sequence[str],
    folder: Path,
    *,
    sheets: int,
    questions: int,
    asks: str = "",
    answers: int = 0,
) -> Dataset:
    """Return a corpus of workbooks with its questions; it is made once and kept.

    Its companies are taken from the end of the general model's order, so no two numbers, and
    neither of them and the general model, share one.

    Args:
        number: Number of the corpus, from 1; it decides companies and seed.
        conventions: Naming conventions of its workbooks.
        folder: Folder of all made corpora.
        sheets: Visible sheets.
        questions: Questions of all types.
        asks: Shares of questions about contents; see `SynthOptions`.
        answers: Questions with their SQL and answer.
    """
    name = f"made_{number}_{sheets}_{questions}{'_asked' if asks else ''}"
    name += f"_{answers}_answers" if answers else ""
    out, words = folder / name, folder / f"{name}.words"
    if not _complete(out):
        write_words(words, list(companies_of(GENERAL_SEED))[-number], tuple(conventions))
        shutil.rmtree(out, ignore_errors=True)
        options = SynthOptions(
            str(sheets), 5000 + number, COMPANIES, "2015-2024", questions,
            vocabulary=words, asks=asks, answers=answers,
        )  # fmt: skip
        synthesize(out, options, workers=1)
    return _as_indexed(replace(load_industrytab(out), name=name), out / WORKBOOKS)


def _complete(out: Path) -> bool:
    """True if the corpus was made to its end."""
    try:
        return bool(json.loads((out / MANIFEST).read_text(encoding="utf-8"))["complete"])
    except (OSError, ValueError):
        return False


def _as_indexed(dataset: Dataset, root: Path) -> Dataset:
    """Return the corpus as a folder of workbooks, with sheet ids as an index makes them."""
    ids = {each.sheet_id: f"{each.path}#{each.sheet}" for each in dataset.records}
    queries = tuple(
        replace(
            query,
            positives=tuple(ids[each] for each in query.positives),
            negatives=tuple(ids[each] for each in query.negatives),
            hard_negatives=tuple(ids[each] for each in query.hard_negatives),
            hard_negative_types={},
        )
        for query in dataset.queries
    )
    return replace(dataset, records=(), links=(), queries=queries, root=root)
