"""Put the sheets of an index into a vector store of LangChain, embedded by the Sheet Encoder."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from langchain_sat.documents import record_document
from langchain_sat.settings import ContentLike, IndexLike
from sat_retriever.encoder import DEFAULT
from sat_retriever.encoder.load import load_encoder
from sat_retriever.index.sync.indexing import index_for
from sat_retriever.records.permissions import Principals
from sat_retriever.records.tokens import Encoder
from sat_retriever.tools.content import RECORD, Content, sheet_texts


def sheet_documents(
    index: IndexLike, *, content: ContentLike = RECORD, principals: Principals | None = None
) -> Iterator[Document]:
    """Yield each sheet of an index as a document, for any vector store of the framework.

    `store.add_documents(list(sheet_documents(index)))` fills one; `store.as_retriever()` searches
    it. Such a search compares meaning alone. It loses words (BM25) and cells, times, links and
    reasons, the confidence, spelling, and the folding of copies. A `SheetGraphReranker` brings
    words, times and links back for the documents that it is given, where it has the index.

    A store holds nothing back: whoever searches it sees every document. Fill one store for each
    audience, with its `principals`. It does not follow changes of files or permissions either.

    The `id` of a document is a UUID, since Qdrant takes no other text: the same each time for a
    sheet of an index at a place. `sheet_id` in the metadata names the sheet.

    Args:
        index: The index, or its path.
        content: The text of a document, as `Content`, as the name of its form, or as a mapping.
        principals: The groups of the audience, or `OWNER`; see `SheetIndex.seen_by`.

    Raises:
        IndexNotFoundError: If there is no index at the path.
        PermissionsError: If the index has permissions, and there are no principals.
    """
    opened = index_for(index, None, principals)
    for records, texts in sheet_texts(opened, Content.of(content)):
        for record, text in zip(records, texts, strict=True):
            document = record_document(record, text, {})
            document.id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{opened.path}#{record.sheet_id}"))
            yield document


class SheetEmbeddings(Embeddings):
    """The Sheet Encoder as an embedding model of LangChain.

    Args:
        encoder: Its name or folder, as in `SheetIndex.create`, or an encoder.

    Raises:
        EncoderError: If it cannot be loaded.
    """

    def __init__(self, encoder: Encoder | str | Path = DEFAULT) -> None:
        self._encoder = load_encoder(encoder) if isinstance(encoder, (str, Path)) else encoder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the token of each sheet's text."""
        rows: list[list[float]] = self._encoder.encode_sheets(texts).tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        """Return the token of a question."""
        row: list[float] = self._encoder.encode_queries([text])[0].tolist()
        return row
