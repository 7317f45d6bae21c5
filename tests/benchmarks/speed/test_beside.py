from __future__ import annotations

import numpy as np
import pytest

from benchmarks.speed.beside import nearest_of_all, reason
from benchmarks.speed.vector_stores import STORES


@pytest.fixture(scope="module")
def tokens():
    made = np.random.default_rng(0).standard_normal((40, 8)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.mark.parametrize("store", ["llama-index", "langchain"])
def test_a_retriever_in_memory_finds_the_nearest_sheets(store, tokens):
    ids = [f"sheet {number}" for number in range(len(tokens))]
    ask = STORES[store]("", ids, tokens)
    for token, best in zip(tokens, nearest_of_all(ids, tokens, tokens, 5), strict=True):
        found = ask("a question", token.tolist(), 5)
        assert ids[[*map(tuple, tokens)].index(tuple(token))] == found[0]
        assert set(found) == best


@pytest.mark.parametrize(
    ("store", "sheets", "says"),
    [
        ("sat-retriever", 10**7, ""),
        ("langchain", 1_000, ""),
        ("langchain", 10**6, "more in memory"),
        ("chroma", 1_000, "name its folder with --others"),
    ],
)
def test_a_store_that_cannot_be_measured_says_why(store, sheets, says, tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.speed.beside.find_spec", lambda name: None)
    assert says in reason(store, sheets, tmp_path)
    assert bool(says) == bool(reason(store, sheets, tmp_path))
    (tmp_path / "chromadb").mkdir()
    assert not reason("chroma", sheets, tmp_path)
