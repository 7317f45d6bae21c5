"""`sat adapt --stage reranker`: a reranker for an encoder whose weights are not here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from sat_retriever import SheetIndex, SheetRetriever
from tests.cli.conftest import Run
from tests.cli.test_adapt import SMALL, stopping, tokens_of
from tests.cli.test_train import ran, run_here
from tests.modelserver import Reaction, always, ollama
from tests.train.adapt.corpus import write_books

OPTIONS = (*SMALL[:4], *SMALL[-4:])


@dataclass(frozen=True)
class Trained:
    """What two adaptations left behind, the first one stopped in between.

    Attributes:
        file: The index.
        command: The adaptation.
        before: Fingerprint, tokens and weight of the cosine before it.
        stopped: The stopped start.
        ended: The one that came to its end.
        asked: All texts that the server was given meanwhile.
    """

    file: Path
    command: tuple[object, ...]
    before: tuple[object, ...]
    stopped: Run
    ended: Run
    asked: tuple[str, ...]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """An index whose encoder knows no word, and that goes by it alone: a reranker has to help."""
    for module in ("torch", "transformers", "accelerate", "onnxscript"):
        pytest.importorskip(module, reason="pip install '.[train]'")
    folder = tmp_path_factory.mktemp("reranker")
    books = write_books(folder / "books")
    file = folder / "blind.sat"
    blind = [1.0] * 16
    with (
        ollama(
            always(Reaction()),
            models=("small:latest",),
            vectors=lambda texts: [blind for _ in texts],
        ) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("OLLAMA_HOST", server.host)
        with SheetIndex.create(file, "ollama:small", dense_weight=1.0) as made:
            made.sync(books)
        before, sent = tokens_of(file), len(server.embeds)
        command = ("adapt", "-i", file, "--stage", "reranker", *OPTIONS)
        with stopping("counting", "candidates", 20):
            stopped = run_here(*command)
        assert tokens_of(file) == before
        ended = ran(*command, "--json")
        asked = [text for each in server.embeds[sent:] for text in each["input"]]
        yield Trained(file, command, before, stopped, ended, tuple(asked))


@pytest.mark.slow
def test_a_better_reranker_is_used_and_the_tokens_stay(trained):
    facts = json.loads(trained.ended.out)
    now, new = facts["rows"]
    assert new["name"] == "trained reranker"
    assert new["ndcg"] > now["ndcg"]
    assert (facts["stage"], facts["encoder"], facts["replaced"]) == ("reranker", None, False)
    assert facts["reranker"] == str(Path(facts["run"]) / "stage-2")
    assert tokens_of(trained.file) == trained.before
    assert not (Path(facts["run"]) / "stage-1").exists()
    with SheetIndex.open(trained.file) as opened:
        assert opened.reranker_name == facts["reranker"]
        hits = SheetRetriever(opened).retrieve("payroll of gamma", 3)
    assert all("payroll" in hit.sheet_id for hit in hits)


@pytest.mark.slow
def test_the_encoder_is_asked_for_questions_and_for_no_sheet(trained):
    assert trained.asked
    assert not [text for text in trained.asked if "columns:" in text and "Umsatz" not in text]


@pytest.mark.slow
def test_stopped_it_goes_on_with_the_same_command(trained, sat):
    assert trained.stopped.code == 130
    assert "run the same command to continue" in trained.stopped.err
    shown = sat(*trained.command)
    assert shown.code == 0, shown.err
    said = " ".join(shown.out.split())
    assert "trained reranker" in said
    assert "the tokens of" in said
    assert "rank with the trained reranker in" in said
