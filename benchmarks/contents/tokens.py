"""An encoder that keeps its tokens on disk, so that each text is encoded once for all corpora."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import numpy as np

from sat_retriever.encoder import SheetEncoder
from sat_retriever.records.progress import Progress
from sat_retriever.records.tokens import FloatArray

TOKENS = Path(".cache/contents")  # kept tokens, shared by several suites
_AT_ONCE = 256  # texts encoded before their tokens are written: what a stopped run may lose
_ASKED = 500  # tokens read with one statement


class TokenFile:
    """Tokens of texts by hash, for one encoder.

    Args:
        path: The file; made if it is missing.
        width: Token width d.
    """

    def __init__(self, path: Path, width: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(path, check_same_thread=False)
        self._file.execute("CREATE TABLE IF NOT EXISTS tokens (hash BLOB PRIMARY KEY, token BLOB)")
        self._width = width

    def tokens(
        self, kind: str, texts: Sequence[str], encode: Callable[[Sequence[str]], FloatArray]
    ) -> FloatArray:
        """Return the tokens of some texts, (n, d) float32; those not there are made and kept.

        Args:
            kind: Tells texts that are encoded differently apart.
            texts: The texts.
            encode: Makes tokens.
        """
        keys = [hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "replace")).digest()
                for text in texts]  # fmt: skip
        found = self._read(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        for part in _batches(list(missing), _AT_ONCE):
            made = encode([missing[key] for key in part])
            rows = [
                (key, token.astype("<f4").tobytes()) for key, token in zip(part, made, strict=True)
            ]
            with self._file:
                self._file.executemany("INSERT OR REPLACE INTO tokens VALUES (?, ?)", rows)
            found.update(rows)
        tokens = np.empty((len(keys), self._width), dtype=np.float32)
        for row, key in enumerate(keys):
            tokens[row] = np.frombuffer(found[key], dtype="<f4")
        return tokens

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for part in _batches(list(dict.fromkeys(keys)), _ASKED):
            marks = ", ".join("?" * len(part))
            query = f"SELECT hash, token FROM tokens WHERE hash IN ({marks})"
            found.update(self._file.execute(query, part))
        return found


def _batches(keys: Sequence[bytes], size: int) -> list[Sequence[bytes]]:
    return [keys[start : start + size] for start in range(0, len(keys), size)]


class CachedEncoder(SheetEncoder):
    """A Sheet Encoder whose tokens are kept in a file; all else is as without it."""

    _tokens: TokenFile

    @classmethod
    def kept(cls, name: str, folder: Path) -> CachedEncoder:
        """Load an encoder, with its file in a folder.

        Args:
            name: See `SheetEncoder.load`.
            folder: Folder of the files, one for each encoder.
        """
        encoder = cast(CachedEncoder, cls.load(name))  # `load` makes one of its own class
        encoder._tokens = TokenFile(folder / f"tokens-{encoder.fingerprint}.sqlite", encoder.width)
        return encoder

    def encode_sheets(
        self, texts: Sequence[str], *, progress: Progress | None = None
    ) -> FloatArray:
        """Return tokens of sheet texts; see `SheetEncoder`."""
        make = super().encode_sheets
        tokens = self._tokens.tokens("sheet", texts, make)
        if progress:
            progress(len(texts), len(texts))
        return tokens

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return tokens of queries; see `SheetEncoder`."""
        return self._tokens.tokens("query", texts, super().encode_queries)
