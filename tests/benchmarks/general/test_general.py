"""The script of the general model, end to end, on a small stand-in for Spider."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from itertools import combinations

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")

from benchmarks.general import corpora as general_corpora
from benchmarks.general import general, lessons
from benchmarks.general import parts as general_parts
from benchmarks.general import ship as shipping
from benchmarks.general.corpora import PAPERS, SIZES, Wanted
from benchmarks.general.domains import DomainOptions, domain_corpus
from benchmarks.results import read_summaries
from sat_retriever.datasets.dataset import load_spider
from sat_retriever.datasets.splits import held_out_workbooks
from sat_retriever.datasets.tables import is_held_out
from sat_retriever.encoder import SheetEncoder
from sat_retriever.encoder.models import folder as model_folders
from sat_retriever.encoder.source import find_checkpoint
from sat_retriever.text.period.periods import period_of
from tests.tiny_transformer import save_tiny

pytestmark = pytest.mark.slow

SUBJECTS = ("farm", "school", "museum", "airport", "theatre", "library", "hospital", "harbour")
TABLES = ("visitors", "rooms", "employees")
JUDGED = ("one", "two")  # sources of real lists to choose with
SETTINGS = (
    "trained_layers=null", "epochs=1", "max_length=24", 'precision="fp32"',
)  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Databases of three tables, with a question a table, in the layout of Spider."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "spider").mkdir()
    places = [(subject, table) for subject in SUBJECTS for table in TABLES]
    sheets = {
        str(number): {
            "sheet_id": number,
            "workbook": subject,
            "sheet": table,
            "name": f"{subject}__{table}",
            "num_rows": None,
            "num_cols": 3,
            "columns": [{"name": f"{subject}_id"}, {"name": "name"}, {"name": f"{table} count"}],
            "source": "spider",
        }
        for number, (subject, table) in enumerate(places)
    }
    links = [
        {"source": number, "target": number + 1, "type": "join_key"}
        for number in range(0, len(places), len(TABLES))
    ]
    asked = {
        "query_train": "How many {table} has the {subject}?",
        "query_train_synonym": "Count the {table} of this {subject}",
        "query_dev": "Never read {table} {subject}",
    }
    for name, text in asked.items():
        rows = [
            {
                "query": text.format(table=table, subject=subject),
                "positive_sheet_ids": [number],
                "workbook": subject,
            }
            for number, (subject, table) in enumerate(places)
        ]
        (folder / "spider" / f"{name}.json").write_text(json.dumps(rows))
    for name, content in (("sheets", sheets), ("links", links)):
        (folder / "spider" / f"{name}.json").write_text(json.dumps(content))
    _tables(folder / "contents", lessons.TABLES)
    for source, role in {**dict.fromkeys(JUDGED, "validation"), "three": "train"}.items():
        _tables(folder / lessons.REAL / source, source)
        told = {"role": role, "excluded": []}
        (folder / lessons.REAL / source / "meta.json").write_text(json.dumps(told))
    return folder


def _tables(folder, name):
    """Tables of both parts of a training part, with a question a table."""
    folder.mkdir(parents=True)
    tables = [
        {
            "id": f"t{number}", "workbook": f"Visitors of the {subject}", "sheet": "By year",
            "headers": ["Year", "Visitors", "Guide"],
            "rows": [["2019", str(100 + number), f"Guide {number}"], ["2020", "7", "Nobody"]],
        }
        for number, subject in enumerate(SUBJECTS * 3)
    ]  # fmt: skip
    asked = [
        {"query": f"Which year had Guide {number}?", "positives": [table["id"]]}
        for number, table in enumerate(tables)
    ]
    held_out = sum(is_held_out(table["id"]) for table in tables)
    assert 2 <= held_out <= len(tables) - 2
    for kind, rows in (("tables", tables), ("questions", asked)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}_{kind}.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def made(data, tmp_path_factory):
    """What one whole run leaves behind, with the arguments that it was given."""
    folder = tmp_path_factory.mktemp("made")
    tiny = save_tiny(folder / "tiny", layers=1, dropout=0.0)
    changes = [f"backbone={json.dumps(str(tiny))}", *SETTINGS]
    arguments = ["--data", str(data), "--runs", str(folder / "runs"), "--size", "tiny"]
    arguments += [part for change in changes for part in ("--set", change)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(model_folders, "FOLDER", folder / "models")
        patched.setattr(general, "FOLDER", folder / "models")
        patched.setattr("benchmarks.results.FOLDER", folder / "committed")
        (folder / "models").mkdir()
        general.main([*arguments, "--ship"])
    return folder, arguments


def test_the_encoder_is_shipped_and_can_be_learnt_from(made, monkeypatch):
    folder, _ = made
    monkeypatch.setattr(model_folders, "FOLDER", folder / "models")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    encoder = SheetEncoder.load("general")
    assert encoder.spec.precision == "compact"
    assert encoder.dense_weight is not None
    assert find_checkpoint("general").spec.width == encoder.width


def test_the_card_names_every_corpus_with_what_was_measured_on_it(made):
    text = (made[0] / "models/general/README.md").read_text(encoding="utf-8")
    judged = ("spider_train", "templates-100", "templates-101", "domains-100")
    for corpus in judged:
        for title in general_parts.SYSTEMS.values():
            assert f"| {corpus} | {title} | " in text
    assert "templates-50" not in text  # for the reranker alone
    taught = (
        "templates-0", "domains-0", "domains-0_varied", f"{lessons.TABLES}_train_contents",
        lessons.REAL, f"{lessons.REAL}_contents",
    )  # fmt: skip
    for corpus in (*taught, *(f"{each}_untitled" for each in JUDGED)):
        assert f"| {corpus} | " in text
        assert f"| {corpus} | {general_parts.SYSTEMS['stage1']}" not in text
    assert "max_length 24" in text


def test_the_same_command_takes_what_is_there(made, monkeypatch):
    folder, arguments = made
    run = folder / "runs/general.tiny.42/encoder"
    before = (run / "metrics.jsonl").read_bytes()
    monkeypatch.setattr(
        general_corpora, "synthesize", lambda *_: pytest.fail("the corpus was made again")
    )
    general.main(arguments)
    assert (run / "metrics.jsonl").read_bytes() == before


def test_a_trial_is_never_among_the_committed_results(made):
    found = read_summaries("general", made[0] / "runs" / "results")
    assert {each["dataset"] for each in found.values()} >= {"templates-100", "domains-100"}
    assert not (made[0] / "committed").exists()


def test_what_is_apart_is_never_shipped():
    with pytest.raises(SystemExit, match="never shipped"):
        general.main(["--apart", "--ship"])


def test_models_too_large_for_the_repository_are_not_shipped(tmp_path, monkeypatch):
    monkeypatch.setattr(shipping, "MOST_BYTES", 10)
    (tmp_path / "package").mkdir()
    (tmp_path / "package/model.onnx").write_bytes(b"12345678901")
    with pytest.raises(SystemExit, match="the most is"):
        shipping.ship(tmp_path / "package", tmp_path / "general")
    assert not (tmp_path / "general").exists()


def test_validation_has_conventions_companies_and_databases_that_training_has_not(data, tmp_path):
    wanted = Wanted(SIZES["tiny"])
    found = {part.name: part for part in general_corpora.parts(wanted, data, tmp_path)}
    assert set(wanted.conventions).isdisjoint(wanted.unseen)
    companies = {
        name: set(json.loads((tmp_path / f"{name}.words/lists.json").read_text())["companies"])
        for name in ("templates-0", "templates-50", "templates-100", "templates-101")
    }
    # Stage 2 learns from companies that Stage 1 has not seen, and neither from those that judge.
    assert all(not one & other for one, other in combinations(companies.values(), 2))
    held_out = held_out_workbooks(found["spider_train"].dataset.queries)
    subjects = {
        name: {record.sheet.lower() for record in found[name].dataset.records}
        for name in ("domains-0", "domains-100")
    }
    assert subjects["domains-0"]
    for name, inside in (("domains-0", False), ("domains-100", True)):
        headers = {
            column.name.removesuffix("_id")
            for record in found[name].dataset.records
            for column in record.columns
            if column.name.endswith("_id")
        }
        assert headers
        assert (headers <= held_out) is inside
        assert headers.isdisjoint(held_out) is not inside


def test_apart_there_are_no_templates_and_no_naming_convention_of_the_paper(data, tmp_path):
    wanted = Wanted(SIZES["tiny"], apart=True)
    names = [part.name for part in general_corpora.parts(wanted, data, tmp_path)]
    assert names == ["spider_train", "domains-0", "domains-100", "domains-50"]
    assert PAPERS.isdisjoint(wanted.conventions)
    assert set(replace(wanted, apart=False).conventions) >= PAPERS


def test_a_made_corpus_of_open_tables_is_repeatable_and_its_labels_are_complete(data):
    tables = load_spider(data / "spider", "train")
    options = DomainOptions(
        "d", ("Ashgrove Mining", "Birchmoor Foods"), ("plain_english", "iso_dates"),
        (2020, 2024), 80, seed=3,
    )  # fmt: skip
    corpus = domain_corpus(tables, options)
    assert corpus == domain_corpus(tables, options)
    assert corpus != domain_corpus(tables, replace(options, seed=4))
    records = {record.sheet_id: record for record in corpus.records}
    whole = [
        query
        for query in corpus.queries
        if query.query_type == "semantic_lookup"
        and "2022" in query.text
        and "Ashgrove Mining" in query.text
        and not any(word in query.text.lower() for word in ("quarter", "q1", "q2", "q3", "q4"))
    ]
    assert whole  # the labels of each must hold every sheet of company, year and subject
    for query in whole:
        first = records[query.positives[0]]
        same = {
            record.sheet_id
            for record in corpus.records
            if record.columns == first.columns
            and ("ashgrove" in record.path.lower()) == ("ashgrove" in first.path.lower())
            and (period := period_of(record)) is not None
            and (found := period_of(first)) is not None
            and (period.year, period.part) == (found.year, found.part)
        }
        assert same <= set(query.positives)
