"""Both frameworks answer for whom they are told, and for nobody not at all."""

import json
import pickle

import pytest
from langchain_core.documents import Document
from langchain_core.load import dumps, load
from langchain_sat import SheetGraphReranker as LangChainReranker
from langchain_sat import SheetTokenRetriever as LangChainRetriever
from langchain_sat import SheetTool, create_sheet_tools, retriever_chain
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.postprocessor.sat import SheetGraphReranker
from llama_index.retrievers.sat import SheetTokenRetriever
from llama_index.retrievers.sat.tools import sheet_tools

from sat_retriever import OWNER, EncoderError, PermissionsError, SheetIndex, SheetRecord
from tests.fakes import HashedEncoder
from tests.saved_encoder import save_bag_of_words


@pytest.fixture
def index(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as made:
        made.add_records([SheetRecord("sales", "Sales"), SheetRecord("wages", "Wages")])
        made.permit(lambda record: ["*"] if record.sheet_id == "sales" else ["hr"])
        yield made


CASES = [([], ["sales"]), (["hr"], ["sales", "wages"]), (OWNER, ["sales", "wages"])]


@pytest.mark.parametrize(("principals", "seen"), CASES)
def test_llama_index_retrieves_for_whom_it_is_told(index, principals, seen):
    whole = SheetTokenRetriever(index, 9)
    for retriever in (SheetTokenRetriever(index, 9, principals=principals),
                      whole.seen_by(principals)):  # fmt: skip
        found = retriever.retrieve("wages sales")
        assert sorted(node.metadata["sheet_id"] for node in found) == seen
    with pytest.raises(PermissionsError, match="say who asks"):
        whole.retrieve("wages")


def test_a_hidden_sheet_is_any_text_to_a_reranker(index):
    nodes = [
        TextNode(text="x", metadata={"sheet_id": name}, excluded_embed_metadata_keys=["sheet_id"])
        for name in ("wages", "nothing")
    ]
    given = [NodeWithScore(node=node, score=0.5) for node in nodes]
    question = QueryBundle("wages")
    ranked = SheetGraphReranker(index, principals=[]).postprocess_nodes(given, question)
    assert ranked[0].score == ranked[1].score
    documents = [Document(page_content="x", metadata=node.metadata) for node in nodes]
    ranked = LangChainReranker(index, principals=[]).compress_documents(documents, "wages")
    scores = {each.metadata["sheet_id"]: each.metadata["relevance_score"] for each in ranked}
    assert scores["wages"] == scores["nothing"]
    with pytest.raises(PermissionsError):
        LangChainReranker(index).compress_documents(documents, "wages")
    with pytest.raises(PermissionsError):
        SheetGraphReranker(index).postprocess_nodes(given, question)


@pytest.mark.parametrize(("principals", "seen"), CASES)
def test_langchain_retrieves_for_whom_it_is_told(index, principals, seen):
    whole, reranker = LangChainRetriever(index, k=9), LangChainReranker(index)
    chain = retriever_chain(whole, reranker)
    for found in (
        LangChainRetriever(index, k=9, principals=principals).invoke("wages sales"),
        whole.invoke("wages sales", principals=principals),
        chain.invoke("wages sales", principals=principals),
    ):
        assert sorted(each.metadata["sheet_id"] for each in found) == seen
    for ask in (whole, chain):
        with pytest.raises(PermissionsError, match="say who asks"):
            ask.invoke("wages")


def test_no_text_becomes_the_owner_on_its_way(index):
    owner = LangChainRetriever(index, principals=OWNER)
    assert owner.model_dump(mode="json")["principals"] is None
    with pytest.raises(ValueError, match="principals"):
        LangChainRetriever(index, principals="owner")
    groups = LangChainRetriever(index, principals=["hr"])
    assert type(groups).model_validate(groups.model_dump()).principals == ["hr"]


@pytest.fixture
def named_index(tmp_path):
    """The same, by an encoder that its name loads."""
    encoder = save_bag_of_words(tmp_path / "bag", ["sales", "wages"])
    with SheetIndex.create(tmp_path / "named.sat", encoder) as made:
        made.add_records([SheetRecord("sales", "Sales"), SheetRecord("wages", "Wages")])
        made.permit(lambda record: ["*"] if record.sheet_id == "sales" else ["hr"])
        yield made


def copies(component):
    """Each way in which a component is sent elsewhere; the last ones write no owner."""
    yield pickle.loads(pickle.dumps(component))
    if hasattr(component, "to_dict"):
        yield type(component).from_dict(json.loads(json.dumps(component.to_dict())))
    else:
        dumped = json.loads(dumps(component))
        yield load(dumped, allowed_objects=[type(component)], valid_namespaces=["langchain_sat"])


def seen(component, given):
    """The sheets that a component shows or knows."""
    if isinstance(component, SheetTokenRetriever):
        return sorted(each.metadata["sheet_id"] for each in component.retrieve("wages sales"))
    if isinstance(component, LangChainRetriever):
        return sorted(each.metadata["sheet_id"] for each in component.invoke("wages sales"))
    index = component.index
    if isinstance(component, LangChainReranker) and component.principals is not None:
        index = index.seen_by(component.principals)
    return sorted(index.records(given))


RESTRICTED = [SheetTokenRetriever, SheetGraphReranker, LangChainRetriever, LangChainReranker]


@pytest.mark.filterwarnings("ignore:The function `load` is in beta")
@pytest.mark.parametrize("kind", RESTRICTED)
@pytest.mark.parametrize("way", ["principals", "view"])
def test_those_who_see_it_survive_being_sent(named_index, kind, way):
    for principals, shown in CASES:
        view = {"index": named_index, "principals": principals}
        if way == "view":
            view = {"index": named_index.seen_by(principals)}
        for number, copy in enumerate(copies(kind(**view))):
            if principals is OWNER and number:
                with pytest.raises(PermissionsError, match="say who asks"):  # nobody, not all
                    seen(copy, ["sales", "wages"])
            else:
                assert seen(copy, ["sales", "wages"]) == shown


@pytest.mark.filterwarnings("ignore:The function `load` is in beta")
def test_tools_for_some_come_back_for_them(named_index):
    for principals, shown in CASES:
        tools = create_sheet_tools(named_index, principals=principals)
        [status] = [tool for tool in tools if tool.name == "index_status"]
        dumped = json.loads(dumps(status))
        again = load(dumped, allowed_objects=[SheetTool], valid_namespaces=["langchain_sat"])
        if principals is OWNER:
            call = {"name": status.name, "args": {}, "id": "1", "type": "tool_call"}
            assert "say who asks" in again.invoke(call).content
        else:
            assert f"sheets {len(shown)}," in again.invoke({})


def test_an_index_of_no_named_encoder_is_refused_with_what_to_do(index):
    for component in (SheetTokenRetriever(index), SheetGraphReranker(index),
                      LangChainRetriever(index), LangChainReranker(index)):  # fmt: skip
        with pytest.raises(EncoderError, match=r"SheetIndex\.open\(PLACE, encoder=OBJECT\)"):
            pickle.dumps(component)


def test_tools_name_a_hidden_sheet_as_one_that_does_not_exist(index):
    for tools in (sheet_tools(index, principals=[]), create_sheet_tools(index, principals=[])):
        named = {getattr(tool, "name", None) or tool.metadata.name: tool for tool in tools}
        for name in ("describe_sheet", "read_range", "related_sheets"):
            said = [
                str(_call(named[name], sheet)).replace(sheet, "X") for sheet in ("wages", "wager")
            ]
            assert said[0] == said[1] and "Wages" not in said[0]
        assert "sheets 1," in str(_call(named["index_status"]))


def _call(tool, *sheet):
    arguments = {"sheet": sheet[0]} if sheet else {}
    return tool.call(**arguments) if hasattr(tool, "call") else tool.invoke(arguments)
