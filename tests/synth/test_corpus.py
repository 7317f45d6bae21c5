"""A whole corpus: equal bytes for equal options, whole files or none, and labels that load."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from sat_retriever.datasets.dataset import load_industrytab
from sat_retriever.datasets.labels import load_labels
from sat_retriever.datasets.sheets import load_pairs
from sat_retriever.errors import InputError, OutputError
from sat_retriever.records.links import LinkType
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import SynthOptions, SynthReport

JSON = ("sheets.json", "query.json", "train.json", "dependency_edges.json", "corpus.json")
OPTIONS = SynthOptions("60", queries=40)
LIMITED = """
import resource, sys
from sat_retriever.errors import OutputError
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import SynthOptions
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]),) * 2)
try:
    synthesize(sys.argv[1], SynthOptions(sys.argv[2], queries=int(sys.argv[3])), workers=1)
except OutputError as error:
    sys.exit(str(error))
"""
Corpus = tuple[Path, SynthReport]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """A corpus that no test writes to, and what was told about it."""
    out = tmp_path_factory.mktemp("made") / "corpus"
    return out, synthesize(out, OPTIONS, workers=1)


@pytest.fixture
def own(corpus: Corpus, tmp_path: Path) -> Path:
    """A copy to write to."""
    return Path(shutil.copytree(corpus[0], tmp_path / "own"))


def contents(folder: Path) -> dict[str, bytes]:
    """Bytes of all files by path."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def in_a_process(script: str, *arguments: object, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(("workers", "hashes"), [(1, "1"), (2, "77")])
@pytest.mark.slow
def test_every_byte_is_the_same_for_any_number_of_workers_and_any_hash_seed(
    workers, hashes, corpus, tmp_path
):
    script = (
        "import sys; from sat_retriever.cli import main;"
        "sys.argv = ['sat', 'synth', '--scale', '60', '--queries', '40', *sys.argv[1:]]; main()"
    )
    out = tmp_path / "again"
    extra = ("--workers", workers)
    code, errors = in_a_process(
        script, "--out", out, *extra, PYTHONHASHSEED=hashes, TZ="Asia/Tokyo"
    )
    assert code == 0, errors  # a slow machine also says how far it is
    again, first = contents(out), contents(corpus[0])
    assert again.keys() == first.keys()
    assert [name for name in first if again[name] != first[name]] == []


def test_another_seed_gives_another_corpus(corpus, tmp_path):
    synthesize(tmp_path, SynthOptions("60", seed=1, queries=40), workers=1)
    first, other = contents(corpus[0]), contents(tmp_path)
    assert [name for name in JSON if first[name] == other[name]] == []
    assert len(first.keys() & other.keys()) < len(first) / 2  # files are called otherwise too


def test_the_loader_of_published_corpora_takes_all_files(corpus):
    out, report = corpus
    dataset = load_industrytab(out)
    assert len(dataset.records) == report.sheets
    assert len(dataset.queries) == 40 == sum(report.queries.values())
    assert len(dataset.links) == sum(report.links.values())
    assert {link.type for link in dataset.links} == set(LinkType) - {LinkType.SAME_WORKBOOK}
    pairs = load_pairs(out / "train.json", dataset.records)
    assert len(pairs) == report.pairs > 0


def test_what_is_reported_is_what_is_in_the_files(corpus):
    out, report = corpus
    records = load_industrytab(out).records
    counts: dict[str, int] = {}
    for record in records:
        counts[record.metadata["category"]] = counts.get(record.metadata["category"], 0) + 1
    assert counts == report.categories
    assert sum(report.conventions.values()) == report.sheets
    assert len({record.path for record in records}) == report.workbooks
    assert report.workbooks == sum(1 for _ in (out / "workbooks").rglob("*.xlsx"))
    manifest = json.loads((out / "corpus.json").read_text())
    assert manifest["complete"] is True
    assert manifest["sheets"] == report.sheets
    assert "seconds" not in manifest  # it would differ from run to run


def test_sheets_are_numbered_from_0_and_each_is_in_its_workbook(corpus):
    out, _ = corpus
    records = load_industrytab(out).records
    assert [record.sheet_id for record in records] == [str(n) for n in range(len(records))]
    for record in records:
        assert f'name="{record.sheet}"' in workbook_xml(out, record.path).replace("&amp;", "&")


def test_so_many_visible_sheets_are_made_as_were_asked_for(corpus):
    out, report = corpus
    sheets = [
        tag
        for file in (out / "workbooks").rglob("*.xlsx")
        for tag in re.findall(
            r"<sheet [^>]*>", workbook_xml(out, file.relative_to(out / "workbooks"))
        )
    ]
    assert sum("hidden" not in tag for tag in sheets) == 60
    assert report.hidden == len(sheets) - 60 > 0
    assert len(sheets) == len(load_industrytab(out).records)


def workbook_xml(out: Path, path: str | Path) -> str:
    with zipfile.ZipFile(out / "workbooks" / path) as package:
        return package.read("xl/workbook.xml").decode()


def test_no_cell_value_gets_into_the_json_files(corpus):
    sheets = json.loads((corpus[0] / "sheets.json").read_text(encoding="utf-8"))
    assert {key for sheet in sheets.values() for each in sheet["columns"] for key in each} == {
        "name"
    }


def test_positives_and_negatives_are_apart_and_each_hard_negative_has_a_type(corpus):
    dataset = load_industrytab(corpus[0])
    for query in dataset.queries:
        assert not set(query.positives) & {*query.negatives, *query.hard_negatives}
        assert set(query.hard_negative_types) == set(query.hard_negatives)


def test_positives_of_a_formula_query_are_what_formulas_of_the_sheets_refer_to(corpus):
    dataset = load_industrytab(corpus[0])
    links = [link for link in dataset.links if link.type == LinkType.FORMULA_REFERENCE]
    ends = {end for link in links for end in (link.source, link.target)}
    traced = [q for q in dataset.queries if q.query_type == "formula_tracing"]
    assert traced
    for query in traced:
        assert set(query.positives) <= ends, query.text
        assert any(link.target in query.positives for link in links), query.text


def test_without_a_number_there_are_as_many_queries_a_sheet_as_published(tmp_path):
    report = synthesize(tmp_path, SynthOptions("30"), workers=1)
    assert sum(report.queries.values()) == round(1.8 * report.sheets)


def test_only_the_years_asked_for_are_made(tmp_path):
    synthesize(tmp_path, SynthOptions("60", years="2024-2025", queries=30), workers=1)
    said = " ".join(query.text for query in load_industrytab(tmp_path).queries)
    assert set(re.findall(r"\b(?:19|20)\d\d\b", said)) == {"2024", "2025"}


def test_progress_goes_up_to_all_sheets(tmp_path):
    told: list[tuple[str, int, int]] = []
    options = SynthOptions("60", queries=0)
    synthesize(tmp_path, options, workers=1, progress=lambda *args: told.append(args))
    done = [number for what, number, _ in told if what == "sheets"]
    assert done == sorted(done)
    assert done[-1] == 60  # hidden ones are not counted, as a scale does not
    assert {total for what, _, total in told if what == "sheets"} == {60}


def test_a_folder_with_other_things_is_refused_and_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("Dear Ada")
    for force in (False, True):
        with pytest.raises(InputError, match="is not empty and holds no corpus"):
            synthesize(tmp_path, OPTIONS, force=force)
    assert contents(tmp_path) == {"letter.txt": b"Dear Ada"}


@pytest.mark.parametrize("text", ["{", "[]", '{"name": "another program"}'])
def test_a_manifest_of_another_program_is_refused_and_left_alone(text, tmp_path):
    (tmp_path / "corpus.json").write_text(text)
    (tmp_path / "workbooks").mkdir()
    (tmp_path / "workbooks" / "mine.xlsx").write_bytes(b"precious")
    with pytest.raises(InputError, match=r"corpus\.json was not written by sat synth"):
        synthesize(tmp_path, OPTIONS, force=True)
    assert contents(tmp_path) == {
        "corpus.json": text.encode(),
        "workbooks/mine.xlsx": b"precious",
    }


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    file = tmp_path / "corpus"
    file.write_text("x")
    with pytest.raises(InputError, match="is a file; name a folder"):
        synthesize(file, OPTIONS)
    with pytest.raises(OutputError, match="cannot be written"):
        synthesize(file / "below", OPTIONS)


def test_a_complete_corpus_is_replaced_only_by_force(own, corpus):
    before = contents(own)
    with pytest.raises(InputError, match="already holds a corpus"):
        synthesize(own, OPTIONS)
    assert contents(own) == before
    (own / "workbooks" / "old.xlsx").write_bytes(b"of another corpus")
    synthesize(own, OPTIONS, workers=1, force=True)
    assert contents(own) == contents(corpus[0])


@pytest.mark.parametrize(
    "options",
    [
        SynthOptions("nonsense"),
        SynthOptions("60", years="soon"),
        SynthOptions("60", companies=0),
        SynthOptions("60", queries=-1),
        SynthOptions("60", language="../de"),
        SynthOptions("60", vocabulary=Path(__file__).parent),
        SynthOptions("60", language="de", translator="model without a folder"),
        SynthOptions("60", language="fr"),  # nothing is known of it
        SynthOptions("60", translator="model without a language"),
        SynthOptions("60", translations=Path()),
    ],
)
def test_wrong_options_are_refused_before_anything_is_removed(options, own):
    before = contents(own)
    with pytest.raises(InputError):
        synthesize(own, options, workers=1, force=True)
    assert contents(own) == before


def test_an_interrupted_run_leaves_no_json_and_starts_again_without_force(corpus, tmp_path):
    def interrupt(_what: str, done: int, _total: int) -> None:
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        synthesize(tmp_path, OPTIONS, workers=1, progress=interrupt)
    assert {path.name for path in tmp_path.iterdir()} == {"corpus.json", "workbooks"}
    assert json.loads((tmp_path / "corpus.json").read_text())["complete"] is False
    (tmp_path / "workbooks" / "stale.xlsx").write_bytes(b"")
    (tmp_path / ".query.json.0a1b2c3d.partial").write_bytes(b"[")  # of a run that was killed
    synthesize(tmp_path, OPTIONS, workers=1)
    assert contents(tmp_path) == contents(corpus[0])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # left open
def test_an_interrupt_while_the_files_are_opened_leaves_no_draft(tmp_path):
    seen = []

    def interrupt(frame, event, _argument):
        name = frame.f_code.co_filename, frame.f_code.co_name
        if event == "line" and name[0].endswith("corpusfiles.py") and list(tmp_path.glob(".*")):
            seen.append(name[1])
            raise KeyboardInterrupt
        return interrupt

    before = sys.gettrace()
    sys.settrace(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            synthesize(tmp_path, OPTIONS, workers=1)
    finally:
        sys.settrace(before)
    assert seen == ["__init__"]  # one draft was there, and nobody to remove it yet
    assert {path.name for path in tmp_path.iterdir()} == {"corpus.json", "workbooks"}


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX's")
@pytest.mark.parametrize(
    ("scale", "queries", "size", "named"),
    [
        ("30", 0, 3_000, r"workbooks/.+\.xlsx"),
        ("150", 0, 50_000, r"sheets\.json"),
        ("40", 300, 60_000, r"query\.json"),
    ],
)
def test_a_full_disk_is_an_error_that_names_the_file_and_leaves_none_half_written(
    scale, queries, size, named, tmp_path
):
    code, error = in_a_process(LIMITED, tmp_path / "out", scale, queries, size)
    assert code == 1
    assert re.fullmatch(rf".*/{named} cannot be written: .+; choose another place\n", error)
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert not [name for name in left if re.fullmatch(named, name)]
    assert left <= {*JSON, "workbooks"}  # no draft
    for name in left - {"workbooks"}:
        content = json.loads((tmp_path / "out" / name).read_text(encoding="utf-8"))
        assert name != "corpus.json" or content["complete"] is False


def test_a_corpus_is_asked_about_its_contents_where_that_is_wanted(corpus, tmp_path):
    shares = "value=.2,note=.2,label=.1,unanswerable=.1"
    report = synthesize(tmp_path / "own", replace(OPTIONS, asks=shares), workers=1)
    assert {kind: report.queries[kind] for kind in ("value", "note", "label", "unanswerable")} == {
        "value": 8,
        "note": 8,
        "label": 4,
        "unanswerable": 4,
    }
    assert sum(report.queries.values()) == 40
    assert report.sheets - report.hidden > corpus[1].sheets - corpus[1].hidden  # documentation
    asked = load_labels(tmp_path / "own" / "query.json", unanswerable=True)
    assert len(asked) == 40
    assert len(load_industrytab(tmp_path / "own").queries) == 36
    manifest = json.loads((tmp_path / "own" / "corpus.json").read_text())
    assert manifest["options"]["asks"] == shares


def test_the_paper_s_scales_are_not_asked_about_contents(tmp_path):
    with pytest.raises(InputError, match="cuts its sheets as the paper does"):
        synthesize(tmp_path / "own", SynthOptions("paper-614", asks=".5"))
    assert not (tmp_path / "own").exists()


def test_workbooks_are_kept_in_versions_that_are_asked_for(tmp_path):
    options = replace(OPTIONS, asks="copy=.2", histories=12)
    report = synthesize(tmp_path / "own", options, workers=1)
    assert report.categories["Histories"] > 12
    assert report.queries["copy"] == 8
    corpus = load_industrytab(tmp_path / "own")
    paths = {record.sheet_id: record.path for record in corpus.records}
    assert len(paths) == report.sheets
    for path in paths.values():
        assert (tmp_path / "own" / "workbooks" / path).is_file()
    asked = [query for query in corpus.queries if query.query_type == "copy"]
    positives = {paths[sheet] for query in asked for sheet in query.positives}
    assert all(path.startswith("histories/") for path in positives)
