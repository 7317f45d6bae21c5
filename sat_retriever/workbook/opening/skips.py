"""Messages that a file or sheet, or a part of it, was not read."""

from __future__ import annotations

from typing import Any

from sat_retriever.records.jsonform import to_json
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.workbook.limits import MIB, Limits
from sat_retriever.workbook.process.request import Request


def skip(
    request: Request, reason: SkipReason, message: str, sheet: str | None = None
) -> dict[str, Any]:
    """The message about a sheet, or about the whole file."""
    return {"skipped": to_json(Skipped(request.relative, reason, message, sheet))}


def why_cut(reason: SkipReason, limits: Limits) -> str:
    """Which bound ended a scan of XML, as the second half of a sentence.

    >>> why_cut(SkipReason.TOO_LARGE, Limits())
    'the limit is 1,024 MiB of XML a workbook'
    """
    if reason is SkipReason.TIMEOUT:
        return f"its {limits.seconds:g} seconds of processor time were used up"
    return f"the limit is {limits.xml_bytes // MIB:,} MiB of XML a workbook"
