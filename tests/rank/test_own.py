"""The reranker that an index has of its own, by what the index holds."""

import pytest

from sat_retriever import SheetIndex, SheetRecord, SheetRetriever
from sat_retriever.rank.load import own_reranker_name
from sat_retriever.records.contents import CellText, SheetContents


@pytest.mark.parametrize(
    ("contents", "name"), [(None, "general"), (SheetContents((CellText("A1", "Oslo"),)), "links")]
)
def test_an_index_with_contents_is_ranked_over_links(contents, name, tmp_path):
    with SheetIndex.create(tmp_path / "a.sat") as index:
        index.add_records([SheetRecord("a", "Fares", contents=contents)])
        assert own_reranker_name(index) == name


@pytest.mark.parametrize(("kept", "name"), [("all", "links"), ("names", "general")])
def test_with_permissions_the_setting_decides_before_anybody_asks(kept, name, tmp_path):
    """A retriever is made of the whole index, and then asked for whoever asks."""
    with SheetIndex.create(tmp_path / "a.sat", contents=kept) as index:
        index.add_records([SheetRecord("a", "Fares", contents=None)])
        index.permit(lambda _: ["sales"])
        for seen in (index, index.seen_by(["sales"]), index.seen_by(["hr"])):
            assert own_reranker_name(seen) == name
        assert SheetRetriever(index).retrieve("fares", principals=["sales"])[0].sheet_id == "a"
