"""Files of every format that was written can be opened, and give the answers that they gave."""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path

import pytest

from sat_retriever import SheetEncoder, SheetIndex
from sat_retriever.index.store.schema import MIGRATIONS
from tests.index.formats.answers import RERANKERS, answers

FOLDERS = sorted((Path(__file__).parent / "formats").glob("schema-*"))


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def kept(request, tmp_path) -> Path:
    """A copy of the files of one format, with its index unpacked."""
    folder = shutil.copytree(request.param, tmp_path / "kept")
    packed = (folder / "index.sat.xz").read_bytes()
    (folder / "reports.sat").write_bytes(lzma.decompress(packed))
    return folder


@pytest.mark.parametrize("reranker", RERANKERS)
def test_an_index_of_every_format_opens_and_gives_the_answers_that_it_gave(kept, reranker):
    before = json.loads((kept / "answers.json").read_text(encoding="utf-8"))[reranker]
    with SheetIndex.open(kept / "reports.sat", kept / "encoder") as index:
        assert len(index) == 6
        now = answers(index, kept, reranker)
    for question, hits in before.items():
        for hit, again in zip(hits, now[question], strict=True):
            assert again.pop("score") == pytest.approx(hit.pop("score"), abs=2e-3)
            assert again == hit


def test_an_index_of_every_format_can_be_written_to(kept, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "Rates.csv").write_text("Currency,Rate\nEUR,1.08\n", encoding="utf-8")
    with SheetIndex.open(kept / "reports.sat", kept / "encoder") as index:
        index.sync([tmp_path / "new"])
        assert len(index) == 7
    with SheetIndex.open(kept / "reports.sat", kept / "encoder") as index:
        assert "Rates.csv#Rates" in index.sheet_ids()


def test_a_model_folder_of_every_format_is_loaded(kept):
    encoder = SheetEncoder.load(kept / "encoder")
    config = json.loads((kept / "encoder" / "config.json").read_text(encoding="utf-8"))
    assert encoder.fingerprint == config["fingerprint"]
    assert encoder.encode_queries(["sales"]).shape == (1, encoder.width)


def test_the_present_format_is_among_them():
    assert f"schema-{len(MIGRATIONS)}" in [folder.name for folder in FOLDERS], (
        "the schema has changed: run python .ci/format_fixture.py"
    )
