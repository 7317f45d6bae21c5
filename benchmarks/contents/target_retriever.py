"""A retriever of the TARGET benchmark: it indexes a corpus of tables, and finds tables in it.

With the package `target_benchmark` and its data:

    from target_benchmark.evaluators import TARGET
    from target_benchmark.retrievers import AbsCustomEmbeddingRetriever

    retriever = custom_class(AbsCustomEmbeddingRetriever)(Path("indexes"))
    TARGET(("Table Retrieval Task", "fetaqa")).run(retriever, split="test", top_k=10)

Nothing here imports that package.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.contents.systems import reranked
from sat_retriever.datasets.tables import plain_names, table_record
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import Encoder

Batch = Mapping[str, Sequence[Any]]
"""Some tables as TARGET hands them over: lists of `database_id`, `table_id`, `table` (a list of
rows, the header first) and `context`, each with one item a table."""
Key = tuple[str, str]  # database and table id

_PAGE = ("table_page_title", "page_title", "table_caption", "caption", "title")
_SECTION = ("table_section_title", "section_title")
_BETWEEN = "\n"  # stands in no id


class TargetRetriever:
    """Finds tables by one index for each data set, with contents.

    Args:
        folder: Where the indexes are written; an index of the same data set is replaced.
        encoder: Encoder of the tokens; None takes the general one.
        titles: Use the titles of page and section that the context of a table has.
        ids: Use the ids of database and table as names where there is no title, as in data sets
            of databases. Elsewhere an id may give a title away.
    """

    def __init__(
        self,
        folder: Path,
        encoder: Encoder | None = None,
        *,
        titles: bool = True,
        ids: bool = False,
    ) -> None:
        self.expected_corpus_format = "nested array"  # read by TARGET
        self._folder = folder
        self._encoder = encoder
        self._titles = titles
        self._ids = ids
        self._indexes: dict[str, SheetIndex] = {}

    def embed_corpus(self, dataset_name: str, corpus: Iterable[Batch]) -> None:
        """Index a corpus.

        Args:
            dataset_name: Its name.
            corpus: Its tables, some at a time.
        """
        self.close(dataset_name)
        self._folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(dataset_name.encode("utf-8", "replace")).hexdigest()[:16]
        path = self._folder / f"{digest}.sat"
        for old in self._folder.glob(f"{path.name}*"):
            old.unlink()
        index = SheetIndex.create(path, self._encoder)
        self._indexes[dataset_name] = index
        index.add_records(self._records(corpus), find_links=False)

    def retrieve(self, query: str, dataset_name: str, top_k: int, **_: Any) -> list[Key]:
        """Return database and table id of the best tables as a search finds them, at most fifty.

        Raises:
            InputError: If there is no corpus of this name.
        """
        if dataset_name not in self._indexes:
            raise InputError(f"there is no corpus {dataset_name!r}; call embed_corpus first")
        found = reranked(self._indexes[dataset_name], query)
        return [_key(each.sheet_id) for each in found[:top_k]]

    def close(self, dataset_name: str) -> None:
        """Release the file of a corpus, if there is one."""
        if dataset_name in self._indexes:
            self._indexes.pop(dataset_name).close()

    def _records(self, corpus: Iterable[Batch]) -> Iterator[SheetRecord]:
        number = 0
        for batch in corpus:
            columns = (batch[name] for name in ("database_id", "table_id", "table", "context"))
            for database, table, cells, context in zip(*columns, strict=True):
                number += 1
                names = self._names((str(database), str(table)), context or {}, number)
                rows = [["" if cell is None else str(cell) for cell in row] for row in cells]
                header, *rest = rows or [[]]
                yield table_record(f"{database}{_BETWEEN}{table}", names, header, rest)

    def _names(self, key: Key, context: Mapping[str, Any], number: int) -> Key:
        """Names of workbook and sheet of a table."""
        if self._titles:
            titles = _first(context, _PAGE), _first(context, _SECTION)
            if any(titles):
                return titles
        return key if self._ids else plain_names(number)


def custom_class(base: type) -> type[TargetRetriever]:
    """Return a class that is both a `TargetRetriever` and a custom retriever of TARGET.

    Args:
        base: TARGET's `AbsCustomEmbeddingRetriever`: it has the methods that TARGET calls, which
            call `embed_corpus` and `retrieve`.
    """
    return type("CustomRetriever", (TargetRetriever, base), {})


def _first(context: Mapping[str, Any], names: Sequence[str]) -> str:
    found = (context.get(name) for name in names)
    return next((each for each in found if isinstance(each, str) and each.strip()), "")


def _key(table_id: str) -> Key:
    database, _, table = table_id.partition(_BETWEEN)
    return database, table
