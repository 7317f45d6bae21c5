"""Check that a prompt fits a model's context, and was read to its end."""

from __future__ import annotations

import re

from sat_retriever.errors import ModelSetupError

_PIECES = re.compile(
    r"""[^\W\d_]+                       # letters, which a sign before them may join
    | \d{1,3}
    | (?:[^\w\s]|_)+ (?![^\W\d_])     # signs, but for one that letters follow
    | (?<![^\w\s]) (?<![_\n]) \n+      # line breaks, but those that join a sign""",
    re.VERBOSE,
)
_TEMPLATE = 256  # generous: tokens that the server adds to a message
_ADVICE = (
    "give the model fewer sheets to read, or raise num_ctx (sat bench: --num-ctx) as far as the "
    "model was made for"
)


def fewest_tokens(text: str) -> int:
    """Return a lower bound of a text's number of tokens, for all tokenizers of language models.

    They cut a text into such pieces before they look for tokens, and no token spans two pieces.
    Names of sheets have about twice as many tokens.

    >>> fewest_tokens("[1002] Stock_Market__Stock_2025")
    11
    """
    return len(_PIECES.findall(text))


def check_before(prompt: str, num_ctx: int, num_predict: int) -> None:
    """Refuse a prompt that no tokenizer can make fit.

    Raises:
        ModelSetupError: If even the lower bound leaves no room for the answer.
    """
    fewest = fewest_tokens(prompt)
    if fewest + num_predict > num_ctx:
        raise ModelSetupError(
            f"the prompt has {fewest} tokens or more, and with {num_predict} for the answer does "
            f"not fit a context of {num_ctx}; {_ADVICE}"
        )


def checked_count(count: int | None, prompt: str, num_ctx: int, num_predict: int) -> int | None:
    """Return the tokens of a prompt; None if not reported and the prompt cannot have been cut.

    Servers since late 2025 are told to refuse a prompt that they would have to cut
    (`OllamaServer`). Older ones cut it silently and count the rest: the whole context, or less
    than the text must have. Servers before mid-2024 count only tokens outside their prompt cache,
    and omit the count if all are cached. So a missing or small count means either. It is accepted
    only if the prompt would fit even at one token per byte, which no tokenizer exceeds; otherwise
    it is an error. Servers that support answers by a schema, as needed here, are not affected:
    all of them count the whole prompt, cached or not.

    Args:
        count: Count that the server reported.
        prompt: The prompt.
        num_ctx: Size of the context, in tokens.
        num_predict: Tokens reserved for the answer.

    Raises:
        ModelSetupError: If the prompt did not fit, or may have been cut.
    """
    if count is not None and count + num_predict > num_ctx:
        raise ModelSetupError(
            f"the prompt has {count} tokens, and with {num_predict} for the answer does not fit a "
            f"context of {num_ctx}; {_ADVICE}"
        )
    fewest = fewest_tokens(prompt)
    if count is not None and count >= fewest:
        return count
    if len(prompt.encode()) + _TEMPLATE + num_predict <= num_ctx:
        return None
    raise ModelSetupError(
        f"the server counted {count or 'no'} tokens in a prompt that has {fewest} or more: it cut "
        "the prompt or does not count what it had read before; bring Ollama up to date, or "
        f"{_ADVICE}"
    )
