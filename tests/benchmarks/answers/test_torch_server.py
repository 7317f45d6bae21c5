"""A tiny model behind the server: batches and kept beginnings change no answer."""

import copy
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import DynamicCache, PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from benchmarks.answers.torch_layers import Int8Linear, attend_by_blocks
from benchmarks.answers.torch_model import TorchModel
from benchmarks.answers.torch_server import server_of
from sat_retriever.errors import LanguageModelError, ModelSetupError
from sat_retriever.llm.openai import OpenAIModel
from sat_retriever.llm.served import Options

_TEMPLATE = "{% for each in messages %}{{ each['content'] }}{% endfor %}"
_END = 256
_START = "the same beginning of every question; " * 20  # long enough to be kept
QUESTIONS = ["a", "bb " * 40, _START + "one", _START + "two", "c" * 7]


def _tokenizer():
    """Every byte is a token."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = {letter: number for number, letter in enumerate(letters)} | {"<end>": _END}
    found = Tokenizer(models.BPE(tokens, []))
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=found, eos_token="<end>", chat_template=_TEMPLATE
    )


@pytest.fixture(scope="module")
def tokenizer():
    return _tokenizer()


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(5)
    config = Qwen2Config(
        vocab_size=257, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=2048,
        eos_token_id=_END, pad_token_id=_END, bos_token_id=_END, initializer_range=0.4,
    )  # fmt: skip
    return Qwen2ForCausalLM(config).eval()


@pytest.fixture(scope="module")
def client(model, tokenizer):
    with server_of(TorchModel(model, tokenizer, 1024, 4), "tiny", "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield OpenAIModel("tiny", f"http://127.0.0.1:{server.server_port}/v1", pauses_s=())
        server.shutdown()


def _replied(client, question, **options):
    """The reply to a question, and its tokens."""
    pieces = list(client.stream("", question, Options(**{"max_tokens": 24} | options)))
    return "".join(each.text for each in pieces), pieces[-1]


def _generated(model, tokenizer, question):
    """What transformers itself generates."""
    prompt = tokenizer(question, return_tensors="pt").input_ids
    found = model.generate(prompt, max_new_tokens=24, do_sample=False)[0, prompt.shape[1] :]
    return tokenizer.decode(found, skip_special_tokens=True), prompt.shape[1]


def test_questions_of_one_batch_get_the_replies_that_they_get_alone(client, model, tokenizer):
    with ThreadPoolExecutor(len(QUESTIONS)) as pool:  # more than the server has slots
        together = list(pool.map(lambda each: _replied(client, each), QUESTIONS))
    for question, (text, end) in zip(QUESTIONS, together, strict=True):
        assert (text, end.prompt_tokens) == _generated(model, tokenizer, question)
    assert len({text for text, _ in together}) == len(QUESTIONS)


def test_a_longer_prompt_whose_reply_ends_at_once_leaves_the_others_theirs(model, tokenizer):
    with server_of(TorchModel(model, tokenizer, 1024, 3), "tiny", "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        batching = OpenAIModel("tiny", f"http://127.0.0.1:{server.server_port}/v1", pauses_s=())
        others = QUESTIONS[0], QUESTIONS[4]
        with ThreadPoolExecutor(3) as pool:  # one batch
            short = [pool.submit(_replied, batching, each) for each in others]
            _replied(batching, QUESTIONS[1], max_tokens=1)
            for each, found in zip(others, short, strict=True):
                assert found.result()[0] == _generated(model, tokenizer, each)[0]
        server.shutdown()


def test_a_reply_is_cut_at_its_longest_length(client):
    text, end = _replied(client, QUESTIONS[1], max_tokens=3)
    assert (end.tokens, end.ended) == (3, False)
    assert text


def test_a_temperature_draws_replies_and_equal_seeds_draw_equal_ones(client):
    drawn = [_replied(client, "a", temperature=1.5, seed=seed)[0] for seed in (1, 2, 1)]
    assert drawn[0] == drawn[2] != drawn[1]


def test_a_schema_is_kept_to(client):
    pytest.importorskip("llguidance", reason="`llm-server --torch` fetches it")
    schema = {"type": "array", "items": {"enum": ["12", "7"]}, "minItems": 2, "maxItems": 2}
    reply = client.reply("a", schema, Options(max_tokens=50))
    assert reply.text.replace(" ", "") in {f'["{a}","{b}"]' for a in (12, 7) for b in (12, 7)}
    assert reply.ended


def test_a_prompt_beyond_the_context_is_refused_in_words(client):
    with pytest.raises(ModelSetupError, match="context"):
        _replied(client, "x" * 2000)


def test_the_client_reads_the_context_and_names_other_models(client):
    assert client.facts().context_length == 1024
    with pytest.raises(ModelSetupError, match="tiny"):
        OpenAIModel("other", client.host, pauses_s=()).facts()


def test_a_failing_model_fails_its_questions_and_goes_on(client, model, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(model, "forward", lambda *_, **__: 1 / 0)
        with pytest.raises(LanguageModelError, match="division"):
            _replied(client, "a")
    assert _replied(client, "a")[0]


def test_a_question_that_fails_beside_one_that_ends_fails_alone(model, tokenizer):
    served, first_is_read = TorchModel(model, tokenizer, 1024, 2), threading.Event()
    read, says = served._read, served._says

    def read_when_both_are_there(question):
        first_is_read.set()
        while not served._waiting.qsize() + len(served._open):
            time.sleep(0.01)
        return read(question)

    def says_or_fails(question, logits):
        if question.max_tokens > 2 and question.reply:
            raise ArithmeticError("no such token")
        return says(question, logits)

    served._read, served._says = read_when_both_are_there, says_or_fails
    with server_of(served, "tiny", "127.0.0.1", 0) as server, ThreadPoolExecutor(2) as pool:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        client = OpenAIModel("tiny", url, pauses_s=(), timeout_s=20)
        ends = pool.submit(_replied, client, "a", max_tokens=2)
        assert first_is_read.wait(20)
        fails = pool.submit(_replied, client, "c" * 7, max_tokens=9)
        assert ends.result()[1].tokens == 2
        with pytest.raises(LanguageModelError, match="no such token"):
            fails.result()
        served._read, served._says = read, says
        assert _replied(client, "a")[0] == _generated(model, tokenizer, "a")[0]
        server.shutdown()


def test_a_question_that_cannot_join_the_batch_fails_and_the_next_is_answered(
    client, model, tokenizer, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr("benchmarks.answers.torch_model._joined", lambda *_: 1 / 0)
        with pytest.raises(LanguageModelError, match="division"):
            _replied(OpenAIModel("tiny", client.host, pauses_s=(), timeout_s=20), "a")
    assert _replied(client, "a")[0] == _generated(model, tokenizer, "a")[0]


def test_a_layer_of_8_bits_computes_what_the_layer_did_and_moves_no_other_token():
    torch.manual_seed(7)
    layer = torch.nn.Linear(64, 48)
    given = torch.randn(2, 20, 64)
    given[0, 3] *= 1000  # one loud token
    with torch.inference_mode():
        wanted, found = layer(given), Int8Linear(layer)(given)
    assert found.shape == wanted.shape
    sizes = wanted.norm(dim=-1)
    assert bool(((found - wanted).norm(dim=-1) < 0.02 * sizes).all())
    assert not torch.equal(found, wanted)


def test_attention_by_blocks_gives_what_the_librarys_does(model):
    blocks = copy.deepcopy(model)
    attend_by_blocks(blocks)
    prompt = torch.randint(256, (1, 300))  # two blocks and a part of one
    with torch.inference_mode():
        for given in (prompt, prompt[:, :50], prompt.view(2, 150)):  # long, short, two together
            caches = DynamicCache(), DynamicCache()
            for part in (given, given[:, :1], given[:, :200]):  # then a token more, and some more
                wanted, found = (
                    each(part, cache=cache).logits
                    for each, cache in zip((model, blocks), caches, strict=True)
                )
                assert torch.allclose(wanted, found, atol=1e-4)
    assert blocks.config._attn_implementation != model.config._attn_implementation


def test_a_question_whose_client_has_left_is_answered_no_further(model, tokenizer):
    served, read = TorchModel(model, tokenizer, 100_000, 1), []
    served._end = -1  # no reply ends by itself
    inner = served._read
    served._read = lambda question: (read.append(question), inner(question))[1]
    with server_of(served, "tiny", "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = OpenAIModel("tiny", f"http://127.0.0.1:{server.server_port}/v1", pauses_s=())
        body = json.dumps({"messages": [{"role": "user", "content": "b"}], "max_tokens": 90_000})
        with socket.create_connection(("127.0.0.1", server.server_port)) as left:
            head = f"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
            left.sendall((head + body).encode())
            while not read:
                time.sleep(0.01)
        _replied(client, "after it", max_tokens=2)  # the one slot is free
        server.shutdown()
    assert read[0].gone and len(read[0].reply) < 90_000
