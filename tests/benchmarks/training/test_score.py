import pytest

from benchmarks.training import corpus as train_corpus
from benchmarks.training.methods import Recipe
from benchmarks.training.runner import Places
from benchmarks.training.score import scored
from benchmarks.unlabelled.quality import QuerySet
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.errors import LanguageModelError, ModelSetupError
from sat_retriever.records.sheets import SheetRecord
from tests.fakes import HashedEncoder
from tests.modelserver import MODEL, Reaction, always, ollama, one_by_one, says

SHEETS = tuple(SheetRecord(str(n), f"{word} plan") for n, word in enumerate(("sales", "tax", "hr")))
QUERIES = (Query("tax", ("1",), hard_negatives=("0",)), Query("plan of hr", ("2",)))
ASKED = QuerySet(Dataset("toy", SHEETS, QUERIES), "standard", (0, 1))
LLM = Recipe("LLM-only", llm="names", model=MODEL)


@pytest.fixture
def places(tmp_path, monkeypatch):
    monkeypatch.setattr(train_corpus.SheetEncoder, "load", lambda name: HashedEncoder())
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return Places(tmp_path / "data", tmp_path / "runs")


def score(recipe, places, *, keep="answers"):
    return scored("m", recipe, None, ASKED, places, keep=keep)


def test_kept_answers_are_scored_again_and_others_are_not(places):
    bm25 = Recipe("BM25", dense_weight=0.0)
    first = score(bm25, places)
    assert first.metrics["MRR@5"] == 1.0
    (kept,) = places.runs.rglob("answers/m.toy.standard.jsonl")
    kept.write_text(kept.read_text(encoding="utf-8").replace('["1"]', '["0"]'), encoding="utf-8")
    assert score(bm25, places, keep="runs").metrics["HN-FPR@1"] == 1.0
    assert score(Recipe("RAG"), places, keep="runs").metrics["HN-FPR@1"] == 0.0
    assert score(bm25, places).metrics["HN-FPR@1"] == 0.0


def test_a_language_models_row_tells_how_it_answered(places, monkeypatch):
    with ollama(one_by_one(says("1", "0", "2"), says("2"))) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        found = score(LLM, places).metrics
        again = score(LLM, places, keep="runs").metrics
    assert (found["MRR@5"], found["answers"]["short"], found["answers"]["failed"]) == (1.0, 1, 0)
    assert found["settings"]["model"] == MODEL
    assert found["model"]["context_length"] == 262144
    assert again["answers"] == found["answers"]
    assert len(server.chats) == 2


@pytest.mark.parametrize(("keep", "asked"), [("answers", 2), ("runs", 2), ("nothing", 4)])
def test_a_model_is_asked_again_only_when_nothing_kept_is_taken(keep, asked, places, monkeypatch):
    with ollama(always(says("1"))) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        score(LLM, places)
        score(LLM, places, keep=keep)
    assert len(server.chats) == asked


def test_a_model_that_answers_nothing_makes_no_row(places, monkeypatch):
    with ollama(always(Reaction(status=500, error="no memory"))) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        with pytest.raises(LanguageModelError, match=r"not one of 2 questions .*no memory"):
            score(LLM, places)
    assert not list(places.runs.rglob("m.toy.standard.jsonl"))


def test_without_a_server_the_way_to_start_one_is_told(places, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    with pytest.raises(ModelSetupError, match="ollama serve"):
        score(LLM, places)
