"""A language model's answers: by the query engine, from whole workbooks, from RAG's sheets.

    python -m benchmarks run answers --llm MODEL [--llm-url URL] [--work DIR] [--limit N]
        [--sets eps made_300_odd] [--ways engine] [--slots 8]

Asked are the forty hand-written questions of `eps`, and made ones with at most five values in their
answer, in two halves: those at even places, whose failures may be read and mended, and those at odd
ones, which are only measured. One model on a server answers each in three ways: `engine` writes SQL
over the tables found and tells its rows; `whole_workbook` reads the cells of the workbook of the
best hit from the top; `rag_sheets` reads the cells of the five sheets nearest by cosine. All
prompts may hold the same number of tokens of data. An answer is right if it says every expected
value, numbers to three digits. Answers are kept as they come, so a run that was stopped goes on,
with the same commit, model and settings; answers of others, and failed ones, are asked for anew.
Without a server, or without `--llm`, nothing is written, and the tables say *not run*.
"""

from __future__ import annotations

import re
import secrets
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.answers.eps_questions import load_questions
from benchmarks.answers.judged import FAILURES, Expected, judged
from benchmarks.answers.made_sql import NUMBER, QUESTIONS, SHEETS
from benchmarks.answers.systems import Told, told, ways
from benchmarks.general.corpora import HELD_OUT
from benchmarks.progress import track
from benchmarks.related.made import made_workbooks
from benchmarks.results import Result, commit_now, data_hash
from benchmarks.runner import Options, console, option, suite
from sat_retriever.errors import ModelSetupError
from sat_retriever.evaluation.llm.answers import Kept, key_of
from sat_retriever.evaluation.methods import in_slots
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.sync.indexing import index_paths
from sat_retriever.llm.chat import Chat, served_model
from sat_retriever.llm.served import ModelFacts
from sat_retriever.synth.answers.make import ANSWERS, read_answers

NUM_CTX = 8_192
DATA_TOKENS = 4_000  # of data in one prompt; the rest is for instructions and the answer
_REPLY_TOKENS = 512  # of one reply; a small model may repeat itself until it is stopped
_MOST_VALUES = 5
_SHARES = ("right", "sheets", "cells", "sql_first", "sql")
_SETS = ("eps", f"made_{SHEETS}_even", f"made_{SHEETS}_odd")
_WAYS = ("engine", "whole_workbook", "rag_sheets")


def eps() -> list[Expected]:
    """Return the hand-written questions of `eps`."""
    return [
        Expected(
            each.question,
            (each.value,),
            tuple(each.sheets),
            () if each.kind == "aggregate" else each.cited,
        )
        for each in load_questions()
    ]


def made(folder: Path) -> list[Expected]:
    """Return the made questions of a corpus whose answers have few values."""
    listed = read_answers(folder / ANSWERS)
    return [
        Expected(
            each["question"],
            tuple(value for row in each["rows"] for value in row),
            tuple(each["sheets"]),
            tuple(each.get("cells", ())),
            all_sheets=True,
        )
        for each in listed
        if sum(map(len, each["rows"])) <= _MOST_VALUES
    ]


def corpora(data: Path, runs: Path) -> dict[str, tuple[Path, list[Expected]]]:
    """Return the folder of each corpus and its questions."""
    corpus = made_workbooks(
        NUMBER, HELD_OUT, runs / "made", sheets=SHEETS, questions=10, answers=QUESTIONS
    )
    assert corpus.root is not None
    asked = made(corpus.root.parent)
    halves = (corpus.root, asked[::2]), (corpus.root, asked[1::2])
    return dict(zip(_SETS, ((data / "eps", eps()), *halves), strict=True))


def kept_answer(row: Mapping[str, Any]) -> Told:
    """Return an answer of its JSON values."""
    values = {each.name: row[each.name] for each in fields(Told)}
    listed = {name: tuple(each) for name, each in values.items() if isinstance(each, list)}
    return Told(**{**values, **listed})


def settings_of(options: Options, facts: ModelFacts, folder: Path) -> dict[str, Any]:
    """Return what decides the answers over the workbooks in a folder, and the time they take.

    Code with changes since a commit is like no other, so its answers are not used again.
    """
    return {
        "commit": commit_now() or secrets.token_hex(16),
        "data": data_hash([folder]),
        "model": options.llm,
        **asdict(facts),
        "slots": options.slots,
        "tokens": [NUM_CTX, DATA_TOKENS, _REPLY_TOKENS],
    }


def asked(
    index: SheetIndex,
    questions: Sequence[Expected],
    chat: Chat,
    kept: Kept[Told],
    settings: Mapping[str, Any],
    names: Sequence[str],
) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Yield each way and what is right of its answers, a row a question.

    Kept answers of the same settings are used; the model is asked the other questions.

    Raises:
        ModelSetupError: If the server is gone; the answers so far are kept.
    """
    known = ways(index, DATA_TOKENS)

    def row(name: str, expected: Expected) -> Mapping[str, Any]:
        key = key_of({**settings, "way": name}, expected.question)
        given = kept.find(key)
        if given is None:
            given = told(known[name], expected.question, chat)
            kept.keep(key, given)
        return judged(expected, given, queries=name == "engine")

    for name in names:
        rows = in_slots(partial(row, name), questions, settings["slots"])
        yield name, list(track(rows, name, len(questions)))


def metrics_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return shares, numbers of failures by class, and medians of tokens and seconds."""
    found: dict[str, Any] = {"questions": len(rows)}
    for name in _SHARES:
        known = [row[name] for row in rows if row[name] is not None]
        found[name] = round(sum(known) / len(known), 4) if known else None
    found |= {name: sum(row["failure"] == name for row in rows) for name in FAILURES}
    for name in ("prompt_tokens", "tokens", "seconds"):
        found[f"median_{name}"] = statistics.median(row[name] for row in rows)
    return found


@suite(
    "answers",
    "data",
    "work",
    llm=option(None, "ollama:MODEL or openai:MODEL", metavar="MODEL"),
    llm_url=option(None, "address of its server; OLLAMA_HOST or OPENAI_BASE_URL", metavar="URL"),
    sets=option(list(_SETS), choices=list(_SETS)),
    ways=option(list(_WAYS), choices=list(_WAYS)),
    slots=option(1, "questions that the model is asked at a time", type=int),
    limit=option(None, "only the first questions of each corpus", type=int),
)
def main(options: Options) -> Iterator[Result]:
    """Ask all questions in all ways."""
    if not options.llm:
        sys.exit("not run: name a model on a server with --llm MODEL")
    try:
        facts = served_model(options.llm, options.llm_url).facts()
    except ModelSetupError as error:
        sys.exit(f"not run: {error}")
    console.print(f"{options.llm}: {facts}")
    chat = Chat(options.llm, options.llm_url, num_ctx=NUM_CTX, max_tokens=_REPLY_TOKENS)
    plain = re.sub(r"\W+", "_", f"{options.llm} {facts.digest[:12]}").strip("_")
    known = corpora(options.data, options.work)
    for name in options.sets:
        folder, questions = known[name]
        kept = Kept(options.work / plain / name / "answers.jsonl", kept_answer, "--work")
        settings = settings_of(options, facts, folder)
        with index_paths(folder, options.work / f"{folder.name}.sat") as index:
            wanted = questions[: options.limit]
            for way, rows in asked(index, wanted, chat, kept, settings, options.ways):
                metrics = {"model": options.llm, "slots": options.slots, **metrics_of(rows)}
                yield Result(f"{way}_{plain}", name, metrics, per_query=rows, data=[folder])
