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


@pytest.mark.parametrize(("kept", "name"), [("names", "general"), ("all", "links")])
def test_a_retriever_of_an_index_with_permissions_is_made_before_anybody_asks(kept, name, tmp_path):
    records = [
        SheetRecord(each, each, contents=SheetContents((CellText("A1", "Oslo"),)))
        for each in ("Fares", "Salaries")
    ]
    with SheetIndex.create(tmp_path / "a.sat", contents=kept) as index:
        index.add_records(records)
        index.permit(lambda record: ["hr"] if record.sheet == "Salaries" else ["*"])
        assert own_reranker_name(index) == own_reranker_name(index.seen_by(["hr"])) == name
        retriever = SheetRetriever(index)
        found = {group: retriever.retrieve("salaries", principals=[group]) for group in ("hr", "x")}
    assert next(iter(found["hr"])).sheet_id == "Salaries"
    assert [hit.sheet_id for hit in found["x"]] == ["Fares"]
