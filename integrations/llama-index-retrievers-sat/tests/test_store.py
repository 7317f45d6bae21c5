"""Sheets in LlamaIndex's own vector stores."""

import asyncio
import json
import pickle

import pytest
from llama_index.core import MockEmbedding, StorageContext, VectorStoreIndex
from llama_index.core.schema import QueryBundle
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.postprocessor.sat import SheetGraphReranker
from llama_index.retrievers.sat import SheetEmbedding, SheetTokenRetriever, sheet_nodes

from sat_retriever import OWNER, EncoderError, PermissionsError, SheetIndex, SheetRecord
from tests.fakes import CountingEncoder, HashedEncoder, HeldEncoder

QUESTION = "revenue by region"


def sheets(nodes):
    return [node.metadata["sheet_id"] for node in nodes]


@pytest.fixture(params=[False, True])
def stored(index, request):
    """The sheets in the framework's own store, embedded anew or by the index's tokens."""
    nodes = list(sheet_nodes(index, tokens=request.param))
    context = StorageContext.from_defaults(vector_store=SimpleVectorStore())
    model = SheetEmbedding(index.encoder)
    return VectorStoreIndex(nodes, storage_context=context, embed_model=model)


def test_the_store_finds_sheets_by_meaning_alone(index, stored, request):
    found = stored.as_retriever(similarity_top_k=99).retrieve(QUESTION)
    assert sorted(sheets(found)) == sorted(index.sheet_ids())
    if request.node.callspec.params["stored"]:
        tokens = index.search.tokens(sheets(found))
    else:
        tokens = index.encoder.encode_sheets([node.text for node in found])
    cosines = tokens @ index.encoder.encode_queries([QUESTION]).ravel()
    assert [node.score for node in found] == pytest.approx(cosines.tolist(), abs=1e-5)


def test_a_node_is_that_of_the_retriever_without_its_reasons(index, stored):
    own = {
        n.node_id: n for n in SheetTokenRetriever(index, 99, content="record").retrieve(QUESTION)
    }
    found = stored.as_retriever(similarity_top_k=99).retrieve(QUESTION)
    assert {node.node_id for node in found} == own.keys()
    for node in found:
        twin = own[node.node_id]
        assert twin.text.endswith(node.text)
        assert node.metadata.items() <= twin.metadata.items()
        assert {"sheet_id", "citation", "path", "range", "columns"} <= node.metadata.keys()
        assert not {"words", "links", "period", "confidence"} & node.metadata.keys()


def test_a_reranker_with_the_index_ranks_what_the_store_found(index, stored):
    reranker, question = SheetGraphReranker(index, top_n=3), QueryBundle(QUESTION)
    found = stored.as_retriever(similarity_top_k=99).retrieve(QUESTION)
    own = SheetTokenRetriever(index, 99).retrieve(QUESTION)
    ranked, expected = (reranker.postprocess_nodes(nodes, question) for nodes in (found, own))
    assert [(n.node_id, n.score) for n in ranked] == [(n.node_id, n.score) for n in expected]


def test_tokens_spare_the_encoding(tmp_path):
    encoder = CountingEncoder()
    with SheetIndex.create(tmp_path / "a.sat", encoder) as index:
        index.add_records([SheetRecord("sales", "Sales"), SheetRecord("wages", "Wages")])
        nodes = list(sheet_nodes(index, tokens=True))
        vectors = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=1))
        stored = vectors.vector_store.data.embedding_dict
        assert [stored[node.node_id] for node in nodes] == index.search.tokens(
            ["sales", "wages"]
        ).tolist()


def test_another_embedding_model_does_as_well(index):
    made = VectorStoreIndex(list(sheet_nodes(index)), embed_model=MockEmbedding(embed_dim=8))
    [found] = made.as_retriever(similarity_top_k=1).retrieve(QUESTION)
    assert found.metadata["sheet_id"] in index.sheet_ids()


def test_a_store_is_filled_for_an_audience(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records([SheetRecord("sales", "Sales"), SheetRecord("wages", "Wages")])
        index.permit(lambda record: ["*"] if record.sheet_id == "sales" else ["hr"])
        with pytest.raises(PermissionsError, match="say who asks"):
            list(sheet_nodes(index))
        both = ["sales", "wages"]
        for principals, seen in (([], ["sales"]), (["hr"], both), (OWNER, both)):
            assert sheets(sheet_nodes(index, principals=principals)) == seen


@pytest.mark.parametrize("way", ["aget_query_embedding", "aget_text_embedding"])
def test_embedding_leaves_the_event_loop_free(way):
    async def embed():
        encoder = HeldEncoder()
        return await encoder.beside(getattr(SheetEmbedding(encoder), way)(QUESTION))

    assert len(asyncio.run(embed())) == 64


def test_the_encoder_comes_back_by_its_name(index):
    model = SheetEmbedding(index.encoder, embed_batch_size=3)
    for again in (
        pickle.loads(pickle.dumps(model)),
        SheetEmbedding.from_dict(json.loads(json.dumps(model.to_dict()))),
    ):
        assert (again.model_name, again.embed_batch_size) == (index.encoder_name, 3)
        assert again.get_query_embedding(QUESTION) == model.get_query_embedding(QUESTION)
    with pytest.raises(EncoderError):
        pickle.loads(pickle.dumps(SheetEmbedding(HashedEncoder(name="/none"))))
