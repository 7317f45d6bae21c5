"""`sat status`: show the contents of an index, and the files and sheets it lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.table import Table

from sat_retriever.cli.principals import GroupsOption, OwnerOption, opened_for
from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    IndexOption,
    JsonOption,
    examples,
    plain,
    print_json,
    skipped_table,
    stdout,
)
from sat_retriever.encoder.models.folder import is_packaged
from sat_retriever.errors import EncoderError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.load import own_reranker_name
from sat_retriever.records.jsonform import to_json

EXAMPLES = examples(
    "sat status --index reports.sat",
    "sat status --index reports.sat --skipped",
    "sat status --index reports.sat --json",
)


def status(
    file: IndexOption = DEFAULT_INDEX,
    *,
    list_skipped: Annotated[
        bool, typer.Option("--skipped", help="List every file and sheet that was skipped.")
    ] = False,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show what is in an index: counts, encoder, reranker, and what could not be read."""
    with opened_for(file, as_groups, as_owner=as_owner) as opened:
        facts = dict(opened.status())
        facts["ranked_by"], in_words = _ranked_by(opened)
        skipped = [skip for state in opened.workbooks() for skip in state.skipped]
    facts["skipped"] = dict(Counter(skip.reason.value for skip in skipped).most_common())
    if as_json:
        listed = {"skipped_files": to_json(skipped)} if list_skipped else {}
        print_json({**facts, **listed})
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for key, value in _told(facts, in_words).items():
        table.add_row(key, plain(_text(value)))
    stdout().print(table)
    if list_skipped and skipped:
        stdout().print()
        stdout().print(skipped_table(skipped))


def _ranked_by(opened: SheetIndex) -> tuple[str | None, str]:
    """The reranker that a search uses by default, and the same in words."""
    try:
        name = own_reranker_name(opened)
    except EncoderError as error:
        return None, f"none that can be used: {error}"
    if is_packaged(name):
        return name, f"{name}, of this package"
    missing = name == opened.reranker_name and not Path(name).is_dir()
    return name, f"{name}, which does not exist" if missing else name


def _told(facts: Mapping[str, object], ranked_by: str) -> dict[str, object]:
    """The facts for a reader: one reranker, and plain words for settings."""
    told = {**facts, "reranker": ranked_by}
    del told["ranked_by"]
    texts = cast("dict[str, object]", told["serialization"])
    told["serialization"] = _renamed(texts, "examples", "examples encoded")
    told["skip_columns"] = told["skip_columns"] or "none"
    return _renamed(_renamed(told, "contents", "contents kept"), "skip_columns", "columns skipped")


def _renamed(facts: Mapping[str, object], key: str, name: str) -> dict[str, object]:
    return {name if each == key else each: value for each, value in facts.items()}


def _text(value: object) -> str:
    """A value in words.

    >>> _text({"xlsx": 1200, "": True}), _text({})
    ('xlsx: 1,200, none: yes', 'none')
    """
    if isinstance(value, dict):
        return ", ".join(f"{key or 'none'}: {_text(item)}" for key, item in value.items()) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
