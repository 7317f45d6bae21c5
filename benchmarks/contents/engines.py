"""Ways to keep an inverted index of contents, each behind the same few calls."""

from __future__ import annotations

import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.contents.made_texts import Words, spelled

Fields = Sequence[Words]
Rows = NDArray[np.int64]
K1 = 1.2
_WEIGHTS = np.array([2, 1, 1, 0], dtype=np.float32)  # of the fields
_TOKENS = "tokenize = \"unicode61 remove_diacritics 0 categories 'L* N* M* Co' tokenchars '&-./'\""


class Engine(Protocol):
    """An inverted index on disk."""

    def add(self, sheets: Iterable[tuple[int, Fields]]) -> None:
        """Add sheets by number, in one commit."""

    def replace(self, old: Sequence[tuple[int, Fields]], new: Sequence[tuple[int, Fields]]) -> None:
        """Put a changed workbook's sheets in place of its old ones, in one commit."""

    def search(self, words: Sequence[int]) -> list[int]:
        """The fifty best sheets."""

    def close(self) -> None:
        """Release the files."""


class _Sqlite:
    """What engines inside one SQLite file share; scores are computed on arrays."""

    def __init__(self, folder: Path, sheets: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(folder / "index.db", isolation_level=None)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = NORMAL")
        self._sheets = sheets

    def add(self, sheets: Iterable[tuple[int, Fields]]) -> None:
        """Add sheets by number, in one commit."""
        self._file.execute("BEGIN")
        self._insert(sheets)
        self._file.execute("COMMIT")

    def replace(self, old: Sequence[tuple[int, Fields]], new: Sequence[tuple[int, Fields]]) -> None:
        """Put a changed workbook's sheets in place of its old ones, in one commit."""
        self._file.execute("BEGIN")
        self._delete(old)
        self._insert(new)
        self._file.execute("COMMIT")

    def search(self, words: Sequence[int]) -> list[int]:
        """The fifty best sheets by BM25 with the weight of each field."""
        scores = np.zeros(self._sheets * 2, dtype=np.float32)
        for word in words:
            keys = self._postings(spelled(word))
            if len(keys):
                rows, first = np.unique(keys >> 2, return_index=True)
                tf = np.add.reduceat(_WEIGHTS[keys & 3], first)
                idf = np.log1p((self._sheets - len(rows) + 0.5) / (len(rows) + 0.5))
                scores[rows] += (idf * (K1 + 1) * tf / (tf + K1)).astype(np.float32)
        best = np.argpartition(-scores, 50)[:50]
        return [int(row) for row in best[np.argsort(-scores[best])]]

    def close(self) -> None:
        """Release the file."""
        self._file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._file.close()

    def _insert(self, sheets: Iterable[tuple[int, Fields]]) -> None:
        raise NotImplementedError

    def _delete(self, sheets: Sequence[tuple[int, Fields]]) -> None:
        raise NotImplementedError

    def _postings(self, word: str) -> Rows:
        """4 · sheet + field of every place of a word, ascending."""
        raise NotImplementedError


class Columns(_Sqlite):
    """FTS5 as names have it: one row a sheet, a column a field, its text stored beside it."""

    def __init__(self, folder: Path, sheets: int) -> None:
        super().__init__(folder, sheets)
        self._file.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS t USING fts5 "
            f"(notes, labels, vals, detail = 'column', {_TOKENS})"
        )

    def _insert(self, sheets: Iterable[tuple[int, Fields]]) -> None:
        self._file.executemany(
            "INSERT INTO t (rowid, notes, labels, vals) VALUES (?, ?, ?, ?)",
            ((number, *map(_text, fields)) for number, fields in sheets),
        )

    def _delete(self, sheets: Sequence[tuple[int, Fields]]) -> None:
        self._file.executemany("DELETE FROM t WHERE rowid = ?", [(each[0],) for each in sheets])

    def _postings(self, word: str) -> Rows:
        found = []
        for field, name in enumerate(("notes", "labels", "vals")):
            sql = "SELECT json_group_array(rowid) FROM t WHERE t MATCH ?"
            found.append(_ids(self._file.execute(sql, (f'{name} : "{word}"',))) * 4 + field)
        return np.sort(np.concatenate(found))


class Contentless(_Sqlite):
    """FTS5 of nothing but postings: a row a sheet and field, its number 4 · sheet + field."""

    limit = -1

    def __init__(self, folder: Path, sheets: int) -> None:
        super().__init__(folder, sheets)
        self._file.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS t USING fts5 "
            f"(words, content = '', columnsize = 0, detail = 'none', {_TOKENS})"
        )

    def _insert(self, sheets: Iterable[tuple[int, Fields]]) -> None:
        self._file.executemany("INSERT INTO t (rowid, words) VALUES (?, ?)", _field_rows(sheets))

    def _delete(self, sheets: Sequence[tuple[int, Fields]]) -> None:
        sql = "INSERT INTO t (t, rowid, words) VALUES ('delete', ?, ?)"
        self._file.executemany(sql, _field_rows(sheets))

    def _postings(self, word: str) -> Rows:
        sql = "SELECT json_group_array(rowid) FROM (SELECT rowid FROM t WHERE t MATCH ? LIMIT ?)"
        return _ids(self._file.execute(sql, (f'"{word}"', self.limit)))


class Bounded(Contentless):
    """The same; of a word that more places have than a bound only the first are read."""

    limit = 50_000


class Arrays(_Sqlite):
    """Our own: parts of 4,096 sheets, in each a blob of 16-bit places a word.

    New sheets wait as rows of words until a part is full. A deleted sheet's number is noted; its
    places go when the part is written anew, which is left out here.
    """

    _PART = 4_096

    def __init__(self, folder: Path, sheets: int) -> None:
        super().__init__(folder, sheets)
        self._file.executescript(
            "CREATE TABLE IF NOT EXISTS parts (part INTEGER, word TEXT, places BLOB, "
            "PRIMARY KEY (part, word)) WITHOUT ROWID;"
            "CREATE TABLE IF NOT EXISTS waiting (sheet INTEGER PRIMARY KEY, words TEXT);"
            "CREATE TABLE IF NOT EXISTS gone (sheet INTEGER PRIMARY KEY);"
        )
        self._numbers = [row[0] for row in self._file.execute("SELECT DISTINCT part FROM parts")]
        self._fresh: dict[str, list[int]] = defaultdict(list)
        for sheet, words in self._file.execute("SELECT sheet, words FROM waiting ORDER BY sheet"):
            self._note(sheet, words)

    def _note(self, sheet: int, text: str) -> None:
        for field, words in enumerate(text.split("\n")):
            for word in words.split():
                self._fresh[word].append(sheet * 4 + field)

    def _insert(self, sheets: Iterable[tuple[int, Fields]]) -> None:
        for number, fields in sheets:
            if number % self._PART == 0 and number:
                self._fold(number // self._PART - 1)
            text = "\n".join(map(_text, fields))
            self._file.execute("INSERT INTO waiting VALUES (?, ?)", (number, text))
            self._note(number, text)

    def _fold(self, part: int) -> None:
        first = part * self._PART * 4
        self._file.executemany(
            "INSERT INTO parts VALUES (?, ?, ?)",
            (
                (part, word, (np.array(places) - first).astype("<u2").tobytes())
                for word, places in sorted(self._fresh.items())
            ),
        )
        self._file.execute("DELETE FROM waiting")
        self._fresh.clear()
        self._numbers.append(part)

    def _delete(self, sheets: Sequence[tuple[int, Fields]]) -> None:
        self._file.executemany("INSERT INTO gone VALUES (?)", [(each[0],) for each in sheets])

    def _postings(self, word: str) -> Rows:
        sql = "SELECT part, places FROM parts WHERE part = ? AND word = ?"
        found = [
            np.frombuffer(places, "<u2").astype(np.int64) + part * self._PART * 4
            for number in self._numbers
            for part, places in self._file.execute(sql, (number, word))
        ]
        return np.concatenate([*found, np.array(self._fresh.get(word, []), dtype=np.int64)])


class Tantivy:
    """The library of that name: a folder beside the index, with commits of its own."""

    def __init__(self, folder: Path, sheets: int) -> None:
        import tantivy  # type: ignore[import-not-found]

        self._tantivy: Any = tantivy
        folder.mkdir(parents=True, exist_ok=True)
        schema = tantivy.SchemaBuilder()
        schema.add_integer_field("sheet", stored=True, indexed=True)
        for name in ("notes", "labels", "vals"):
            schema.add_text_field(name, tokenizer_name="whitespace", index_option="basic")
        self._index = tantivy.Index(schema.build(), path=str(folder))
        self._writer: Any = None
        self._searcher: Any = self._index.searcher()

    def add(self, sheets: Iterable[tuple[int, Fields]]) -> None:
        """Add sheets by number, in one commit."""
        self._write((), sheets)

    def replace(self, old: Sequence[tuple[int, Fields]], new: Sequence[tuple[int, Fields]]) -> None:
        """Put a changed workbook's sheets in place of its old ones, in one commit."""
        self._write([number for number, _ in old], new)

    def _write(self, gone: Sequence[int], sheets: Iterable[tuple[int, Fields]]) -> None:
        if self._writer is None:
            self._writer = self._index.writer(heap_size=128_000_000, num_threads=1)
        for number in gone:
            self._writer.delete_documents("sheet", number)
        for number, fields in sheets:
            texts = dict(zip(("notes", "labels", "vals"), map(_text, fields), strict=True))
            self._writer.add_document(self._tantivy.Document(sheet=number, **texts))
        self._writer.commit()
        self._index.reload()
        self._searcher = self._index.searcher()

    def search(self, words: Sequence[int]) -> list[int]:
        """The fifty best sheets by the library's BM25."""
        text = " ".join(map(spelled, words))
        query = self._index.parse_query(text, ["notes", "labels", "vals"])
        hits = self._searcher.search(query, 50).hits
        return [self._searcher.doc(address)["sheet"][0] for _, address in hits]

    def close(self) -> None:
        """Finish merges and release the files."""
        if self._writer is not None:
            self._writer.wait_merging_threads()
            self._writer = None


ENGINES: dict[str, type[Any]] = {
    "fts5_columns": Columns,
    "fts5_contentless": Contentless,
    "fts5_bounded": Bounded,
    "arrays": Arrays,
    "tantivy": Tantivy,
}


def folder_bytes(folder: Path) -> int:
    """Bytes of all files of an engine."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def emptied(folder: Path) -> Path:
    """The folder, without anything in it."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def _text(words: Words) -> str:
    return " ".join(spelled(int(word)) for word in words)


def _field_rows(sheets: Iterable[tuple[int, Fields]]) -> Iterable[tuple[int, str]]:
    return (
        (number * 4 + field, _text(words))
        for number, fields in sheets
        for field, words in enumerate(fields)
    )


def _ids(rows: Any) -> Rows:
    text = rows.fetchone()[0][1:-1]
    return np.fromstring(text, dtype=np.int64, sep=",") if text else np.empty(0, np.int64)
