"""Agent tools, SQL, commands and adapters over a sheet that lives in a bucket."""

import json

import pytest

from sat_retriever import InputError, SheetTools
from sat_retriever.tools.naming import named_sheet, one_sheet
from tests.builders import indexed
from tests.fakes import HashedEncoder

CSV = b"Region,Sales\nNorth,1\nSouth,2\n"


@pytest.fixture
def index(bucket, tmp_path):
    bucket.put("in/2024/a.csv", CSV)
    with indexed(f"{bucket.url}/in", tmp_path / "a.sat") as opened:
        yield opened


def test_a_citation_is_a_url_and_names_the_sheet_again(bucket, index):
    tools = SheetTools(index)
    cited = f"{bucket.url}/in/2024/a.csv#a!A1:B3"
    [found] = tools.find_sheets("region and sales").sheets
    assert (found.sheet, found.citation) == ("2024/a.csv#a", cited)
    assert tools.describe_sheet("2024/a.csv#a").citation == cited
    cells = tools.read_range(cited)
    assert cells.rows == (("Region", "Sales"), ("North", 1), ("South", 2))
    assert cells.citation == cited
    [cell] = tools.search_cells("South", sheets=["2024/a.csv#a"]).cells
    assert cell.citation == f"{bucket.url}/in/2024/a.csv#a!A3"
    for name in (cited, f"{bucket.url}/in/2024/a.csv#a", f"{bucket.url}/in/2024/a.csv"):
        assert named_sheet(index, name)[0].sheet_id == one_sheet(index, name) == "2024/a.csv#a"


def test_cells_are_those_of_now_and_downloaded_once(bucket, index):
    tools = SheetTools(index)
    bucket.downloaded()
    for _ in range(3):
        tools.read_range("2024/a.csv#a", "B2")
    assert bucket.downloaded() == len(CSV)
    bucket.put("in/2024/a.csv", CSV.replace(b"1", b"7"))
    assert tools.read_range("2024/a.csv#a", "B2").rows == ((7,),)
    bucket.delete("in/2024/a.csv")
    with pytest.raises(InputError, match="is gone; index its folder again"):
        tools.read_range("2024/a.csv#a", "B2")


def test_sql_over_a_remote_table_cites_the_url(bucket, index):
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    tools = SheetTools(index)
    found = tools.query_tables(["2024/a.csv#a"], "SELECT sum(sales) AS total FROM a")
    assert found.rows == ((3,),)
    assert found.citations == (f"{bucket.url}/in/2024/a.csv#a!A1:B3",)


def test_a_table_that_cannot_be_had_is_told_without_a_traceback(bucket, index):
    body = b"<Error><Code>AccessDenied</Code></Error>"
    bucket.server.spoil = lambda *_: ("403 Forbidden", body)
    with pytest.raises(InputError, match="access is denied"):
        index.table("2024/a.csv#a")


def test_adapters_take_urls_and_keep_them(bucket, tmp_path):
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from langchain_sat import SheetTokenRetriever

    bucket.put("in/a.csv", CSV)
    retriever = SheetTokenRetriever.from_paths(
        f"{bucket.url}/in", tmp_path / "b.sat", encoder=HashedEncoder(), k=1
    )
    [document] = retriever.invoke("region")
    assert document.metadata["url"] == f"{bucket.url}/in/a.csv"
    assert document.metadata["citation"] == f"{bucket.url}/in/a.csv#a!A1:B3"
    assert "North" in document.page_content
    json.dumps(document.metadata)
    retriever.index.close()


def test_llama_index_takes_urls_and_keeps_them(bucket, tmp_path):
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    from llama_index.retrievers.sat import SheetTokenRetriever

    bucket.put("in/a.csv", CSV)
    retriever = SheetTokenRetriever.from_paths(
        [f"{bucket.url}/in"], tmp_path / "b.sat", encoder=HashedEncoder(), similarity_top_k=1
    )
    [found] = retriever.retrieve("region")
    assert found.metadata["url"] == f"{bucket.url}/in/a.csv"
    assert found.metadata["citation"] == f"{bucket.url}/in/a.csv#a!A1:B3"
