"""Query engines, routers and agents with a language model that follows a script."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent, ToolCallResult
from llama_index.core.query_engine import RetrieverQueryEngine, RouterQueryEngine
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.core.vector_stores import MetadataFilters
from llama_index.postprocessor.sat import SheetGraphReranker
from llama_index.retrievers.sat import SheetTokenRetriever, sheet_tools

from tests.integrations.llamaindex import MONTHS
from tests.integrations.scripted import ScriptedLLM


def engine(index, llm, *, top_n=3, filters=None, content="answer"):
    return RetrieverQueryEngine.from_args(
        SheetTokenRetriever(index, 50, filters, content=content),
        llm=llm,
        node_postprocessors=[SheetGraphReranker(index, top_n=top_n)],
    )


def of_workbook(name):
    return MetadataFilters.from_dicts([{"key": "workbook", "value": name}])


def cited(response):
    return [node.metadata["citation"] for node in response.source_nodes]


@pytest.mark.parametrize("way", ["query", "aquery"])
def test_a_query_engine_answers_from_sheets_that_it_cites(index, heard, way):
    llm = ScriptedLLM(["Ada earns 41."])
    found = getattr(engine(index, llm, top_n=1), way)("salary of the staff")
    response = asyncio.run(found) if asyncio.iscoroutine(found) else found
    assert str(response) == "Ada earns 41."
    assert cited(response) == ["staff.csv#staff!A1:B3"]
    assert "citation: staff.csv#staff!A1:B3" in llm.seen[0]
    assert "Name | Salary" in llm.seen[0] and "salary of the staff" in llm.seen[0]
    told = [n for n in heard.names() if n.startswith(("Query", "Retrieval", "ReRank"))]
    assert told == [
        "QueryStartEvent",
        "RetrievalStartEvent",
        "RetrievalEndEvent",
        "ReRankStartEvent",
        "ReRankEndEvent",
        "QueryEndEvent",
    ]


@pytest.mark.parametrize("way", ["query", "aquery"])
def test_monthly_templates_of_equal_text_all_reach_the_model(index, way):
    llm = ScriptedLLM(["Three."])
    found = getattr(engine(index, llm, content="record"), way)("project hours")
    response = asyncio.run(found) if asyncio.iscoroutine(found) else found
    expected = sorted(f"{month}/Hours.xlsx#Hours!A1:B2" for month in MONTHS)
    assert sorted(cited(response)) == expected
    assert len({node.text for node in response.source_nodes}) == 1
    assert all(llm.seen[0].count(citation) == 1 for citation in expected)


def test_filters_hold_through_both_stages(index):
    filters = of_workbook("2024.xlsx")
    response = engine(index, ScriptedLLM(["."]), top_n=50, filters=filters).query("hours")
    assert {node.metadata["workbook"] for node in response.source_nodes} == {"2024.xlsx"}
    assert len(response.source_nodes) == 4


def test_a_retriever_tool_shows_its_nodes_with_citations(index):
    tool = RetrieverTool.from_defaults(
        SheetTokenRetriever(index, 50),
        node_postprocessors=[SheetGraphReranker(index, top_n=1)],
        name="sheets",
    )
    for output in (tool("staff salary"), asyncio.run(tool.acall("staff salary"))):
        assert "staff.csv#staff!A1:B3" in output.content
        assert [n.metadata["sheet"] for n in output.raw_output] == ["staff"]


def test_a_router_sends_a_question_to_the_engine_that_the_model_chose(index):
    choice = '[{"choice": 2, "reason": "hours are asked for"}]'
    llm = ScriptedLLM([choice, "Three months."])
    router = RouterQueryEngine(
        selector=LLMSingleSelector.from_defaults(llm=llm),
        query_engine_tools=[
            QueryEngineTool.from_defaults(
                engine(
                    index,
                    llm,
                    filters=of_workbook(w),
                ),
                description=f"Sheets of {w}",
            )
            for w in ("staff.csv", "Hours.xlsx")
        ],
        llm=llm,
    )
    response = router.query("project hours")
    assert str(response) == "Three months."
    assert {node.metadata["workbook"] for node in response.source_nodes} == {"Hours.xlsx"}
    assert "Sheets of Hours.xlsx" in llm.seen[0]


def follows_a_script(test):
    """A test of an agent, whose workflow looks at every attribute, deprecated ones too."""
    for said in (
        r"The `__fields(_set)?__` attribute is deprecated:pydantic.PydanticDeprecatedSince20",
        r"Accessing the 'model_\w+' attribute on the instance:pydantic.PydanticDeprecatedSince211",
        r"is_running called from within a step:DeprecationWarning",
    ):
        test = pytest.mark.filterwarnings(f"ignore:{said}")(test)
    return test


async def run(agent, question):
    """The answer, and what each tool answered."""
    handler = agent.run(user_msg=question)
    called = [e async for e in handler.stream_events() if isinstance(e, ToolCallResult)]
    return str(await handler), called


SCRIPT = [
    {"find_sheets": {"question": "salary of the staff", "top_k": 1}},
    {"read_range": {"sheet": "staff.csv"}, "describe_sheet": {"sheet": "stuff.csv"}},
    "Ada earns 41 (staff.csv#staff!A1:B3).",
]


@follows_a_script
@pytest.mark.parametrize("streaming", [False, True])
def test_a_function_agent_finds_a_sheet_reads_it_and_answers(index, streaming):
    llm = ScriptedLLM(SCRIPT)
    agent = FunctionAgent(tools=sheet_tools(index), llm=llm, streaming=streaming)
    answer, called = asyncio.run(run(agent, "What does Ada earn?"))
    assert answer == SCRIPT[-1]
    outputs = {each.tool_name: each.tool_output for each in called}
    assert "staff.csv#staff!A1:B3" in outputs["find_sheets"].content
    assert "Ada" in outputs["read_range"].content
    assert outputs["describe_sheet"].is_error and "staff.csv" in outputs["describe_sheet"].content
    assert "| Ada | 41 |" in llm.seen[-1]  # the model read the cells before it answered


@follows_a_script
def test_a_react_agent_does_so_in_words(index):
    llm = ScriptedLLM(
        [
            "Thought: I look for it.\nAction: find_sheets\n"
            'Action Input: {"question": "salary of the staff"}',
            'Thought: I read it.\nAction: read_range\nAction Input: {"sheet": "staff.csv#staff"}',
            "Thought: I can answer.\nAnswer: Ada earns 41.",
        ]
    )
    agent = ReActAgent(tools=sheet_tools(index), llm=llm, streaming=False)
    answer, called = asyncio.run(run(agent, "What does Ada earn?"))
    assert answer == "Ada earns 41."
    assert [each.tool_name for each in called] == ["find_sheets", "read_range"]
    assert "| Ada | 41 |" in llm.seen[-1]


@follows_a_script
def test_an_agent_takes_the_retriever_and_the_query_engine_as_tools(index):
    inner = ScriptedLLM(["Ada earns 41."])
    llm = ScriptedLLM([{"sheets": {"input": "staff salary"}, "answers": {"input": "salary"}}, "41"])
    tools = [
        RetrieverTool.from_defaults(SheetTokenRetriever(index, 1), name="sheets"),
        QueryEngineTool.from_defaults(engine(index, inner), name="answers", description="Asks."),
    ]
    agent = AgentWorkflow.from_tools_or_functions(tools, llm=llm)
    answer, called = asyncio.run(run(agent, "What does Ada earn?"))
    assert answer == "41"
    outputs = {each.tool_name: each.tool_output.content for each in called}
    assert "staff.csv#staff!A1:B3" in outputs["sheets"]
    assert outputs["answers"] == "Ada earns 41."
