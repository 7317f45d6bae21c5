"""What the server makes of tools, whatever they do: the official client, in memory."""

from __future__ import annotations

import asyncio
import logging
import threading
import time

import pytest
from mcp import Client, MCPError, types

from sat_retriever import EncoderError, InputError
from sat_retriever.system import check_wanted
from sat_retriever.tools.mcp import CALLS_AT_ONCE, CALLS_WAITING, INSTRUCTIONS, sheet_server
from tests.tools.mcp.scripted import says, scripted

MODES = ("auto", "legacy")  # today's protocol, and the handshake of earlier ones


def raising(error):
    def fail(word):
        raise error

    return fail


def asked(server, *calls, mode="auto"):
    """Results of calls (name, arguments) that are made together, in their order."""

    async def ask():
        async with Client(server, mode=mode) as client:
            return await asyncio.gather(*(client.call_tool(*call) for call in calls))

    return asyncio.run(ask())


def words(result):
    (content,) = result.content
    return content.text


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_is_listed_with_its_schema_and_reads_only(mode):
    async def listing():
        async with Client(sheet_server(scripted(says("say_it"))), mode=mode) as client:
            return client.instructions, (await client.list_tools()).tools

    instructions, (tool,) = asyncio.run(listing())
    assert instructions == INSTRUCTIONS
    assert (tool.name, tool.title, tool.description) == ("say_it", "Say it", "Says a word.")
    (word,) = tool.input_schema["properties"].items()
    kinds = [{"type": "string"}, {"type": "null"}]
    assert word == ("word", {"anyOf": kinds, "description": "Any word."})
    assert tool.input_schema["additionalProperties"] is False
    assert tool.output_schema["properties"] == {"word": {"title": "Word", "type": "string"}}
    assert tool.annotations == types.ToolAnnotations(
        title="Say it",
        read_only_hint=True,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=False,
    )


@pytest.mark.parametrize("mode", MODES)
def test_a_result_is_text_and_the_same_as_values(mode):
    (result,) = asked(sheet_server(scripted(says("say"))), ("say", {"word": "ö"}), mode=mode)
    assert not result.is_error
    assert words(result) == "said ö"
    assert result.structured_content == {"word": "ö"}


@pytest.mark.parametrize("mode", MODES)
def test_what_a_model_can_mend_is_an_error_result_with_its_words(mode):
    tool = says("say", raising(InputError("there is no sheet 'X'; did you mean 'Y'?")))
    (result,) = asked(sheet_server(scripted(tool)), ("say", {}), mode=mode)
    assert result.is_error
    assert words(result) == "there is no sheet 'X'; did you mean 'Y'?"
    assert result.structured_content is None


@pytest.mark.parametrize(
    "error",
    [
        EncoderError("/home/someone/secret/model.onnx is damaged"),
        OSError(13, "Permission denied", "/home/someone/secret"),
        ZeroDivisionError("secret"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_any_other_failure_is_told_to_the_log_alone(error, caplog):
    with caplog.at_level(logging.WARNING, logger="sat_retriever.tools.mcp"):
        server = sheet_server(scripted(says("say", raising(error))))
        (result,) = asked(server, ("say", {}))
    assert result.is_error
    assert "secret" not in result.model_dump_json()
    assert "Traceback" not in result.model_dump_json()
    assert "log" in words(result)
    assert "secret" in caplog.text


def test_an_error_with_a_long_text_is_cut():
    tool = says("say", raising(InputError("x" * 1_000_000)))
    (result,) = asked(sheet_server(scripted(tool)), ("say", {}))
    assert len(words(result)) == 2_000


def test_a_text_that_is_no_unicode_is_an_error_result_not_the_end():
    torn = says("torn", lambda word: "a\udcffb")
    fails = says("fails", raising(InputError("a\udcffb")))
    results = asked(sheet_server(scripted(torn, fails)), ("torn", {}), ("fails", {}), mode="legacy")
    assert [result.is_error for result in results] == [True, True]
    assert "log" in words(results[0])
    assert words(results[1]) == "a?b"


@pytest.mark.parametrize("mode", MODES)
def test_an_unknown_tool_is_a_protocol_error_that_names_the_known_ones(mode):
    server = sheet_server(scripted(says("say"), says("sing")))

    async def ask():
        async with Client(server, mode=mode) as client:
            with pytest.raises(MCPError) as caught:
                await client.call_tool("x" * 100_000, {})
            return caught.value

    error = asyncio.run(ask())
    assert error.code == types.INVALID_PARAMS
    assert error.message.endswith("; there are say, sing")
    assert len(error.message) < 200


def test_a_slow_call_blocks_no_other():
    free = threading.Event()

    def wait(word):
        if not free.wait(5):
            raise InputError("the quick call did not come through")

    tools = says("slow", wait), says("quick", lambda word: free.set())
    results = asked(sheet_server(scripted(*tools)), ("slow", {}), ("quick", {}))
    assert [result.is_error for result in results] == [False, False]


@pytest.mark.parametrize("mode", MODES)
def test_a_cancelled_call_ends_its_work(mode):
    begun, ended = threading.Event(), threading.Event()

    def work(word):
        begun.set()
        try:
            for _ in range(6_000):
                check_wanted()
                time.sleep(0.01)
        finally:
            ended.set()

    async def cancel():
        async with Client(sheet_server(scripted(says("work", work))), mode=mode) as client:
            call = asyncio.create_task(client.call_tool("work", {}))
            await asyncio.to_thread(begun.wait)
            call.cancel()
            return await asyncio.to_thread(ended.wait, 30)

    assert asyncio.run(cancel())


def test_of_many_calls_only_so_many_run_together_and_each_gets_its_own_answer():
    lock, running, most = threading.Lock(), [0], [0]
    together = threading.Barrier(CALLS_AT_ONCE)  # no call goes on before so many have begun
    calls = 3 * CALLS_AT_ONCE

    def count(word):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        together.wait(60)
        with lock:
            running[0] -= 1

    server = sheet_server(scripted(says("say", count)))
    results = asked(server, *(("say", {"word": str(number)}) for number in range(calls)))
    assert [words(result) for result in results] == [f"said {number}" for number in range(calls)]
    assert most[0] == CALLS_AT_ONCE


def test_calls_beyond_the_queue_are_turned_away_not_kept():
    free = threading.Event()

    def wait(word):
        if not free.wait(60):
            raise InputError("no call was turned away")

    server = sheet_server(scripted(says("wait", wait)))
    room = CALLS_AT_ONCE + CALLS_WAITING

    async def crowd():
        async with Client(server) as client:
            asked = [asyncio.ensure_future(client.call_tool("wait", {})) for _ in range(room)]
            ended: set[asyncio.Future] = set()
            while not ended:  # until all of them have arrived and one more is turned away
                await asyncio.sleep(0.05)
                asked.append(asyncio.ensure_future(client.call_tool("wait", {})))
                ended, _ = await asyncio.wait(asked, timeout=0.05)
            free.set()  # until now only a call that is turned away can have ended
            await asyncio.wait(asked)
            return [call.result() for call in ended], [call.result() for call in asked]

    refused, results = asyncio.run(crowd())
    assert all(result.is_error and "busy" in words(result) for result in refused)
    assert [result.is_error for result in results].count(False) == room


def test_one_server_serves_client_after_client():
    server = sheet_server(scripted(says("say")))
    for word in "ab":
        (result,) = asked(server, ("say", {"word": word}))
        assert words(result) == f"said {word}"
