"""Build and ask one vector store, in a process of its own; see `postgres` and `beside`.

    python -m benchmarks.speed.vector_stores STORE FOLDER PLACE

PLACE is the socket of PostgreSQL's server, the index file of this package, or nothing for stores in
memory. The two in PostgreSQL use an index of HNSW with the settings that pgvector has by default,
and look through 200 sheets for the best 50; the others compare all tokens. Each is asked by its
framework's own retriever where it has one. The last line printed is the result as JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sat_retriever import SheetEncoder, SheetIndex, SheetRetriever
from sat_retriever.text.period.spans import UNDATED

_LOOKED_AT = 200  # hnsw.ef_search
_M, _EF_CONSTRUCTION = 16, 64  # pgvector's own
_PART = 1_000
_WARM_UP, _REPEATS = 20, 3
_ENOUGH_S = 60.0  # of the questions for one number of hits; a slower store is asked fewer

# The ids of the k best sheets for a question and its token.
Ask = Callable[[str, list[float], int], list[str]]


def sat_retriever(file: str, ids: Sequence[str], tokens: Any) -> Ask:
    """Open an index and return a function that asks it by the default path."""
    retriever = SheetRetriever(SheetIndex.open(file))

    def ask(question: str, token: list[float], k: int) -> list[str]:
        found = retriever.retrieve(question, k, token=np.asarray(token, np.float32), today=UNDATED)
        return [hit.sheet_id for hit in found]

    return ask


def llama_index(place: str, ids: Sequence[str], tokens: Any) -> Ask:
    """Fill LlamaIndex's store in memory and return a function that asks its index's retriever."""
    from llama_index.core import MockEmbedding, VectorStoreIndex
    from llama_index.core.schema import QueryBundle, TextNode

    nodes = [
        TextNode(id_=sheet_id, text=sheet_id, embedding=token)
        for sheet_id, token in zip(ids, tokens.tolist(), strict=True)
    ]
    model = MockEmbedding(embed_dim=tokens.shape[1])  # asked nothing: all tokens are given
    index = VectorStoreIndex(nodes, embed_model=model)

    def ask(question: str, token: list[float], k: int) -> list[str]:
        bundle = QueryBundle(question, embedding=token)
        found = index.as_retriever(similarity_top_k=k).retrieve(bundle)
        return [each.node.node_id for each in found]

    return ask


def langchain(place: str, ids: Sequence[str], tokens: Any) -> Ask:
    """Fill LangChain's store in memory and return a function that asks its retriever."""
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    class Given(Embeddings):
        """Tokens that are there already."""

        def __init__(self) -> None:
            self.token: list[float] = []

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [each.tolist() for each in tokens]

        def embed_query(self, text: str) -> list[float]:
            return self.token

    given = Given()
    store = InMemoryVectorStore(given)
    store.add_texts(list(ids), ids=list(ids))

    def ask(question: str, token: list[float], k: int) -> list[str]:
        given.token = token
        found = store.as_retriever(search_kwargs={"k": k}).invoke(question)
        return [str(each.id) for each in found]

    return ask


def lancedb(place: str, ids: Sequence[str], tokens: Any) -> Ask:
    """Fill a table of LanceDB and return a function that asks it; it compares all tokens."""
    import lancedb as lance

    rows = [{"id": x, "vector": token} for x, token in zip(ids, tokens, strict=True)]
    table = lance.connect(f"{place}/lance").create_table("sheets", rows)

    def ask(question: str, token: list[float], k: int) -> list[str]:
        found = table.search(token).distance_type("cosine").limit(k).to_list()
        return [each["id"] for each in found]

    return ask


def chroma(place: str, ids: Sequence[str], tokens: Any) -> Ask:
    """Fill a collection of Chroma, which has an index of HNSW, and return what asks it."""
    import chromadb

    client = chromadb.EphemeralClient(chromadb.config.Settings(anonymized_telemetry=False))
    sheets = client.create_collection(
        "sheets", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    for start in range(0, len(ids), _PART):
        part = slice(start, start + _PART)
        sheets.add(ids=list(ids[part]), embeddings=tokens[part], documents=list(ids[part]))

    def ask(question: str, token: list[float], k: int) -> list[str]:
        return list(sheets.query(query_embeddings=[token], n_results=k)["ids"][0])

    return ask


def llama_index_postgres(socket: str, ids: Sequence[str], tokens: Any) -> Ask:
    """Fill LlamaIndex's store in PostgreSQL and return a function that asks it."""
    from llama_index.core.schema import TextNode
    from llama_index.core.vector_stores.types import VectorStoreQuery
    from llama_index.vector_stores.postgres import PGVectorStore

    at = f"/postgres?host={socket}&user=postgres"
    store = PGVectorStore.from_params(
        connection_string=f"postgresql+psycopg2://{at}",
        async_connection_string=f"postgresql+asyncpg://{at}",
        schema_name="llama_index",
        table_name=f"sheets{len(ids)}",
        embed_dim=tokens.shape[1],
        hnsw_kwargs={
            "hnsw_m": _M,
            "hnsw_ef_construction": _EF_CONSTRUCTION,
            "hnsw_ef_search": _LOOKED_AT,
            "hnsw_dist_method": "vector_cosine_ops",
        },
    )
    for start in range(0, len(ids), _PART):
        part = slice(start, start + _PART)
        store.add(
            [
                TextNode(id_=sheet_id, text=sheet_id, embedding=token)
                for sheet_id, token in zip(ids[part], tokens[part].tolist(), strict=True)
            ]
        )

    def ask(question: str, token: list[float], k: int) -> list[str]:
        return list(store.query(VectorStoreQuery(token, similarity_top_k=k)).ids or [])

    return ask


def langchain_postgres(socket: str, ids: Sequence[str], tokens: Any) -> Ask:
    """Fill LangChain's store in PostgreSQL and return a function that asks it."""
    from langchain_core.embeddings import FakeEmbeddings
    from langchain_postgres import Column, PGEngine, PGVectorStore
    from langchain_postgres.v2.indexes import HNSWIndex, HNSWQueryOptions

    at = f"postgresql+psycopg://postgres@/postgres?host={socket}"
    table = f"langchain_sheets{len(ids)}"
    engine = PGEngine.from_connection_string(at)
    engine.init_vectorstore_table(
        table, vector_size=tokens.shape[1], id_column=Column("sheet", "TEXT")
    )
    store = PGVectorStore.create_sync(
        engine,
        FakeEmbeddings(size=tokens.shape[1]),
        table,
        id_column="sheet",
        index_query_options=HNSWQueryOptions(ef_search=_LOOKED_AT),
    )
    for start in range(0, len(ids), _PART):
        part = slice(start, start + _PART)
        names = list(ids[part])
        store.add_embeddings(names, tokens[part].tolist(), ids=names)
    store.apply_vector_index(HNSWIndex(m=_M, ef_construction=_EF_CONSTRUCTION))

    def ask(question: str, token: list[float], k: int) -> list[str]:
        found = store.similarity_search_by_vector(token, k=k)
        return [str(each.id) for each in found]

    return ask


STORES: dict[str, Callable[[str, Sequence[str], Any], Ask]] = {
    "sat-retriever": sat_retriever,
    "llama-index": llama_index,
    "langchain": langchain,
    "lancedb": lancedb,
    "chroma": chroma,
    "llama-index-postgres": llama_index_postgres,
    "langchain-postgres": langchain_postgres,
}


def main(store: str, folder: Path, place: str) -> None:
    """Build, ask, print: the milliseconds of each question, and the sheets found, by hits."""
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    questions, asked = plan["questions"], np.load(folder / "asked.npy").tolist()
    tokens = np.load(folder / "tokens.npy")
    start = time.perf_counter()
    ask = STORES[store](place or str(folder), plan["ids"], tokens)
    answer: dict[str, Any] = {"build_s": round(time.perf_counter() - start, 1)}
    encoder = SheetEncoder.load()
    for k in plan["hits"]:
        spent: list[float] = []
        whole: list[float] = []
        found: list[list[str]] = []
        begun = time.perf_counter()
        for question, token in [*zip(questions, asked, strict=True)][:_WARM_UP]:
            ask(question, token, k)
            if time.perf_counter() - begun > _ENOUGH_S / 4:
                break
        for turn in range(_REPEATS):
            for question, token in zip(questions, asked, strict=True):
                if len(spent) >= _WARM_UP and time.perf_counter() - begun > _ENOUGH_S:
                    break
                start = time.perf_counter()
                encoder.encode_queries([question])
                encoded = time.perf_counter()
                best = ask(question, token, k)
                end = time.perf_counter()
                spent.append((end - encoded) * 1000)
                whole.append((end - start) * 1000)
                if turn == 0:
                    found.append(best)
        answer[str(k)] = {"spent_ms": spent, "whole_ms": whole, "found": found}
    answer["peak_mib"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10)
    print(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
