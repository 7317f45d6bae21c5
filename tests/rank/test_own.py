"""The reranker that an index has of its own, by what the index holds."""

import pytest

from sat_retriever import SheetIndex, SheetRecord
from sat_retriever.rank.load import own_reranker_name
from sat_retriever.records.contents import CellText, SheetContents


@pytest.mark.parametrize(
    ("contents", "name"), [(None, "general"), (SheetContents((CellText("A1", "Oslo"),)), "links")]
)
def test_an_index_with_contents_is_ranked_over_links(contents, name, tmp_path):
    with SheetIndex.create(tmp_path / "a.sat") as index:
        index.add_records([SheetRecord("a", "Fares", contents=contents)])
        assert own_reranker_name(index) == name
