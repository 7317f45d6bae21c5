"""Stage 1 on several corpora: what a question meets, and how an epoch is judged."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")

from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.text.lexical import LexicalScorer
from sat_retriever.train.data.trainingdata import SHARES
from sat_retriever.train.encoder.backbone import Backbone
from sat_retriever.train.encoder.encodertask import EncoderTask
from sat_retriever.train.encoder.fusion import name_of
from sat_retriever.train.encoder.mixedtask import MixedTask, batches_by_corpus, mixed
from sat_retriever.train.encoder.train import train_encoder
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.task import Share, batches
from sat_retriever.train.settings import EncoderTraining
from tests.tiny_transformer import save_tiny, tiny_corpus

CORPUS = tiny_corpus()
AGAIN = replace(CORPUS, name="again", sheets=tuple(f"{text} price" for text in CORPUS.sheets))


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("source") / "m", dropout=0.0)


@pytest.fixture
def settings(source):
    return EncoderTraining(
        backbone=str(source), trained_layers=None, epochs=1, batch_size=8, learning_rate=3e-3,
        negatives=2, negative_depth=10, precision="fp32",
    )  # fmt: skip


@pytest.fixture
def accelerator(settings):
    return make_accelerator(settings.schedule())


def task_of(data, settings):
    backbone = Backbone.load(settings.backbone, trained_layers=None, max_length=32)
    kind = EncoderTask if data is CORPUS else MixedTask
    return kind(data, settings, backbone)


def losses(task, accelerator, items):
    with torch.no_grad():
        share = Share(items)
        inputs = task.inputs(share, accelerator.device)
        return task.loss(task.module, inputs, share, accelerator).item()


@pytest.mark.parametrize("sizes", [(20, 9, 3), (8, 8), (5,)])
def test_a_batch_is_of_one_corpus_as_far_as_its_questions_fill_one(sizes):
    corpora = np.repeat(np.arange(len(sizes)), sizes)
    found = batches_by_corpus(corpora, 4, (42, 1))
    assert sorted(np.concatenate(found).tolist()) == list(range(sum(sizes)))
    assert [len(batch) for batch in found] == [
        len(batch) for batch in batches(sum(sizes), 4, epoch=1, seed=42)
    ]
    pure = sum(len(set(corpora[batch])) == 1 and len(batch) == 4 for batch in found)
    assert pure >= sum(size // 4 for size in sizes)


def test_the_items_of_a_batch_are_questions_of_one_corpus(settings, accelerator):
    task = task_of(mixed([CORPUS, AGAIN], [CORPUS]), settings)
    task.prepare(1, accelerator)
    first = len(CORPUS.train)
    homes = [
        {int(question >= first) for question in task.state()["question"][items]}
        for items in batches(task.size, settings.batch_size, epoch=1, seed=settings.seed)
    ]
    assert sum(len(home) == 1 for home in homes) >= 2 * (first // settings.batch_size)
    assert sorted(task.state()["question"]) == list(range(2 * first))


def test_a_question_never_meets_a_sheet_of_another_corpus(settings, accelerator):
    data = mixed([CORPUS, AGAIN], [CORPUS])
    task, alone = task_of(data, settings), task_of(CORPUS, settings)
    first = len(CORPUS.train)
    for each in (task, alone):
        each.module.eval()
        each.prepare(1, accelerator)
    sheets = len(CORPUS.sheets)
    drawn = task.state()["negatives"]
    assert (drawn[:first] < sheets).all()
    assert (drawn[first:] >= sheets).all()
    # The first questions among foreign ones lose what they lose among themselves.
    state = dict(task.state())
    own = {name: state[name][:first] for name in ("positives", "negatives")}
    alone.restore({**alone.state(), **own})
    task.restore({**state, "question": np.arange(2 * first)})
    both = losses(task, accelerator, np.r_[0:4, first : first + 4])
    ours = losses(alone, accelerator, np.arange(4))
    theirs = losses(task, accelerator, np.arange(first, first + 4))
    assert both == pytest.approx((ours + theirs) / 2, abs=1e-4)


def test_a_task_goes_on_with_the_questions_it_had(settings, accelerator):
    data = mixed([CORPUS, AGAIN], [CORPUS])
    task, again = task_of(data, settings), task_of(data, settings)
    task.prepare(1, accelerator)
    again.restore(task.state())
    items = np.arange(8)
    for each in (task, again):
        each.module.eval()
    assert losses(task, accelerator, items) == losses(again, accelerator, items)


def test_validation_is_the_mean_over_the_judged_corpora(settings, accelerator):
    found = task_of(mixed([CORPUS], [CORPUS, AGAIN]), settings).validate(accelerator)
    alone = task_of(CORPUS, settings).validate(accelerator)
    assert found["NDCG@5 (tiny)"] == pytest.approx(alone["NDCG@5"])
    both = [found["NDCG@5 (tiny)"], found["NDCG@5 (again)"]]
    assert found["NDCG@5"] == pytest.approx(sum(both) / 2)
    assert both[0] != both[1]


def test_sheets_of_a_judged_corpus_are_not_learnt_from(settings, accelerator):
    data = mixed([CORPUS], [AGAIN])
    assert max(data.whole.seen) < len(CORPUS.sheets)
    assert len(data.whole.sheets) == 2 * len(CORPUS.sheets)
    assert data.whole.train.texts == CORPUS.train.texts
    task = task_of(data, settings)
    task.prepare(1, accelerator)
    assert task.state()["negatives"].max() < len(CORPUS.sheets)


@pytest.mark.slow
def test_several_corpora_are_trained_to_one_encoder_with_one_share_of_the_cosine(
    settings, tmp_path
):
    records = [SheetRecord(each, each, columns=(Column("price"),)) for each in CORPUS.sheet_ids]
    lexical = LexicalScorer.of(records)
    parts = [replace(each, lexical=lexical) for each in (CORPUS, AGAIN)]
    trained = train_encoder(mixed(parts, parts), settings, tmp_path / "run")
    assert {name_of(share) for share in SHARES} <= set(trained.metrics)
    encoder = SheetEncoder.load(trained.encoder)
    assert encoder.dense_weight == trained.metrics["dense_weight"]
    again = train_encoder(mixed(parts, parts), settings, tmp_path / "run")
    assert again == trained


def test_two_corpora_of_one_name_and_none_at_all_are_refused():
    with pytest.raises(InputError, match="two corpora have one name"):
        mixed([CORPUS], [replace(CORPUS)])
    with pytest.raises(EmptyInputError, match="one to choose with"):
        mixed([CORPUS], [])


def test_a_loss_that_knows_one_corpus_only_is_refused(settings):
    with pytest.raises(InputError, match="several corpora are trained with the multi_positive"):
        task_of(mixed([CORPUS], [AGAIN]), replace(settings, loss="single_positive"))
