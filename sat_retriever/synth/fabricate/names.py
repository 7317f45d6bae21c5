"""Make paths of source and target workbooks, in the style of the original path."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Literal

Side = Literal["source", "target"]

_SEPARATORS = "_- ."


def side_path(path: str, side: Side) -> str:
    """Append "source" or "target" to the name of a path's file, in the style of the name.

    >>> side_path("Sales/Sales_2024_Q3.xlsx", "source"), side_path("a/sales-2024.xlsx", "target")
    ('Sales/Sales_2024_Q3_source.xlsx', 'a/sales-2024-target.xlsx')
    >>> side_path("Net Sales 2024.xlsx", "target"), side_path("NetSales2024.xlsx", "source")
    ('Net Sales 2024 Target.xlsx', 'NetSales2024Source.xlsx')
    """
    file = PurePosixPath(path)
    return str(file.with_name(f"{file.stem}{_ending(file.stem, side)}{file.suffix}"))


def _ending(stem: str, side: Side) -> str:
    # The most frequent separator; max keeps the first of equals.
    separator = max(_SEPARATORS, key=stem.count)
    if separator not in stem:
        separator = "" if _is_title(stem) else "_"
    if stem.isupper():
        return separator + side.upper()
    if separator == "_" or not _is_title(stem):
        return separator + side  # "_source", "_target" are the published endings
    return separator + side.capitalize()


def _is_title(stem: str) -> bool:
    return stem[:1].isupper() and not stem.isupper()
