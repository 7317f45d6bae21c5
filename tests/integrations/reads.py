"""Which threads open workbooks for the texts of sheets."""

import threading

import pytest

from sat_retriever.tools import content


def count_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that gets the thread of each workbook that is opened from now on."""
    read, opened = content.read_sheet, []

    def counted(*args, **options):
        opened.append(threading.get_ident())
        return read(*args, **options)

    monkeypatch.setattr(content, "read_sheet", counted)
    return opened
