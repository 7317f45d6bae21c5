"""Check of the texts that encoders are given."""

from __future__ import annotations

from collections.abc import Sequence

from sat_retriever.errors import InputError


def check_texts(texts: Sequence[str]) -> None:
    """Refuse anything but a list of strings.

    Raises:
        InputError: If it is a single string, or holds anything else.
    """
    if isinstance(texts, str):
        raise InputError("a single string was given; give a list of texts")
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"a text is {type(text).__name__}, not str; give a list of texts")
