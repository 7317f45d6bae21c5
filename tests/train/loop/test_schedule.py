from dataclasses import asdict

import pytest
import torch

from sat_retriever.errors import InputError
from sat_retriever.train.loop.optimise import learning_rate
from sat_retriever.train.settings import CrossEncoderTraining, EncoderTraining, RerankerTraining
from tests.train.tiny_task import schedule


@pytest.mark.parametrize("warmup_epochs", [0.0, 0.5, 1.0, 2.0])
def test_the_learning_rate_rises_and_falls_on_two_straight_lines(warmup_epochs):
    plan = schedule(epochs=3, learning_rate=2e-4, warmup_epochs=warmup_epochs)
    warm, total = int(warmup_epochs * 10), 30
    for step in range(total):
        if step < warm:
            expected = 2e-4 * step / warm
        else:
            expected = 2e-4 * (1 - (step - warm) / (total - warm))
        assert learning_rate(plan, step, 10) == pytest.approx(expected, abs=1e-12)


def test_the_learning_rate_is_that_of_transformers():
    transformers = pytest.importorskip("transformers")
    plan = schedule(epochs=4, learning_rate=0.5, warmup_epochs=1.0)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)
    theirs = transformers.get_linear_schedule_with_warmup(optimizer, 7, 28)
    for step in range(28):
        assert learning_rate(plan, step, 7) == pytest.approx(theirs.get_last_lr()[0], abs=1e-12)
        optimizer.step()
        theirs.step()


def test_a_warm_up_longer_than_the_training_ends_with_it():
    plan = schedule(epochs=1, learning_rate=1.0, warmup_epochs=5.0)
    assert [learning_rate(plan, step, 4) for step in range(4)] == [0.0, 0.25, 0.5, 0.75]


@pytest.mark.parametrize(
    ("name", "value"),
    [("epochs", 0), ("batch_size", 0), ("accumulation", 0), ("learning_rate", 0.0),
     ("max_grad_norm", -1.0), ("weight_decay", -0.1), ("warmup_epochs", -1.0),
     ("learning_rate", float("nan")), ("precision", "fp8")],
)  # fmt: skip
def test_a_number_out_of_its_range_is_refused_by_name(name, value):
    with pytest.raises(InputError, match=name):
        schedule(**{name: value})


@pytest.mark.parametrize("settings", [EncoderTraining(), CrossEncoderTraining()])
def test_a_schedule_has_the_settings_of_its_training(settings):
    given = asdict(settings)
    assert asdict(settings.schedule()) == {name: given[name] for name in asdict(schedule())}


def test_both_phases_of_stage_2_have_their_own_epochs_and_rates():
    settings = RerankerTraining(base_epochs=7, graph_epochs=9)
    base, graph = settings.base_schedule(), settings.graph_schedule()
    assert (base.epochs, base.learning_rate) == (7, 2e-4)
    assert (graph.epochs, graph.learning_rate) == (9, 5e-4)
    assert base.warmup_epochs == graph.warmup_epochs == 1.0
