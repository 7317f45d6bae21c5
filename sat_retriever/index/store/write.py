"""Change rows of a store, those of sheets in an index file; the caller owns the transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from sat_retriever.errors import InputError
from sat_retriever.index.store.contents import packed
from sat_retriever.index.store.damage import checksum
from sat_retriever.index.store.rows import SheetRow, WorkbookState
from sat_retriever.index.store.session import Session
from sat_retriever.index.store.words import add_spellings, add_words, drop_words, spellings
from sat_retriever.links.formula.scope import file_key
from sat_retriever.records.contents import Role, SheetContents
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.text.contents import content_words
from sat_retriever.text.period.relation import months_of
from sat_retriever.text.spelling import is_main

_WORKBOOK = "id root path file size mtime_ns checked_ns content_hash skipped within version".split()


def holders(connection: Session, sheet_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return root and path of the workbook that already has a sheet id, by sheet id.

    Free ids are absent; both are empty for a sheet that was added without a file.
    """
    listed, value = connection.listed(sheet_ids)
    rows = connection.execute(
        "SELECT s.sheet_id, coalesce(w.root, ''), coalesce(w.path, '') FROM sheets s "
        f"LEFT JOIN workbooks w ON w.id = s.workbook_id WHERE s.sheet_id IN {listed}",
        (value,),
    ).fetchall()
    return {sheet_id: (root, path) for sheet_id, root, path in rows}


def clash(row: SheetRow, root: str, other: str) -> Skipped:
    """Return the note about a sheet that is left out because its id is taken.

    Args:
        row: The sheet.
        root: Root of its workbook.
        other: Root of the workbook that has the id; empty for a sheet without a file.
    """
    record = row.record
    message = (
        f"the indexed folder {other} has a sheet {record.sheet_id!r}, so that of {root} is left "
        "out: index the folder that holds both instead"
        if other
        else f"a sheet {record.sheet_id!r} was added without a file, so that of {root} is left "
        "out: remove the other, and verify"
    )
    return Skipped(record.path, SkipReason.DUPLICATE_ID, message, record.sheet)


def insert_workbooks(
    connection: Session, states: Sequence[WorkbookState], clashes: Sequence[Sequence[Skipped]]
) -> list[int]:
    """Add workbooks, with notes about the sheets of each that are left out; return their ids."""
    ids = connection.new_ids("workbooks", len(states))
    connection.insert(
        "workbooks",
        _WORKBOOK,
        [
            (
                *(number, x.root, x.path, file_key(x.path), x.size, x.mtime_ns, x.checked_ns),
                *(x.content_hash, json.dumps(to_json([*x.skipped, *out])), x.within, x.version),
            )
            for number, x, out in zip(ids, states, clashes, strict=True)
        ],
    )
    return ids


def workbooks_at(
    connection: Session, keys: Iterable[tuple[str, str]]
) -> tuple[list[int], dict[str, int]]:
    """Return the ids of the workbooks at some roots and paths, and their sheets.

    Returns:
        Ids of those that exist; row ids by sheet id, in tab order.
    """
    wanted = set(keys)
    (roots, first), (paths, second) = (
        connection.listed(sorted({key[place] for key in wanted})) for place in (0, 1)
    )
    rows = connection.execute(
        "SELECT w.id, w.root, w.path, s.id, s.sheet_id FROM workbooks w "
        "LEFT JOIN sheets s ON s.workbook_id = w.id "
        f"WHERE w.root IN {roots} AND w.path IN {paths} ORDER BY s.id",
        (first, second),
    ).fetchall()
    found = [(row[0], *row[3:]) for row in rows if (row[1], row[2]) in wanted]
    sheets = {sheet_id: row_id for _, row_id, sheet_id in found if row_id is not None}
    return sorted({workbook for workbook, *_ in found}), sheets


def insert_sheets(
    connection: sqlite3.Connection, rows: Iterable[tuple[int | None, SheetRow]]
) -> set[str]:
    """Add sheets with their contents, tokens and words; return the spellings that they have.

    Args:
        connection: The open file.
        rows: Id of the workbook, if any, and sheet.

    Raises:
        InputError: If the contents of a record cannot be kept.
    """
    added: set[str] = set()
    for workbook_id, row in rows:
        record = row.record
        plain = to_json(replace(record, contents=None), compact=True)
        text = json.dumps(plain, separators=(",", ":"))
        row_id = connection.execute(
            "INSERT INTO sheets (sheet_id, workbook_id, workbook, path, format, visibility, "
            "metadata, record, crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.sheet_id,
                workbook_id,
                record.workbook,
                record.path,
                record.format,
                record.visibility.value,
                json.dumps(dict(record.metadata)),
                text,
                checksum(text),
            ),
        ).lastrowid
        texts = 0
        if record.contents:
            data = packed_contents(record.sheet_id, record.contents)
            connection.execute(
                "INSERT INTO contents (id, packed, crc) VALUES (?, ?, ?)",
                (row_id, data, checksum(data)),
            )
            found = content_words(record.contents)
            add_words(connection, int(row_id or 0), found.matched)
            added.update(spellings(record, found))
            texts = len(found.matched)
        length = sum(len(words) for words in row.words)
        token = np.ascontiguousarray(row.token, dtype="<f4").tobytes()
        connection.execute(
            "INSERT INTO tokens (id, words, token, months, texts, documentation, main) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                row_id,
                length,
                token,
                months_of(record),
                texts,
                record.role is Role.DOCUMENTATION,
                is_main(record),
            ),
        )
        connection.execute(
            "INSERT INTO lexical (rowid, workbook, sheet, headers, folder) VALUES (?, ?, ?, ?, ?)",
            (row_id, *(" ".join(words) for words in row.words)),
        )
    add_spellings(connection, added)
    return added


def packed_contents(sheet_id: str, contents: SheetContents) -> bytes:
    """The contents of a sheet as they are stored.

    Raises:
        InputError: If they cannot be stored.
    """
    try:
        return packed(contents)
    except UnicodeEncodeError as error:
        raise InputError(
            f"the contents of {sheet_id!r} have text that is not Unicode ({error.reason}); "
            "replace lone surrogates in it"
        ) from error
    except ValueError as error:
        raise InputError(f"{sheet_id!r} cannot be kept: {error}") from error


def delete_sheets(connection: sqlite3.Connection, ids: Sequence[int]) -> set[str]:
    """Remove sheets by row id; return their spellings, which `drop_spellings` drops."""
    # FTS5 has no foreign keys, so its rows are deleted here; tokens and contents are deleted by
    # cascade.
    dropped = drop_words(connection, ids)
    values = [(row_id,) for row_id in ids]
    connection.executemany("DELETE FROM lexical WHERE rowid = ?", values)
    connection.executemany("DELETE FROM sheets WHERE id = ?", values)
    return dropped


def workbooks_of(connection: Session, sheet_ids: Sequence[str]) -> list[int]:
    """Return the row ids of the workbook files that have some of the sheets."""
    listed, value = connection.listed(sheet_ids)
    sql = f"SELECT DISTINCT workbook_id FROM sheets WHERE sheet_id IN {listed}"
    return sorted(row[0] for row in connection.execute(sql, (value,)).fetchall() if row[0])
