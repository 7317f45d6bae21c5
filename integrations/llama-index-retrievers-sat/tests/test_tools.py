"""The agent tools as LlamaIndex function tools."""

from __future__ import annotations

import asyncio
import json

import pytest
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.calling import acall_tool, call_tool
from llama_index.retrievers.sat import sheet_tools

from sat_retriever import IndexNotFoundError, SheetTools


@pytest.fixture
def tools(index):
    return {tool.metadata.name: tool for tool in sheet_tools(index)}


def test_every_tool_of_the_library_is_there_with_its_description_and_arguments(index, tools):
    assert list(tools) == [tool.name for tool in SheetTools(index).tools()]
    assert len(tools) == 7
    for tool in SheetTools(index).tools():
        made = tools[tool.name]
        assert isinstance(made, FunctionTool)
        told = made.metadata.to_openai_tool()["function"]  # refuses a description too long
        assert (told["name"], told["description"]) == (tool.name, tool.description)
        assert set(told["parameters"]["properties"]) == set(tool.arguments.model_fields)
    read = tools["find_sheets"].metadata.get_parameters_dict()
    assert read["required"] == ["question"]
    assert read["properties"]["question"]["description"]


@pytest.mark.parametrize("call", [call_tool, acall_tool])
def test_a_call_answers_in_words_and_with_the_typed_result(tools, call, index):
    arguments = {"question": "salary of the staff", "top_k": 1}
    found = call(tools["find_sheets"], arguments)
    output = asyncio.run(found) if asyncio.iscoroutine(found) else found
    expected = SheetTools(index).find_sheets(**arguments)
    assert output.content == str(expected)
    assert output.raw_output == expected
    assert not output.is_error
    assert "staff.csv#staff!A1:B3" in output.content
    assert json.loads(output.model_dump_json())["raw_output"] == expected.to_dict()


def test_a_tool_without_arguments_is_called_without_any(tools):
    output = tools["index_status"].call()
    assert not output.is_error and "9" in output.content


def test_cells_are_read_for_an_agent(tools):
    output = tools["read_range"](sheet="staff.csv#staff", range="A1:B2")
    assert "Ada" in output.content and "Bob" not in output.content


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("describe_sheet", {"sheet": "staf.csv"}, "staff.csv"),
        ("find_sheets", {}, "question"),
        ("find_sheets", {"question": "tax", "top_k": 10_000}, "top_k"),
        ("find_sheets", {"question": "tax", "colour": "red"}, "colour"),
        ("read_range", {"sheet": "staff.csv#staff", "range": "salaries"}, "A1:D20"),
    ],
)
def test_what_goes_wrong_is_an_answer_that_says_what_to_do(tools, name, arguments, said):
    for output in (tools[name].call(**arguments), asyncio.run(tools[name].acall(**arguments))):
        assert output.is_error
        assert said in output.content
        assert output.raw_input == {"args": (), "kwargs": arguments}


def test_the_event_loop_runs_on_while_a_tool_works(tools):
    async def ticks():
        asking = asyncio.create_task(tools["read_range"].acall(sheet="staff.csv#staff"))
        count = 0
        while not asking.done():
            await asyncio.sleep(0)
            count += 1
        return count, await asking

    count, output = asyncio.run(ticks())
    assert count > 1 and "Ada" in output.content


def test_tools_of_an_index_that_is_not_there_are_refused(tmp_path):
    with pytest.raises(IndexNotFoundError):
        sheet_tools(tmp_path / "none.sat")
