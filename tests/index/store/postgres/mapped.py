"""Tests that were written for index files, on PostgreSQL: every file becomes a schema."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, MutableMapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pgserver import Server
from sat_retriever.index import index as module
from sat_retriever.index.store.place import IndexUrl, Place


@pytest.fixture(autouse=True)
def in_postgres(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `SheetIndex.create` and `open` take the schema that stands for a path."""

    def place(named: str | Path | IndexUrl) -> Place:
        if isinstance(named, IndexUrl):
            return named
        name = hashlib.blake2b(str(Path(named).absolute()).encode(), digest_size=12).hexdigest()
        return IndexUrl.parse(postgres.url(f"f{name}"))

    monkeypatch.setattr(module, "absolute", place)
    monkeypatch.setattr(module, "resolved", place)


def without(names: MutableMapping[str, Any], of_files: Iterable[str]) -> None:
    """Take out the tests that are about files themselves.

    Raises:
        AssertionError: If there is no such test.
    """
    for name in of_files:
        assert names.pop(name, None) is not None, f"there is no test {name}; correct the list"
