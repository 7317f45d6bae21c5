"""The real client over real HTTP, against a server that answers or misbehaves as told."""

import time

import pytest

from sat_retriever import InputError
from sat_retriever.errors import ModelSetupError
from sat_retriever.evaluation.llm import LanguageModel, LanguageModelSettings
from sat_retriever.evaluation.llm.prompt import fewest_tokens, prompt_of
from tests.modelserver import MODEL, Reaction, always, count, ollama, one_by_one, says

LABELS = [str(n) for n in range(1, 9)]
PROMPT = prompt_of("sales of 2024", LABELS, [f"Sales_{n}" for n in LABELS])
GOOD = says("8", "3", "1", "2", "5")
FIVE = ("8", "3", "1", "2", "5")
LONG = prompt_of("q", LABELS, ["word " * 2000] * 8)  # 16,000 tokens, 80,000 bytes


def ask(behaviour, prompt=PROMPT, settings=None, timeout_s=30.0, **options):
    """The answer, and what the server saw."""
    with ollama(behaviour, **options) as server:
        model = LanguageModel(settings, server.host, timeout_s=timeout_s)
        return model.choose(prompt, LABELS), server


def refused(*arguments, **options):
    with pytest.raises(ModelSetupError) as caught:
        ask(*arguments, **options)
    return str(caught.value)


def test_a_question_is_asked_exactly_as_the_paper_says():
    answer, server = ask(always(GOOD))
    assert server.chats == [
        {
            "model": "qwen3.5:9b",
            "messages": [{"role": "user", "content": PROMPT}],
            "format": {
                "type": "array",
                "items": {"type": "string", "enum": LABELS},
                "minItems": 5,
                "maxItems": 5,
                "uniqueItems": True,
            },
            "options": {"num_ctx": 32768, "num_predict": 128, "temperature": 0.0, "seed": 42},
            "keep_alive": "10m",
            "think": False,
            "stream": False,
            "tools": [],
            "truncate": False,  # what does not fit is refused and not cut
            "shift": False,
        }
    ]
    assert answer.ids == FIVE
    assert (answer.tries, answer.short, answer.failed) == (1, False, False)
    assert answer.digest == f"sha of {MODEL}"
    assert answer.prompt_tokens == count(PROMPT)
    assert answer.seconds > 0


def test_the_model_is_looked_up_once_for_all_questions():
    with ollama(always(GOOD)) as server:
        model = LanguageModel(url=server.host)
        assert server.paths == []
        model.choose(PROMPT, LABELS)
        model.choose(PROMPT, LABELS)
        assert server.paths == ["/api/tags", "/api/show", "/api/chat", "/api/chat"]
        assert model.facts.quantization == "Q4_K_M"
        assert model.facts.digest == f"sha of {MODEL}"


@pytest.mark.parametrize(
    "bad",
    [
        Reaction(status=500, error="llama runner process has terminated"),
        Reaction(status=503, error="server busy"),
        Reaction(content='["8", "3"', reason="length"),
        Reaction(content="Sure! 8, 3, 1"),
        Reaction(content='{"ids": ["8"]}'),
        Reaction(body="<html>"),
        Reaction(body='["no object"]'),
        Reaction(body='{"message": 3}'),
        Reaction(content=GOOD.content, cut=True),
        says("99", "100"),
        says(),
    ],
    ids=str,
)
def test_a_failed_try_is_made_again_warmer_and_with_the_next_seed(bad):
    answer, server = ask(one_by_one(bad, bad, GOOD))
    assert [(c["options"]["temperature"], c["options"]["seed"]) for c in server.chats] == [
        (0.0, 42),
        (0.2, 43),
        (0.2, 44),
    ]
    assert (answer.ids, answer.tries, answer.failed, answer.problem) == (FIVE, 3, False, "")
    assert len({str(chat["messages"]) for chat in server.chats}) == 1


def test_three_failed_tries_are_a_failed_answer_that_says_why():
    answer, server = ask(always(Reaction(status=500, error="out of memory")))
    assert len(server.chats) == 3
    assert (answer.ids, answer.tries, answer.short, answer.failed) == ((), 3, False, True)
    assert "500" in answer.problem
    assert "out of memory" in answer.problem


def test_the_words_of_a_bad_answer_are_in_no_message():
    answer, _ = ask(always(Reaction(content="the salaries of Ann")))
    assert answer.failed
    assert "Ann" not in answer.problem


def test_a_slow_server_fails_in_time():
    start = time.monotonic()
    answer, _ = ask(always(says(*FIVE, wait_s=30)), timeout_s=0.2)
    assert answer.failed
    assert "0.2 s" in answer.problem
    assert time.monotonic() - start < 30  # it did not wait for the server


def test_unknown_and_repeated_labels_are_dropped_and_a_short_answer_is_not_asked_again():
    content = '["8", "77", "8", "3", 5, ["1"], "[2]"]'
    answer, server = ask(always(Reaction(content=content)))
    assert answer.ids == ("8", "3")
    assert (answer.short, answer.tries, len(server.chats)) == (True, 1, 1)


def test_more_than_five_labels_are_cut_to_five():
    answer, _ = ask(always(says(*LABELS)))
    assert answer.ids == tuple(LABELS[:5])
    assert not answer.short


def test_without_a_server_the_message_says_how_to_start_one():
    with ollama(always(GOOD)) as server:
        pass  # its port is free again
    with pytest.raises(ModelSetupError, match="ollama serve"):
        LanguageModel(url=server.host).choose(PROMPT, LABELS)


def test_without_the_model_the_message_says_how_to_fetch_it():
    assert f"ollama pull {MODEL}" in refused(always(GOOD), models=("other:1b",))


@pytest.mark.parametrize(
    ("headers", "pauses"),
    [({}, [1.0, 1.0]), ({"Retry-After": "7"}, [7.0, 7.0]), ({"Retry-After": "3600"}, [])],
)
def test_a_busy_server_is_asked_again_after_a_pause_and_never_for_long(
    headers, pauses, monkeypatch
):
    waited = []
    monkeypatch.setattr("sat_retriever.evaluation.llm.asking.time.sleep", waited.append)
    answer, server = ask(always(Reaction(status=503, error="Loading model", headers=headers)))
    assert (answer.failed, waited, len(server.chats)) == (True, pauses, len(pauses) + 1)


def test_a_request_that_is_refused_for_good_is_not_repeated():
    with ollama(always(Reaction(status=400, error="does not support thinking"))) as server:
        with pytest.raises(ModelSetupError, match=r"400.*thinking"):
            LanguageModel(url=server.host).choose(PROMPT, LABELS)
        assert len(server.chats) == 1


def test_a_model_made_for_a_smaller_context_is_asked_with_its_own():
    with ollama(always(GOOD), context_length=8192) as server:
        model = LanguageModel(url=server.host)
        assert model.choose(PROMPT, LABELS).ids == FIVE
        assert server.chats[0]["options"]["num_ctx"] == model.num_ctx == 8192
        with pytest.raises(ModelSetupError, match="does not fit a context of 8192"):
            model.choose(LONG, LABELS)
        assert len(server.chats) == 1


def test_a_prompt_that_cannot_fit_is_refused_before_it_is_sent():
    with ollama(always(GOOD)) as server:
        model = LanguageModel(LanguageModelSettings(num_ctx=16100), server.host)
        with pytest.raises(ModelSetupError, match="does not fit a context of 16100"):
            model.choose(LONG, LABELS)
        assert server.paths == []


def test_a_count_that_leaves_no_room_for_the_answer_is_an_error():
    settings = LanguageModelSettings(num_ctx=32768)
    assert "does not fit" in refused(always(says(*FIVE, tokens=32768 - 127)), LONG, settings)
    answer, _ = ask(always(says(*FIVE, tokens=32768 - 128)), LONG, settings)
    assert answer.prompt_tokens == 32640


@pytest.mark.parametrize("tokens", [None, 0, 7, fewest_tokens(LONG) - 1])
def test_a_count_too_small_for_a_prompt_that_may_have_been_cut_is_an_error(tokens):
    assert "bring it up to date" in refused(always(says(*FIVE, tokens=tokens)), LONG)


@pytest.mark.parametrize("tokens", [None, 0, 7])
def test_a_count_that_is_left_out_is_let_pass_where_nothing_can_have_been_cut(tokens):
    answer, _ = ask(always(says(*FIVE, tokens=tokens)))
    assert answer.ids == FIVE
    assert answer.prompt_tokens is None


@pytest.mark.parametrize(
    "said",
    [
        "the prompt is longer than the context length currently available to the model",
        "the input length exceeds the context length",
        '{"error":{"code":400,"type":"exceed_context_size_error","n_prompt_tokens":64010}}',
    ],
)
def test_a_server_that_refuses_a_long_prompt_ends_the_run(said):
    assert "raise num_ctx" in refused(always(Reaction(status=400, error=said)))


def test_a_server_that_does_not_tell_the_models_context_is_still_held_to_its_count():
    answer, _ = ask(always(GOOD), context_length=None)
    assert answer.ids == FIVE
    assert "does not fit" in refused(always(says(*FIVE, tokens=40000)), context_length=None)


def test_a_model_that_vanishes_between_tries_ends_the_question():
    first, gone = Reaction(status=500, error="x"), Reaction(status=404, error="model not found")
    assert "ollama pull" in refused(one_by_one(first, gone))


@pytest.mark.parametrize(
    "settings", [{"model": " "}, {"num_ctx": 0}, {"tries": 0}, {"temperature": -1}]
)
def test_settings_that_cannot_work_are_refused_when_made(settings):
    with pytest.raises(InputError):
        LanguageModelSettings(**settings)
