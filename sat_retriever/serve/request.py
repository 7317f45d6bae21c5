"""Parameters of a request's query string, checked, and errors as a status with a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sat_retriever.records.area import MAX_COLUMN, MAX_ROW, split_ref

MAX_TEXT = 4_000  # characters of a question, a name, an id
MAX_CELLS = 10  # cells that are marked
_NUMBER = re.compile(r"[0-9]{1,8}")


class PageError(Exception):
    """A request that is answered by a sentence.

    Args:
        status: Status of the answer.
        message: What is wrong, and what to do.
        names: Names that may have been meant: sheet ids.
    """

    def __init__(self, status: int, message: str, names: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.names = names


def text_of(given: Mapping[str, str], name: str) -> str:
    """Return a parameter without blanks around it; "" if it is not given.

    Raises:
        PageError: If it is too long, or has characters that are not text.
    """
    text = given.get(name, "").strip()
    if len(text) > MAX_TEXT:
        raise PageError(400, f"The parameter {name} has more than {MAX_TEXT:,} characters.")
    if "\0" in text:
        raise PageError(400, f"The parameter {name} has characters that are not text.")
    return text


def number_of(given: Mapping[str, str], name: str, least: int, most: int, default: int) -> int:
    """Return a parameter as a whole number.

    Raises:
        PageError: If it is none, or out of its range.
    """
    text = text_of(given, name)
    if not text:
        return default
    number = int(text) if text.isascii() and _NUMBER.fullmatch(text) else -1
    if not least <= number <= most:
        raise PageError(400, f"The {name} must be a whole number from {least:,} to {most:,}.")
    return number


def row_of(given: Mapping[str, str], default: int) -> int:
    """Return the parameter `row`.

    Raises:
        PageError: If it is no row of a sheet.
    """
    return number_of(given, "row", 1, MAX_ROW, default)


def column_of(given: Mapping[str, str], default: int) -> int:
    """Return the parameter `column`, a number.

    Raises:
        PageError: If it is no column of a sheet.
    """
    return number_of(given, "column", 1, MAX_COLUMN, default)


def cells_of(given: Mapping[str, str]) -> tuple[str, ...]:
    """Return the addresses of cells in the parameter `cells`; what is none is left out.

    >>> cells_of({"cells": "B7,x,AA1"})
    ('B7', 'AA1')
    """
    found = text_of(given, "cells").upper().split(",")
    return tuple(each for each in found if split_ref(each))[:MAX_CELLS]
