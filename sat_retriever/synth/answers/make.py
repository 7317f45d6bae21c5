"""Make the answers of a unit's workbooks, and keep some of them for a corpus."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sat_retriever.records.links import Link, LinkType
from sat_retriever.synth.answers.ask import KINDS, Answer, Ask, question_of
from sat_retriever.synth.answers.draw import dated, group, joined, lookup, timed, total, unit
from sat_retriever.synth.answers.evaluate import answer_of, cells_of, plain, sql_of
from sat_retriever.synth.answers.tables import ToldTable, told_tables
from sat_retriever.synth.calculate.compile import CompiledBook
from sat_retriever.synth.corpusfiles import write_rows
from sat_retriever.synth.house.house import House

ANSWERS = "answers.json"


def unit_answers(
    books: Iterable[CompiledBook], links: Iterable[Link], house: House
) -> list[Answer]:
    """Return at most one answer of each kind about each table of a unit."""
    tables = told_tables(books, house.vocabulary)
    by_sheet = {table.sheet_id: table for table in tables if table.own}
    keys: dict[str, list[ToldTable]] = {}
    siblings: dict[str, list[ToldTable]] = {}
    for link in links:
        if link.source in by_sheet and link.target in by_sheet:
            if link.type == LinkType.JOIN_KEY:
                keys.setdefault(link.source, []).append(by_sheet[link.target])
            elif link.type == LinkType.SIBLING_PERIOD:
                siblings.setdefault(link.source, []).append(by_sheet[link.target])
                siblings.setdefault(link.target, []).append(by_sheet[link.source])
    found = []
    for table in tables:
        chance = house.chance("answers", table.cited)
        sheet = table.sheet_id if table.own else ""
        asks = _asks(table, keys.get(sheet, ()), siblings.get(sheet, ()), chance)
        found += [_answer(ask, house, chance) for ask in asks]
    return found


def kept(held: Iterable[Answer], number: int) -> list[Answer]:
    """Return answers among which those of a corpus are chosen: `number` of each kind at most."""
    found = list(held)
    return [each for kind in KINDS for each in _best(found, kind)[:number]]


def chosen(held: Sequence[Answer], number: int) -> list[Answer]:
    """Return answers of all kinds in equal parts, as far as there are enough, in random order."""
    by_kind = [_best(held, kind) for kind in KINDS]
    rounds = max(map(len, by_kind), default=0)
    turns = [kind[place] for place in range(rounds) for kind in by_kind if place < len(kind)]
    return sorted(turns[:number], key=lambda each: (each.rank, each.question))


def write_answers(answers: Iterable[Answer], path: Path) -> None:
    """Write answers as a JSON list, one a line, each with its number."""
    write_rows(({"id": place, **each.to_dict()} for place, each in enumerate(answers)), path)


def read_answers(path: Path) -> list[Mapping[str, Any]]:
    """Return the answers of a corpus as plain values."""
    found: list[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _best(held: Iterable[Answer], kind: str) -> list[Answer]:
    own = [each for each in held if each.kind == kind]
    return sorted(own, key=lambda each: (each.rank, each.question))


def _asks(
    table: ToldTable,
    keys: Sequence[ToldTable],
    siblings: Sequence[ToldTable],
    chance: random.Random,
) -> Iterator[Ask]:
    periods = [dated(table, chance), timed(table, siblings, chance)]
    chance.shuffle(periods)
    drawn = (
        lookup(table, chance),
        total(table, chance),
        group(table, chance),
        joined(table, keys, chance),
        next((each for each in periods if each), None),
        unit(table, chance),
    )
    yield from (each for each in drawn if each)


def _answer(ask: Ask, house: House, chance: random.Random) -> Answer:
    shown = ask.shows
    told = shown is not None and shown.column.unit and ask.reduce != "count"
    return Answer(
        kind=ask.kind,
        question=question_of(ask, house.vocabulary, chance),
        sheets=tuple(dict.fromkeys(table.sheet_id for table in ask.tables)),
        tables=tuple(table.cited for table in ask.tables),
        sql=sql_of(ask),
        rows=tuple(tuple(map(plain, row)) for row in answer_of(ask)),
        ordered=bool(ask.most),
        totals=ask.reduce is not None and any(table.statement for table in ask.tables),
        cells=cells_of(ask),
        column=(shown.table, shown.column.header) if shown and told else None,
        unit=shown.column.unit if shown and told else "",
        rank=chance.random(),
    )
