"""Whether a prompt fits a model's context, and was read to its end."""

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
_TEMPLATE = 256  # generous: tokens that the server writes round a message
_ADVICE = (
    "give the model fewer sheets to read, or raise num_ctx (sat bench: --num-ctx) as far as the "
    "model was made for"
)


def fewest_tokens(text: str) -> int:
    """A lower bound of a text's tokens, for all tokenizers of language models.

    They cut a text into such pieces before they look for tokens, and no token spans two.
    Names of sheets have about twice as many tokens.

    >>> fewest_tokens("[1002] Stock_Market__Stock_2025")
    11
    """
    return len(_PIECES.findall(text))


def check_before(prompt: str, num_ctx: int, num_predict: int) -> None:
    """Refuse a prompt that cannot fit by any tokenizer.

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
    """The tokens a prompt had; None where the server did not say and nothing can be missing.

    Servers since late 2025 are asked to refuse what they would have to cut (`OllamaServer`);
    this is for those before, which cut in silence and count what is left: the whole context,
    or less than the text must have. Servers before mid-2024 count only what their prompt
    cache did not hold, and leave the count out where it held everything, so a count that is
    missing or too small means either. It is let pass only where not even a token a byte,
    which no tokenizer exceeds, would be too long; otherwise it is an error and no guess.
    That stops no server that can hold an answer to a schema, which is needed here anyway:
    all of them count the whole prompt, cached or not.

    Args:
        count: What the server said.
        prompt: What it was sent.
        num_ctx: Size of the context, in tokens.
        num_predict: Tokens kept for the answer.

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
