"""`sat ask`: answer a question in words from the sheets found, with a language model."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    QUOTED,
    AnswerOutOption,
    ForceOption,
    GroupsOption,
    IndexOption,
    JsonOption,
    LlmUrlOption,
    NumCtxOption,
    OwnerOption,
    PathOption,
    RerankerOption,
    TodayOption,
    TotalsOption,
    WorkbookOption,
    chosen,
    examples,
    opened_for,
    refuse_unquoted,
    refuse_without_model,
)
from sat_retriever.cli.terminal import (
    broken_pipe_is_the_end,
    check_excel,
    plain,
    print_json,
    print_rows,
    stderr,
    stdout,
)
from sat_retriever.errors import ModelSetupError, QueryError
from sat_retriever.index.store.place import Place
from sat_retriever.llm.chat import Chat
from sat_retriever.llm.served import Reply
from sat_retriever.rank.load import AUTO
from sat_retriever.records.filters import Filters
from sat_retriever.records.sheetanswer import QueryResult, SheetAnswer
from sat_retriever.tools.answerfile import AnswerFile
from sat_retriever.tools.engine.conversation import NOTHING, Conversation, Query
from sat_retriever.tools.engine.prepare import EngineSettings, Prepared, prepare
from sat_retriever.tools.engine.prompts import query_prompt, read_prompt

app = typer.Typer()
_ROWS = 20  # rows of the result that are shown
_NO_MODEL = (
    "no language model is named, so this is the prompt; add --llm ollama:MODEL or "
    "--llm openai:MODEL for an answer"
)


@app.command(
    no_args_is_help=True,
    epilog=examples(
        'sat ask "revenue by product in February" --llm qwen3:8b --index reports.sat',
        'sat ask "who has the highest salary?" --llm openai:qwen3 --llm-url http://127.0.0.1:8080',
        'sat ask "revenue by product in February" --index reports.sat',
    ),
    context_settings=QUOTED,
)
def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="A question.", metavar="QUESTION")],
    file: IndexOption = DEFAULT_INDEX,
    *,
    llm: Annotated[
        str | None,
        typer.Option(
            help="Model that answers: ollama:qwen3:8b, or openai:MODEL of any server of that form; "
            "without it the prompt is printed.",
            metavar="MODEL",
        ),
    ] = None,
    llm_url: LlmUrlOption = None,
    top_k: Annotated[
        int, typer.Option("-k", "--top-k", min=1, max=50, help="Sheets to read.", metavar="N")
    ] = 5,
    tables: Annotated[
        int,
        typer.Option(min=0, max=20, help="Best sheets to query; 0 reads text only.", metavar="N"),
    ] = 5,
    totals: TotalsOption = False,
    reranker: RerankerOption = AUTO,
    workbook: WorkbookOption = None,
    path: PathOption = None,
    today: TodayOption = None,
    timeout: Annotated[
        float, typer.Option(min=1, help="Most seconds of one reply.", metavar="S")
    ] = 600.0,
    num_ctx: NumCtxOption = 8192,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
    out: AnswerOutOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question in words, from the sheets found, with citations.

    The command finds the best sheets. A language model on a server writes
    SQL over their tables, a sandbox runs it, and the model puts the rows
    into words. A query that fails goes back to the model, twice at most.
    If SQL does not fit, the model answers from the tables' text. Without
    a server the prompt is printed.
    """
    refuse_unquoted(context, question)
    refuse_without_model({"--llm-url": llm_url, "--out": out}, {"--llm": llm})
    check_excel(out, file, force=force)
    settings = EngineSettings(top_k=top_k, tables=tables, max_tokens=num_ctx // 2, totals=totals)
    day = today.date() if today else None
    filters = Filters(workbook=workbook, path=path)
    with opened_for(file, as_groups, as_owner=as_owner) as opened:
        retriever = SheetRetriever(opened, chosen(reranker))
        ready = prepare(retriever, question, filters or None, settings=settings, today=day)
        places = opened.places([hit.sheet_id for hit in ready.hits])
    if llm is None and not (ready.hits or as_json):
        stdout().print(NOTHING)
        return
    if llm is None:
        _print_context(ready, file, as_json=as_json)
        if ready.hits:
            stderr().print(_NO_MODEL, style="yellow", soft_wrap=True)
        return
    if not as_json:
        _print_sheets(ready)
    chat = Chat(llm, llm_url, timeout_s=timeout, num_ctx=num_ctx)
    try:
        answer = _answered(ready, chat, quiet=as_json)
    except ModelSetupError:
        _print_context(ready, file, as_json=as_json)
        raise  # it says what is missing
    if out:
        queried = ready.tables.tables if ready.tables else ()
        records = [hit.record for hit in ready.hits]
        AnswerFile(out, places, records, queried).write(answer, ready.read)
    if as_json:
        print_json(answer.to_dict())
    elif answer.sources:
        stdout().print()
        for line in answer.sources.split("\n"):
            stdout().print(plain(line), style="dim", soft_wrap=True)


def _answered(ready: Prepared, chat: Chat, *, quiet: bool) -> SheetAnswer:
    """Return the model's answer; each step and the words of the answer are shown as they come."""
    talk = Conversation(ready)
    while step := talk.step:
        if isinstance(step, Query):
            given = step.run()
            if not quiet:
                _print_query(step, given)
            talk.reply(given)
        elif quiet or not step.final:
            doing = "answers" if step.final else "writes a query"
            with stderr().status(f"{chat.model} {doing}; Ctrl-C stops it"):
                pieces = chat.words(step.system, step.user, whole=step.final)
                talk.reply("".join(piece.text for piece in pieces))
        else:
            _print_words(talk, chat.words(step.system, step.user))
    assert talk.answer is not None
    if not quiet and talk.unshown:
        for line in talk.unshown.split("\n"):
            stdout().print(plain(line), soft_wrap=True)
    return talk.answer


def _print_words(talk: Conversation, pieces: Iterable[Reply]) -> None:
    """Print the words of the answer as they come."""
    shown = ""
    with broken_pipe_is_the_end():
        for piece in pieces:
            if words := talk.hear(piece.text):
                shown = words
                sys.stdout.write(_printable(words))
                sys.stdout.flush()
        sys.stdout.write("\n" if shown and not shown.endswith("\n") else "")
    talk.heard()


def _printable(text: str) -> str:
    """Return a piece of a model's words without control characters but for line ends."""
    return "".join(char if char.isprintable() or char == "\n" else " " for char in text)


def _print_query(step: Query, given: QueryResult | QueryError) -> None:
    for line in step.sql.split("\n"):
        stdout().print(plain(line), style="cyan", soft_wrap=True)
    if isinstance(given, QueryResult):
        print_rows(given.columns, given.rows[:_ROWS])
        if len(given.rows) > _ROWS:
            stdout().print(f"… {len(given.rows):,} rows", style="dim")
    else:
        stdout().print(plain(given), style="yellow", soft_wrap=True)
    stdout().print()


def _print_sheets(ready: Prepared) -> None:
    if ready.hits.heading:
        stdout().print(plain(ready.hits.heading), style="yellow", soft_wrap=True)
    for hit in ready.hits:
        stdout().print(plain(f"{hit.rank}  {hit.citation}"), style="green", soft_wrap=True)
    stdout().print()


def _print_context(ready: Prepared, index: Place, *, as_json: bool) -> None:
    prompt = query_prompt(ready) if ready.tables else read_prompt(ready)
    if as_json:
        shown = {"system": prompt.system, "user": prompt.user} if ready.hits else None
        print_json({"question": ready.question, "prompt": shown, **ready.hits.to_dict()})
        return
    for text in (prompt.system, "", prompt.user):
        for line in text.split("\n"):
            stdout().print(plain(line), soft_wrap=True)
    if ready.tables:
        named = [f"-s {shlex.quote(each.table.citation)}" for each in ready.tables.tables]
        line = (
            f"run a query: sat sql 'SELECT …' {' '.join(named)}"
            f"{' --totals' * ready.settings.totals} --index {shlex.quote(str(index))}"
        )
        stderr().print()
        stderr().print(plain(line), style="dim", soft_wrap=True)
