"""What a model on a server does: its protocol, its replies, and JSON found in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sat_retriever.errors import InputError, LanguageModelError

KINDS = ("ollama", "openai")  # forms of servers: the word before the colon in a model's name
PREFIXES = tuple(f"{kind}:" for kind in KINDS)
LONGEST_PAUSE_S = 60.0  # that a server may ask for before a request is repeated

_JSON_TYPES: Mapping[str, type] = {"object": dict, "array": list}
REASONING, REASONED = "<think>", "</think>"
_BRACKETS = {"object": ("{", "}"), "array": ("[", "]")}


def whole(text: str) -> str:
    r"""Return a text without halves of characters, which nobody can send.

    >>> whole("\ud83d\ude00 and \ud83d") == "\U0001f600 and \ufffd"
    True
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Joined:
    r"""The text of a reply in pieces, which servers may cut within a character.

    >>> text = Joined()
    >>> [text.add("a\ud83d"), text.add("\ude00b")] == ["a", "\U0001f600b"]
    True
    """

    def __init__(self) -> None:
        self._half = ""

    def add(self, piece: str, *, last: bool = False) -> str:
        """Return the text up to the last whole character; all of it after the last piece."""
        text = self._half + piece
        cut = not last and "\ud800" <= text[-1:] <= "\udbff"
        self._half = text[-1:] if cut else ""
        return whole(text[:-1] if cut else text)


@dataclass(frozen=True, slots=True)
class Options:
    """Options of one request.

    Attributes:
        num_ctx: Context in tokens. Ollama loads the model with it and refuses a longer prompt; a
            server of the OpenAI form has its own.
        max_tokens: Most tokens of the reply.
        temperature: 0 gives the likeliest reply, which is the same for equal seeds.
    """

    num_ctx: int = 8192
    max_tokens: int = 2048
    temperature: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(num_ctx=self.num_ctx, max_tokens=self.max_tokens)
        if self.temperature < 0:
            raise InputError(f"temperature must be 0 or more, not {self.temperature}")


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply to one prompt, or a piece of it, without its reasoning.

    Attributes:
        ended: True if the reply is complete; False if it was cut at its longest allowed length, or
            if more pieces follow.
        prompt_tokens: Tokens of the prompt as the server counted them; None if not reported.
        tokens: Tokens of the whole reply as the server counted them; None if not reported.
    """

    text: str
    ended: bool
    prompt_tokens: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Embeddings:
    """An embedding model's vectors of some texts.

    Attributes:
        tokens: Tokens of the texts as the server counted them; None if not reported.
    """

    vectors: Sequence[Sequence[float]]
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts that a server reports about one of its models.

    Attributes:
        context_length: Longest context in tokens: the one that the model was made for, or the
            smaller one that its server keeps; None if not reported.
        quantization: For example "Q4_K_M"; empty if not reported.
        digest: Digest of the model's files; empty if not reported.
    """

    context_length: int | None = None
    quantization: str = ""
    digest: str = ""


class ServedModel(Protocol):
    """A model on a server; nothing is sent before the first call, and threads may share it.

    All methods raise `ModelSetupError` if a second try would not help: no server, no such model, a
    wrong key, a refused request. They raise `LanguageModelError` if it might: a slow or failing
    server, a lost connection, a reply of another form. A request that a busy or failing server
    refuses, or whose connection is lost, is repeated before.
    """

    kind: str
    model: str
    host: str

    def reply(self, prompt: str, schema: Mapping[str, Any], options: Options) -> Reply:
        """Return the reply to one message, in the form of a JSON schema if the server can do it.

        Raises:
            ModelContextError: If the prompt is longer than the context.
        """
        ...

    def stream(self, system: str, user: str, options: Options) -> Iterator[Reply]:
        """Yield the pieces of a reply in words; the last one has the counts and tells the end."""
        ...

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors of texts; of one that is too long, a server may read the beginning.

        Raises:
            ModelContextError: If a text is longer than the context, and the server did not cut it.
        """
        ...

    def facts(self) -> ModelFacts:
        """Return the facts about the model; if it is not there, the error lists those that are."""
        ...


def split_name(name: str) -> tuple[str, str]:
    """Return the form of server and the model of a name; a bare name is one of Ollama's.

    >>> split_name("openai:gpt-4o-mini"), split_name("qwen3:8b")
    (('openai', 'gpt-4o-mini'), ('ollama', 'qwen3:8b'))

    Raises:
        InputError: If there is no model in it.
    """
    kind, _, model = name.strip().partition(":") if name.startswith(PREFIXES) else ("", "", name)
    if not model.strip():
        raise InputError(
            f"the model's name is empty in {name!r}; name one, such as ollama:qwen3:8b or "
            "openai:gpt-4o-mini"
        )
    return kind or "ollama", model.strip()


def check_positive(**numbers: float) -> None:
    """Refuse numbers that are not above 0."""
    for name, value in numbers.items():
        if value <= 0:
            raise InputError(f"{name} must be above 0, not {value}")


def without_reasoning(text: str) -> str:
    r"""Return a reply without a model's reasoning at its beginning.

    Some servers leave out the mark that begins it, as it is the end of their prompt.

    >>> without_reasoning("<think>\nHm.\n</think>\nFive."), without_reasoning("Hm.</think>Five.")
    ('Five.', 'Five.')
    """
    said = text.rpartition(REASONED)[2].strip()
    return "" if said.startswith(REASONING) else said


def found_json(text: str, kind: str = "") -> Any:
    r"""Return the JSON value of a reply: all of it, or the part between words of a model.

    Args:
        text: The reply.
        kind: "object" or "array" to look for one; else the reply has to be the value.

    >>> found_json('<think>{?}</think>Here it is:\n```json\n{"a": [1]}\n```', "object")
    {'a': [1]}

    Raises:
        ValueError: If there is none.
        RecursionError: If it is nested too deeply.
    """
    said = without_reasoning(text)
    try:
        return json.loads(said)
    except ValueError:
        first, last = _BRACKETS.get(kind, ("\0", "\0"))
        return json.loads(said[max(said.find(first), 0) : said.rfind(last) + 1])


def parsed(text: str, schema: Mapping[str, Any], model: str) -> Any:
    """Return a reply's JSON value, with its top level checked against the schema.

    >>> parsed('["b", "a"]', {"type": "array"}, "a model")
    ['b', 'a']

    Raises:
        LanguageModelError: If it is not JSON, or of another form.
    """
    wanted = str(schema.get("type", ""))
    if not text.strip():
        raise LanguageModelError(f"{model} gave an empty answer; try a larger model")
    try:
        answer = found_json(text, wanted)
    except (ValueError, RecursionError) as error:
        raise LanguageModelError(
            f"{model} answered no JSON: {text[:80]!r}; try a larger model"
        ) from error
    types = _JSON_TYPES.get(wanted)
    if types is not None and not isinstance(answer, types):
        raise LanguageModelError(f"{model} answered {answer!r:.80} where {wanted} was asked")
    if isinstance(answer, dict):
        missing = [name for name in schema.get("required", ()) if name not in answer]
        if missing:
            raise LanguageModelError(f"{model}'s answer lacks {', '.join(missing)}")
    return answer
