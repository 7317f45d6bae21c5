"""The prompts that embedding models were trained with, where a server does not add them."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prompts:
    """Texts before every query and before every sheet text.

    Attributes:
        query: Prefix of a query.
        sheet: Prefix of a sheet text.
    """

    query: str = ""
    sheet: str = ""


_PASSAGES = "Represent this sentence for searching relevant passages: "
_QWEN = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
# From the model cards; the first pattern that is found in a name counts. Another prompt for a
# model is another fingerprint of its indexes.
_KNOWN = (
    (r"nomic-embed-text", Prompts("search_query: ", "search_document: ")),
    (r"bge-(?:(?:small|base|large)-en|large(?::|$))|mxbai-embed-large", Prompts(_PASSAGES)),
    (r"snowflake-arctic-embed(?:2|-[lm]-v2)", Prompts("query: ")),
    (r"snowflake-arctic-embed", Prompts(_PASSAGES)),
    (r"e5-(?:small|base|large)(?!.*instruct)", Prompts("query: ", "passage: ")),
    (r"qwen3-embedding", Prompts(_QWEN)),
    (r"embeddinggemma", Prompts("task: search result | query: ", "title: none | text: ")),
)


def prompts_of(model: str) -> Prompts:
    """Return the prompts in a model's card; none for a model that needs or is known to have none.

    >>> prompts_of("nomic-embed-text:latest").query, prompts_of("bge-m3").query
    ('search_query: ', '')

    Args:
        model: Name of the model, with or without its publisher and its tag.
    """
    found = (prompts for pattern, prompts in _KNOWN if re.search(pattern, model, re.IGNORECASE))
    return next(found, Prompts())
