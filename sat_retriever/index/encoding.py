"""Turn records into the rows of a store, each with its tokens and its words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sat_retriever.errors import InputError
from sat_retriever.index.state import IndexState
from sat_retriever.index.store.rows import SheetRow
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import Encoder, FloatArray
from sat_retriever.text.lexical import sheet_words
from sat_retriever.text.opening import contents_text
from sat_retriever.text.serialize import serialize


def encoded(records: Sequence[SheetRecord], state: IndexState) -> list[SheetRow]:
    """Return records with their tokens and words, in their order.

    Args:
        records: The records; if there are none, no encoder is loaded.
        state: The form of a record's text, and the encoder.

    Raises:
        InputError: If a record has a value that cannot be stored.
    """
    for record in records:
        _check(record)
    texts = [serialize(record, state.settings.serialization) for record in records]
    tokens: Iterable[FloatArray] = state.encoder.encode_sheets(texts) if texts else ()
    seconds = contents_tokens(records, state.encoder) if texts else []
    return [
        SheetRow(record, token, sheet_words(record), second)
        for record, token, second in zip(records, tokens, seconds, strict=True)
    ]


def contents_tokens(records: Sequence[SheetRecord], encoder: Encoder) -> list[FloatArray | None]:
    """The second token of each record, (d,) float32 of unit length; None without contents.

    Records of the same text are encoded once.

    Args:
        records: The records, with their contents.
        encoder: The encoder of the index.
    """
    texts = [contents_text(record) for record in records]
    distinct = list(dict.fromkeys(text for text in texts if text is not None))
    tokens = dict(zip(distinct, encoder.encode_sheets(distinct), strict=True)) if distinct else {}
    return [None if text is None else tokens[text] for text in texts]


def _check(record: SheetRecord) -> None:
    for key, value in record.metadata.items():
        if not isinstance(value, (str, int, float, bool)):
            raise InputError(
                f"the metadata {key!r} of {record.sheet_id!r} is a {type(value).__name__}; "
                "give a text, number or boolean"
            )
    parts = (record.sheet_id, record.sheet, record.workbook, record.path)
    try:
        "".join((*parts, *(column.name for column in record.columns))).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the record {record.sheet_id!r} has text that is not Unicode ({error.reason}); "
            "replace lone surrogates in its names"
        ) from error
