"""Build and ask one vector store of another project, in a process of its own; see `postgres`.

    python -m benchmarks.speed.vector_stores llama-index|langchain FOLDER SOCKET

Both use an index of HNSW with the settings that pgvector has by default, and look through 200
sheets for the best 50. The last line printed is the result as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

K = 50
_LOOKED_AT = 200  # hnsw.ef_search
_M, _EF_CONSTRUCTION = 16, 64  # pgvector's own
_PART = 1_000
_WARM_UP, _REPEATS = 20, 3

Ask = Callable[[list[float]], list[str]]


def llama_index(socket: str, ids: Sequence[str], tokens: Any) -> Ask:
    """Fill LlamaIndex's store and return a function that asks it."""
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

    def ask(token: list[float]) -> list[str]:
        return list(store.query(VectorStoreQuery(token, similarity_top_k=K)).ids or [])

    return ask


def langchain(socket: str, ids: Sequence[str], tokens: Any) -> Ask:
    """Fill LangChain's store and return a function that asks it."""
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

    def ask(token: list[float]) -> list[str]:
        found = store.similarity_search_by_vector(token, k=K)
        return [str(each.id) for each in found]

    return ask


def main(store: str, folder: Path, socket: str) -> None:
    """Build, ask, print."""
    ids = json.loads((folder / "ids.json").read_text(encoding="utf-8"))
    tokens, asked = np.load(folder / "tokens.npy"), np.load(folder / "asked.npy").tolist()
    start = time.perf_counter()
    ask = {"llama-index": llama_index, "langchain": langchain}[store](socket, ids, tokens)
    built = time.perf_counter() - start
    for token in asked[:_WARM_UP]:
        ask(token)
    spent, found = [], []
    for turn in range(_REPEATS):
        for token in asked:
            start = time.perf_counter()
            best = ask(token)
            spent.append((time.perf_counter() - start) * 1000)
            if turn == 0:
                found.append(best)
    print(json.dumps({"build_s": round(built, 1), "spent_ms": spent, "found": found}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
