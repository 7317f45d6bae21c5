"""Make a corpus, train both stages on it, and measure the gain on held-out questions.

python examples/train.py FOLDER

Stage 1 (one epoch of the last two layers), then the reranker on the links of the made workbooks,
take two minutes of processor time in all. The figures are of test questions that were used
neither in training nor to choose an epoch.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sat_retriever import SheetEncoder, SheetIndex, SheetRetriever
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics import mean, ndcg, recall
from sat_retriever.datasets.splits import standard_dataset
from sat_retriever.encoder import MINILM
from sat_retriever.rank.load import load_reranker
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import SynthOptions
from sat_retriever.train.data.corpusindex import corpus_index
from sat_retriever.train.data.reading import from_dataset
from sat_retriever.train.encoder.train import train_encoder
from sat_retriever.train.reranker.train import gather, train_reranker
from sat_retriever.train.settings import EncoderTraining, RerankerTraining

STAGE_1 = EncoderTraining(trained_layers=2, max_length=128, epochs=1, warmup_epochs=0.1)
# Candidates by cosine and words together; the scorer also reads both separately.
STAGE_2 = RerankerTraining(
    start="fused", dense_weight=0.4, features=("lexical", "dense"), base_epochs=5, graph_epochs=2
)
QUERIES = 600  # a tenth is for the test

Search = Callable[[str], Sequence[str]]


def main(folder: Path) -> None:
    """Make, train and compare; a second call goes on where the first one ended."""
    say = _clock()
    corpus = folder / "corpus"
    if not corpus.exists():
        synthesize(corpus, SynthOptions(queries=QUERIES))
        say("corpus made")
    dataset = standard_dataset(corpus)
    test = dataset.test

    untrained = corpus_index(dataset, SheetEncoder.load(MINILM), folder / "untrained.sat")
    say("indexed untrained")
    stage1 = train_encoder(from_dataset(dataset), STAGE_1, folder / "encoder")
    say("Stage 1 trained")
    trained = corpus_index(dataset, SheetEncoder.load(stage1.encoder), folder / "trained.sat")
    sets = [gather(trained, part, STAGE_2) for part in (dataset.train, dataset.validation)]
    stage2 = train_reranker(sets[0], sets[1], STAGE_2, folder / "reranker")
    say("Stage 2 trained")

    print(f"\n{'':38}NDCG@5  Recall@5   ({len(test)} test questions)")
    reranker = load_reranker(trained, stage2.reranker)
    rows: dict[str, Search] = {
        "MiniLM untrained, cosine": _stage1(untrained),
        "Stage 1 trained, cosine": _stage1(trained),
        "Stage 1 trained, cosine and words": _whole(SheetRetriever(trained, None)),
        "Stage 1 and Stage 2 trained": _whole(SheetRetriever(trained, reranker)),
    }
    for name, search in rows.items():
        print(f"{name:38}{_figures(search, test)}")
    untrained.close()
    trained.close()


def _stage1(index: SheetIndex) -> Search:
    def search(text: str) -> list[str]:
        question = index.question(text, dense_weight=1.0)
        return [found.sheet_id for found in index.candidates(question, 5)]

    return search


def _whole(retriever: SheetRetriever) -> Search:
    return lambda text: [hit.sheet_id for hit in retriever.retrieve(text, 5)]


def _figures(search: Search, queries: Sequence[Query]) -> str:
    pairs = [(search(query.text), query.positives) for query in queries]
    ndcg_5 = mean([ndcg(found, gold, 5) for found, gold in pairs])
    recall_5 = mean([recall(found, gold, 5) for found, gold in pairs])
    return f"{ndcg_5:.3f}   {recall_5:.3f}"


def _clock() -> Callable[[str], None]:
    start = time.monotonic()
    return lambda done: print(f"{time.monotonic() - start:6.1f} s  {done}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
