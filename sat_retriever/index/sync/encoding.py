"""Turn records into the rows of a store, each with its tokens and its words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sat_retriever.errors import InputError
from sat_retriever.index.state import IndexState
from sat_retriever.index.store.rows import SheetRow
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import sheet_words
from sat_retriever.text.serialize import Serialization, contents_text, serialize


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
    texts = [token_text(record, state.settings.serialization) for record in records]
    tokens: Iterable[FloatArray] = state.encoder.encode_sheets(texts) if texts else ()
    return [
        SheetRow(record, token, sheet_words(record))
        for record, token in zip(records, tokens, strict=True)
    ]


def token_text(record: SheetRecord, serialization: Serialization) -> str:
    """The text of a sheet's token: of names and contents, or of names where there are none.

    Args:
        record: The sheet, with its contents.
        serialization: The form of its names.
    """
    return contents_text(record) or serialize(record, serialization)


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
