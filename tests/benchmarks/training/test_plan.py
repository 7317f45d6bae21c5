from dataclasses import replace

import pytest

from benchmarks.paper.sensitivity import ROWS
from benchmarks.paper.spider import SYSTEMS
from benchmarks.training.methods import RECIPES
from benchmarks.training.plan import Corpus, Step, overridden, read_step
from sat_retriever.train.settings import EncoderTraining, RerankerTraining

CORPUS = Corpus("industrytab_1k", "standard", 42)


@pytest.mark.parametrize("name", [name for name, one in RECIPES.items() if one.encoder])
def test_a_step_that_was_written_is_read_back_the_same(name, tmp_path):
    step = RECIPES[name].step(CORPUS, 43)
    (tmp_path / "step.json").write_text(step.to_json(), encoding="utf-8")
    assert read_step(tmp_path / "step.json") == step
    assert step.settings.seed == step.encoder.settings.seed == 43 if step.encoder else True


def test_methods_share_the_trainings_that_are_the_same():
    stage1, base, graph = (RECIPES[name].step(CORPUS, 42) for name in ("stage1", "base", "graph"))
    assert graph.encoder == base.encoder == stage1
    assert graph.base == base
    assert RECIPES["cross"].step(CORPUS, 42).encoder == stage1


def test_every_row_of_the_sensitivity_table_differs_from_the_reference_in_one_thing():
    reference = ROWS["reference"].reranker
    assert RECIPES["graph"].reranker == reference
    for name, row in ROWS.items():
        differing = [
            field
            for field in ("candidates", "layers", "gate", "channels")
            if getattr(row.reranker, field) != getattr(reference, field)
        ]
        same = replace(row.reranker, **{field: getattr(reference, field) for field in differing})
        assert len(differing) == (name != "reference"), name
        assert (same, row.encoder) == (reference, ROWS["reference"].encoder)


def test_rows_of_equal_k_share_the_base_scorer_and_others_do_not():
    bases = {name: row.step(CORPUS, 42).base.key for name, row in ROWS.items()}
    reference = bases.pop("reference")
    other = {name for name, key in bases.items() if key != reference}
    assert other == {"k_10", "k_20"}
    assert bases["k_10"] != bases["k_20"]


@pytest.mark.parametrize(("start", "shared"), [("fused", True), ("links", False)])
def test_links_matter_to_a_graph_and_to_a_base_scorer_only_if_it_starts_from_them(start, shared):
    methods = [SYSTEMS[f"graph_{kind}"] for kind in ("found", "given")]
    found, given = (
        replace(one, reranker=replace(one.reranker, start=start)).step(CORPUS, 42)
        for one in methods
    )
    assert found.key != given.key
    assert (found.base == given.base) is shared
    assert SYSTEMS["base"].step(CORPUS, 42) == SYSTEMS["graph_given"].step(CORPUS, 42).base


@pytest.mark.parametrize(
    "changed",
    [
        {"settings": EncoderTraining(seed=7)},
        {"corpus": replace(CORPUS, seed=7)},
        {"corpus": replace(CORPUS, limit=9)},
        {"variant": "released_stops"},
    ],
)
def test_whatever_changes_a_training_changes_its_folder(changed):
    step = Step("encoder", CORPUS, EncoderTraining())
    assert replace(step, **changed).name != step.name
    assert replace(step).name == step.name


def test_an_override_reaches_every_training_that_knows_the_setting():
    changes = ["epochs=1", "base_epochs=2", 'backbone="there"']
    assert overridden(EncoderTraining(), changes) == EncoderTraining(epochs=1, backbone="there")
    assert overridden(RerankerTraining(), changes) == RerankerTraining(base_epochs=2)
