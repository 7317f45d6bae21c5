"""The sheet tools in LangChain's hands, and an agent that uses them."""

import asyncio
import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_sat import create_sheet_tools
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests
from pydantic import PrivateAttr

from sat_retriever import IndexNotFoundError, SheetIndex
from tests.fakes import HeldEncoder

JANUARY = "2024/Sales.xlsx#January"
CALLS: dict[str, dict[str, Any]] = {
    "find_sheets": {"question": "revenue in January", "top_k": 3},
    "describe_sheet": {"sheet": JANUARY},
    "read_range": {"sheet": JANUARY, "range": "A1:B3"},
    "related_sheets": {"sheet": "2024/Sales.xlsx#Summary"},
    "index_status": {},
    "search_cells": {"text": "North"},
    "query_tables": {"sheets": [JANUARY], "sql": "SELECT sum(revenue) AS total FROM january"},
}


class Given:
    """One tool of the suite's class, as LangChain's standard tests want it."""

    name: str

    @pytest.fixture(autouse=True)
    def given(self, index: SheetIndex) -> None:
        self.tools = {tool.name: tool for tool in create_sheet_tools(index)}

    @property
    def tool_constructor(self) -> BaseTool:
        return self.tools[self.name]

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return dict(CALLS[self.name])


class TestFindSheetsUnit(Given, ToolsUnitTests):
    name = "find_sheets"


class TestFindSheets(Given, ToolsIntegrationTests):
    name = "find_sheets"


class TestDescribeSheetUnit(Given, ToolsUnitTests):
    name = "describe_sheet"


class TestDescribeSheet(Given, ToolsIntegrationTests):
    name = "describe_sheet"


class TestReadRangeUnit(Given, ToolsUnitTests):
    name = "read_range"


class TestReadRange(Given, ToolsIntegrationTests):
    name = "read_range"


class TestRelatedSheetsUnit(Given, ToolsUnitTests):
    name = "related_sheets"


class TestRelatedSheets(Given, ToolsIntegrationTests):
    name = "related_sheets"


class TestIndexStatusUnit(Given, ToolsUnitTests):
    name = "index_status"


class TestIndexStatus(Given, ToolsIntegrationTests):
    name = "index_status"


class TestSearchCellsUnit(Given, ToolsUnitTests):
    name = "search_cells"


class TestSearchCells(Given, ToolsIntegrationTests):
    name = "search_cells"


class TestQueryTablesUnit(Given, ToolsUnitTests):
    name = "query_tables"


class TestQueryTables(Given, ToolsIntegrationTests):
    name = "query_tables"


class ScriptedModel(BaseChatModel):
    """Calls what the script says, one message a turn, and notes what it is shown.

    Entries of the script are calls, (name, arguments), or the final answer.
    """

    script: list[list[tuple[str, dict[str, Any]]] | str]
    _offered: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools, **options: Any):
        self._offered.extend(convert_to_openai_tool(tool)["function"] for tool in tools)
        return self

    def _generate(self, messages: list[BaseMessage], stop=None, run_manager=None, **options: Any):
        turn = self.script[sum(isinstance(message, AIMessage) for message in messages)]
        if isinstance(turn, str):
            said = AIMessage(turn)
        else:
            calls = [
                {"name": name, "args": args, "id": f"{name}-{n}"}
                for n, (name, args) in enumerate(turn)
            ]
            said = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=said)])


async def test_async_calls_do_not_run_on_the_event_loop(tmp_path):
    encoder = HeldEncoder()
    with SheetIndex.create(tmp_path / "a.sat", encoder) as own:
        [find] = [tool for tool in create_sheet_tools(own) if tool.name == "find_sheets"]
        assert "The index is empty" in await encoder.beside(find.ainvoke({"question": "revenue"}))


@pytest.fixture
def tools(index: SheetIndex) -> dict[str, BaseTool]:
    return {tool.name: tool for tool in create_sheet_tools(index)}


def called(tool: BaseTool, **arguments: Any) -> ToolMessage:
    return tool.invoke({"name": tool.name, "args": arguments, "id": "1", "type": "tool_call"})


def test_there_are_the_same_tools_as_everywhere(tools):
    assert list(tools) == list(CALLS)
    for tool in tools.values():
        schema = convert_to_openai_tool(tool)["function"]
        assert len(schema["description"]) > 20
        for argument in schema["parameters"]["properties"].values():
            assert argument["description"]


@pytest.mark.parametrize("name", CALLS)
def test_content_is_text_and_the_artifact_plain_json(tools, name):
    message = called(tools[name], **CALLS[name])
    assert message.status == "success"
    assert isinstance(message.content, str)
    assert message.content
    assert json.loads(json.dumps(message.artifact)) == message.artifact


def test_found_and_read_sheets_carry_citations(tools):
    found = called(tools["find_sheets"], **CALLS["find_sheets"])
    assert found.artifact["sheets"][0]["citation"] == f"{JANUARY}!A1:B3"
    cells = called(tools["read_range"], sheet=JANUARY)
    assert cells.artifact["citation"] == f"{JANUARY}!A1:B3"
    assert cells.artifact["rows"][1] == ["North", 100]
    assert "North" in cells.content


async def test_async_calls_give_the_same_however_many_there_are_at_once(tools):
    tool = tools["find_sheets"]
    questions = [f"revenue salary {n}" for n in range(9)]
    calls = [
        {"name": tool.name, "args": {"question": each}, "id": str(n), "type": "tool_call"}
        for n, each in enumerate(questions)
    ]
    serial = [tool.invoke(dict(call)) for call in calls]
    assert await asyncio.gather(*(tool.ainvoke(dict(call)) for call in calls * 4)) == serial * 4


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("read_range", {"sheet": "2024/Sales.xlsx#Januar"}, JANUARY),
        ("read_range", {"sheet": JANUARY, "range": "not a range"}, "A1"),
        ("find_sheets", {"question": " "}, "empty"),
        ("find_sheets", {"question": "x", "top_k": "many"}, "top_k"),
        ("find_sheets", {}, "question: Field required"),
        ("related_sheets", {"sheet": JANUARY, "link_type": "friend"}, "join_key"),
        ("describe_sheet", {"sheet": JANUARY, "colour": "red"}, "colour"),
    ],
)
async def test_what_is_wrong_is_told_to_the_model(tools, name, arguments, words):
    message = called(tools[name], **arguments)
    assert message.status == "error"
    assert words in message.content
    call = {"name": name, "args": arguments, "id": "1", "type": "tool_call"}
    assert await tools[name].ainvoke(call) == message


def test_other_errors_are_no_tool_errors(index, tmp_path):
    with pytest.raises(IndexNotFoundError):
        create_sheet_tools(tmp_path / "nowhere.sat")
    tool = create_sheet_tools(index)[0]
    tool.handle_tool_error = False
    with pytest.raises(ToolException, match="empty"):
        tool.invoke({"question": ""})


def agent_of(index: SheetIndex, *script: Any):
    model = ScriptedModel(script=list(script))
    return model, create_agent(model, create_sheet_tools(index))


def test_an_agent_finds_reads_and_answers(index):
    model, agent = agent_of(
        index,
        [("find_sheets", {"question": "revenue in January by region"})],
        [("describe_sheet", {"sheet": JANUARY}), ("read_range", {"sheet": JANUARY})],
        "North made 100.",
    )
    messages = agent.invoke({"messages": [HumanMessage("What did North make in January?")]})
    answers = [message for message in messages["messages"] if isinstance(message, ToolMessage)]
    assert [answer.name for answer in answers] == ["find_sheets", "describe_sheet", "read_range"]
    assert {answer.status for answer in answers} == {"success"}
    assert answers[0].artifact["sheets"][0]["sheet"] == JANUARY
    assert ["North", 100] in answers[2].artifact["rows"]
    assert messages["messages"][-1].content == "North made 100."
    assert {offer["name"] for offer in model._offered} == set(CALLS)


async def test_an_agent_reads_an_error_and_goes_on(index):
    _model, agent = agent_of(
        index,
        [("describe_sheet", {"sheet": "Sales.xlsx#Januar"}), ("find_sheets", {"top_k": 0})],
        [("describe_sheet", {"sheet": JANUARY})],
        "Region and Revenue.",
    )
    answered = await agent.ainvoke({"messages": [HumanMessage("Which columns are there?")]})
    statuses = [m.status for m in answered["messages"] if isinstance(m, ToolMessage)]
    assert statuses == ["error", "error", "success"]
    assert answered["messages"][-1].content == "Region and Revenue."
