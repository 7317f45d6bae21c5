"""Hashes of what users see: equal for equal work, and of the section that changed."""

import json

import pytest

from benchmarks.results import read_results, write_result
from benchmarks.safety import golden
from sat_retriever import Hit

ONLY = ("eps/records", "eps/hits/links")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    made = tmp_path_factory.mktemp("data")
    (made / "eps").mkdir()
    for name in ("sales 2023", "sales 2024", "staff"):
        (made / "eps" / f"{name}.csv").write_text("Region,Amount\nNorth,1\nSouth,2\n")
    rows = [{"query": "sales by region in 2024"}, {"query": "staff"}]
    (made / "eps" / "query.json").write_text(json.dumps(rows))
    return made


def hashed(data, folder, *options):
    """The hashed texts of a run, by section."""
    keep = folder / "keep"
    places = ("--data", str(data), "--work", str(folder / "work"), "--keep", str(keep))
    golden.main([*places, "--only", *ONLY, *options])
    return {name: (keep / f"{name}.txt").read_text().splitlines() for name in ONLY}


@pytest.fixture(scope="module")
def before(data, tmp_path_factory):
    """Results of the unchanged corpus."""
    folder = tmp_path_factory.mktemp("before")
    texts = hashed(data, folder, "--workers", "1")
    assert texts["eps/records"][0].startswith('{"sheet_id": "sales 2023.csv#sales 2023"')
    found = {
        "eps/records": (golden.hashed(texts["eps/records"]), len(texts["eps/records"])),
        "eps/hits/links": (golden.hashed(texts["eps/hits/links"]), 13),
    }
    write_result("golden", golden.result_of(found), folder=folder)
    [content] = read_results("golden", folder)
    assert [row["section"] for row in content["per_query"]] == list(ONLY)
    return folder


@pytest.mark.slow
def test_the_same_corpus_in_another_folder_has_the_same_hashes(data, before, tmp_path, capsys):
    # With two workers the last digit of a cosine depends on which workbook is encoded first.
    hashed(data, tmp_path, "--workers", "1", "--against", str(before))
    assert "all 2 sections are the same" in capsys.readouterr().out


@pytest.mark.slow
def test_another_reason_changes_the_hits_alone(data, before, tmp_path, monkeypatch):
    said = Hit.to_dict
    other = {"words": ["other"]}
    monkeypatch.setattr(
        Hit, "to_dict", lambda hit: {**said(hit), "why": {**said(hit)["why"], **other}}
    )
    with pytest.raises(SystemExit) as stopped:
        hashed(data, tmp_path, "--against", str(before))
    assert stopped.value.code == "1 sections differ: eps/hits/links"  # a text: exit code 1


@pytest.mark.slow
def test_another_record_is_named(before, data, tmp_path):
    changed = tmp_path / "data" / "eps"
    changed.mkdir(parents=True)
    for file in (data / "eps").iterdir():
        (changed / file.name).write_text(file.read_text().replace("North", "West"))
    with pytest.raises(SystemExit) as stopped:
        hashed(changed.parent, tmp_path, "--against", str(before))
    assert "eps/records" in stopped.value.code


def test_a_section_that_is_missing_on_one_side_differs():
    one, other = {"a/b": ("1", 1), "a/c": ("2", 1)}, {"a/b": ("1", 1)}
    assert golden.differing(one, other, ()) == golden.differing(other, one, ()) == ["a/c"]
    assert golden.differing(one, other, ("a/b",)) == []


def test_a_folder_without_a_result_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="has no result of this command"):
        golden.earlier(tmp_path)
