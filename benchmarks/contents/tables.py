"""Table choice: how often a hit's citation holds the answer, on sheets with several tables.

    python -m benchmarks run table_choice

The right sheet is given; measured is where on it a hit points to. Two sets: made sheets with two
to four tables (`made_tables`), and real sheets of `eps`, development part, whose questions and
answers were labelled by reading them (`table_questions.json`): choices were made on the part
"chosen_on", and the part "asked_once" was written and asked after them. Beside it stands what a
citation of the main table holds, and how much of the cited table's rows a citation names.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.contents.made_tables import TableQuestion, made_book
from benchmarks.results import Result
from benchmarks.runner import Options, suite
from sat_retriever.records.area import Area, area_of
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.forward import ForwardIndex
from sat_retriever.text.locate import Place, QueryTerms, matches, place_of
from sat_retriever.workbook.read import read_workbook

LABELS = Path(__file__).with_name("table_questions.json")
QUESTIONS, SEED = 200, 22


@dataclass(frozen=True, slots=True)
class Cited:
    """One question, and what was cited for it.

    Attributes:
        kind: Of the question.
        right: True if the citation holds the answer.
        main: True if the main table does.
        share: Rows of the citation of all rows of its table.
    """

    kind: str
    right: bool
    main: bool
    share: float


def cited(record: SheetRecord, question: TableQuestion) -> Cited:
    """What a hit of a sheet cites for a question."""
    terms = QueryTerms.of(question.query)
    texts = ForwardIndex.of(record)
    place = place_of(terms, record.tables, texts, matches(terms, texts))
    table = area_of(record.tables[place.table].range)
    part = _range(record, place)
    share = _height(part) / _height(table) if part and table else 1.0
    main = area_of(record.tables[0].range)
    return Cited(question.kind, _holds(part, question.answer), _holds(main, question.answer), share)


def made_questions(folder: Path) -> tuple[dict[str, SheetRecord], list[TableQuestion]]:
    """Records of made sheets by name, and their questions."""
    path = folder / "made.xlsx"
    questions = made_book(path, QUESTIONS, SEED)
    return {record.sheet: record for record in read_workbook(path).records}, questions


def real_questions(eps: Path) -> tuple[dict[str, SheetRecord], list[TableQuestion]]:
    """Records of real sheets by id, and their questions."""
    labels: list[Mapping[str, str]] = json.loads(LABELS.read_text(encoding="utf-8"))
    questions = []
    for each in labels:
        answer = area_of(each["answer"])
        if answer is None:
            raise ValueError(f"{LABELS.name}: {each['answer']!r} is no range")
        questions.append(TableQuestion(each["sheet"], each["query"], answer, each["part"]))
    books = sorted({each.sheet.partition("#")[0] for each in questions})
    found = (record for book in books for record in read_workbook(eps / book, root=eps).records)
    return {record.sheet_id: record for record in found}, questions


def measured(rows: Sequence[Cited]) -> dict[str, float]:
    """Share of right citations, of right main tables, and rows named where the citation is right.

    >>> measured([Cited("row", True, False, 0.5), Cited("row", False, False, 1.0)])
    {'right': 0.5, 'right_main_table': 0.0, 'rows_named': 0.5}
    """
    right = [each for each in rows if each.right]
    return {
        "right": len(right) / len(rows),
        "right_main_table": sum(each.main for each in rows) / len(rows),
        "rows_named": sum(each.share for each in right) / max(1, len(right)),
    }


def _range(record: SheetRecord, place: Place) -> Area | None:
    return area_of(place.part or record.tables[place.table].range)


def _holds(place: Area | None, answer: Area) -> bool:
    return (
        place is not None
        and place.holds(answer.top, answer.left)
        and place.holds(answer.bottom, answer.right)
    )


def _height(area: Area) -> int:
    return area.bottom - area.top + 1


def result_of(
    name: str,
    records: Mapping[str, SheetRecord],
    questions: Iterable[TableQuestion],
    data: Sequence[Path],
) -> Result:
    """Measure one set, over all of it and over each kind."""
    rows = [cited(records[each.sheet], each) for each in questions]
    kinds = {
        kind: [each for each in rows if each.kind == kind]
        for kind in dict.fromkeys(each.kind for each in rows)
    }
    metrics: dict[str, Any] = {"questions": len(rows), **measured(rows)}
    if len(kinds) > 1:
        metrics |= {f"right_{kind}": measured(own)["right"] for kind, own in kinds.items()}
    per_query = [
        {"query": n, "kind": x.kind, "right": x.right, "main": x.main, "share": round(x.share, 4)}
        for n, x in enumerate(rows)
    ]
    seed = SEED if name == "made" else None
    return Result("matched", name, metrics, seed=seed, per_query=per_query, data=data)


@suite("table_choice", "data")
def main(options: Options) -> Iterator[Result]:
    """Measure both sets."""
    with tempfile.TemporaryDirectory() as folder:
        yield result_of("made", *made_questions(Path(folder)), [])
    eps = options.data / "eps"
    if eps.is_dir():
        yield result_of("eps_trans", *real_questions(eps), [LABELS])
