"""The message that a file or sheet, or a part of it, was not read."""

from __future__ import annotations

from typing import Any

from sat_retriever.jsonform import to_json
from sat_retriever.types import Skipped, SkipReason
from sat_retriever.workbook.request import Request


def skip(
    request: Request, reason: SkipReason, message: str, sheet: str | None = None
) -> dict[str, Any]:
    """The message about a sheet, or about the whole file."""
    return {"skipped": to_json(Skipped(request.relative, reason, message, sheet))}
